// What a step does with contacts: finds them, takes them linear around a state, and brings multipliers up to
// date.
#include "sunder/soft/contact/sphere_contacts.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sunder::soft {

namespace {

constexpr double kNearGap = 0.02;    // of the radius: gaps that are looked after before they close
constexpr double kDeepStart = 0.1;   // of the radius: deeper than this at the start of a step parts slowly
constexpr double kPartSlowly = 0.8;  // of the depth, that may be left after the step
constexpr double kContactStiffer = 4, kContactMostStiffer = 64;
constexpr double kContactTooSlow = 0.5;  // of the change of the round before
constexpr double kShortestContactStep = 0.1;
constexpr double kBoundTolerance = 0.01;  // of the bound of friction: how much a round may change the force
constexpr double kSmallBound = 0.1;       // of the largest: bounds below count as if they were this
constexpr double kFlatTet = 1e-3;         // determinant of a tetrahedron's edges against the one at rest

}  // namespace

Vec3 clippedForce(const Vec3& force, double bound) {
  const double size = force.norm();
  return size > bound ? Vec3(force * (bound / size)) : force;
}

void SphereContacts::addContact(const Pair& pair, const Way& way, std::span<const Vec3> x) const {
  Contact c;
  c.sphere = pair.sphere;
  c.other = pair.other;
  c.obstacle = pair.obstacle;
  c.radius = pair.radius;
  c.leastStiffness = c.stiffness = leastStiffness(pair, way.normal);
  const double own = bodies_[spheres_[pair.sphere].body].friction;
  Vec3 velocity = startVelocities_[pair.sphere];
  double gap = -pair.radius;  // where the step began
  if (pair.obstacle) {
    const ObstacleBody& body = obstacles_.bodies()[pair.other];
    c.friction = frictionOf(own, body.friction);
    velocity -= obstacles_.velocityBefore(pair.other, startCentres_[pair.sphere]);
    gap += body.shape->at(body.before.toLocal(startCentres_[pair.sphere])).distance;
  } else {
    c.friction = frictionOf(own, bodies_[spheres_[pair.other].body].friction);
    velocity -= startVelocities_[pair.other];
    gap += (startCentres_[pair.sphere] - startCentres_[pair.other]).norm();
  }
  if (gap < -kDeepStart * pair.radius) c.allowance = -kPartSlowly * gap;
  c.approach = -way.normal.dot(velocity);
  c.fresh = true;
  if (const Kept* kept = keptOf(pair)) {
    c.fresh = false;
    c.normalForce = kept->force;
    c.bound = c.friction * kept->force;
    c.frictionForce = kept->friction;
  }
  linearise(c, way, x);
  contacts_.push_back(c);
}

// Adds the material of a sphere's tetrahedron at a point of the world, so that a force there has the same
// moment for both that touch. In a tetrahedron without volume, the sphere's centre.
void SphereContacts::addTouch(LinearGap& gap, uint32_t sphere, const Vec3& point, double sign,
                              std::span<const Vec3> x) const {
  const geometry::Tetrahedron& tet = tets_[spheres_[sphere].tet];
  std::array<double, 4> weights = spheres_[sphere].weights;
  Mat3 edges;
  for (int k = 0; k < 3; ++k) edges.col(k) = x[tet[size_t(k) + 1]] - x[tet[0]];
  const double size = sizes_[spheres_[sphere].tet];
  if (std::abs(edges.determinant()) > kFlatTet * size * size * size) {
    const Vec3 more = edges.inverse() * (point - centre(sphere, x));
    weights[0] -= more.sum();
    for (int k = 0; k < 3; ++k) weights[size_t(k) + 1] += more[k];
  }
  for (size_t k = 0; k < 4; ++k) gap.add(tet[k], sign * weights[k]);
}

// Takes gap and slip anew, linear around x.
void SphereContacts::linearise(Contact& c, const Way& way, std::span<const Vec3> x) const {
  c.normal = way.normal;
  c.place = c.touch = {};
  const auto addSphere = [&](uint32_t sphere, double sign) {
    for (size_t k = 0; k < 4; ++k)
      c.place.add(tets_[spheres_[sphere].tet][k], sign * spheres_[sphere].weights[k]);
  };
  addSphere(c.sphere, 1);
  const Vec3 end = centre(c.sphere, x);
  Vec3 reference = way.at;  // place of the gap at which the gap is way.linearised
  if (c.obstacle) {
    const ObstacleBody& body = obstacles_.bodies()[c.other];
    addTouch(c.touch, c.sphere, end - c.radius * c.normal, 1, x);
    const Vec3 touch = c.touch.softPlace(x);
    const Vec3 slipped =
        body.before.point(obstacles_.poseAt(c.other, x).toLocal(touch)) - c.touch.softPlace(start_);
    if (obstacles_.row(c.other) != kNoIndex) {
      const Vec3 middle = obstacles_.centreAt(c.other, x);
      c.place.body = c.touch.body = obstacles_.row(c.other);
      c.place.lever = way.at - middle;
      c.touch.lever = touch - middle;
      reference -= obstacles_.moveAt(c.other, x) + obstacles_.turnAt(c.other, x).cross(c.place.lever);
    }
    c.slipStart = c.touch.place(x) - slipped;
  } else {
    addSphere(c.other, -1);
    const double own = spheres_[c.sphere].radius, others = spheres_[c.other].radius;
    const Vec3 other = centre(c.other, x);
    const Vec3 touch = other + others / (own + others) * (end - other);
    addTouch(c.touch, c.sphere, touch, 1, x);
    addTouch(c.touch, c.other, touch, -1, x);
    c.slipStart = c.touch.softPlace(start_);
  }
  c.constant = way.linearised + c.allowance - c.normal.dot(reference);
  c.depth = -(way.held ? c.gap(x) - c.allowance : way.gap);
  c.frictionForce -= c.normal.dot(c.frictionForce) * c.normal;
  c.frictionForce = clippedForce(c.frictionForce, c.bound);
}

// Makes contacts of pairs that are close at x, or whose way leads through. Returns the first new one.
size_t SphereContacts::activate(std::span<const Vec3> x) const {
  gatherNear(startCentres_, x, others_);
  const std::span<const Way> ways = waysOf(others_, x);
  const size_t first = contacts_.size();
  for (size_t i = 0; i < others_.size(); ++i) {
    if (!ways[i].held && !(ways[i].gap <= kNearGap * others_[i].radius)) continue;
    addContact(others_[i], ways[i], x);
    contactPairs_.push_back(others_[i]);
    held_ += ways[i].held;
  }
  std::sort(contactPairs_.begin(), contactPairs_.end());
  return first;
}

// Looks for pairs again where something has gone further than foreseen.
void SphereContacts::extend(std::span<const Vec3> x) const {
  if (foreseen(x)) return;
  foresee(x);
  findPairs();
}

// Pairs of spheres that carried a force, where there is no list of pairs.
void SphereContacts::addKeptSpheres(std::vector<Pair>& pairs) const {
  for (const Kept& kept : kept_) {
    Pair pair{kept.sphere, false, static_cast<uint32_t>(kept.other), 0};
    if (!kept.obstacle && mayMeet(pair.sphere, pair.other, pair.radius)) pairs.push_back(pair);
  }
  std::sort(pairs.begin(), pairs.end());
}

void SphereContacts::begin(const fem::StepStart& start, std::span<Vec3> /*own*/) {
  h_ = start.h;
  report_ = {};
  held_ = 0;
  contacts_.clear();
  contactPairs_.clear();
  start_.assign(start.positions.begin(), start.positions.end());
  startCentres_.resize(spheres_.size());
  startVelocities_.resize(spheres_.size());
  for (size_t i = 0; i < spheres_.size(); ++i) {
    startCentres_[i] = centre(i, start.positions);
    startVelocities_[i] = centre(i, start.velocities);
  }
  std::vector<Vec3> x(start.predicted.begin(), start.predicted.end());
  obstacles_.setAlone(x);
  reaches_.clear();
  listed_ = true;
  foresee(x);
  findPairs();
  // What carried a force goes on with it, wherever it is predicted to be.
  std::vector<Pair> going;
  for (const Pair& pair : pairs_)
    if (keptOf(pair)) going.push_back(pair);
  if (!listed_) addKeptSpheres(going);
  const std::span<const Way> ways = waysOf(going, x);
  for (size_t i = 0; i < going.size(); ++i) addContact(going[i], ways[i], x);
  contactPairs_ = std::move(going);
  activate(x);
}

// Makes contacts of pairs that would touch between x and `end`, in the plane where they first do. At x, that
// plane leaves them apart as they are: a direction that leads nowhere may run into many, and none of these
// may act before the search goes there. Returns the first new one.
size_t SphereContacts::stopAt(std::span<const Vec3> x, std::span<const Vec3> end) const {
  fromCentres_.resize(spheres_.size());
  for (size_t i = 0; i < spheres_.size(); ++i) fromCentres_[i] = centre(i, x);
  gatherNear(fromCentres_, end, others_);
  const std::span<const Way> ways = touches(others_, x, end);
  const size_t first = contacts_.size();
  for (size_t i = 0; i < others_.size(); ++i) {
    if (!(ways[i].touch <= 1)) continue;
    addContact(others_[i], ways[i], end);
    contactPairs_.push_back(others_[i]);
    ++held_;
  }
  std::sort(contactPairs_.begin(), contactPairs_.end());
  return first;
}

double SphereContacts::longestStep(std::span<const Vec3> x, std::span<const Vec3> dx) const {
  std::vector<Vec3> end(x.size());
  for (size_t i = 0; i < x.size(); ++i) end[i] = x[i] + dx[i];
  // A direction may lead far beyond what the step will do; nobody needs to look there.
  const double within = withinReach(x, end);
  if (within < 1)
    for (size_t i = 0; i < x.size(); ++i) end[i] = x[i] + within * dx[i];
  extend(end);
  double most = 1;
  for (size_t i = stopAt(x, end); i < contacts_.size(); ++i) {
    const double here = contacts_[i].gap(x), there = contacts_[i].gap(end);
    if (there < 0 && here > there) most = std::min(most, std::max(here, 0.0) / (here - there));
  }
  return within * std::max(most, kShortestContactStep);
}

bool SphereContacts::update(std::span<const Vec3> x, uint32_t /*round*/) {
  ++report_.rounds;
  bool again = false;
  double largest = 0;  // bound of friction
  std::vector<Pair> pairs(contacts_.size());
  for (size_t i = 0; i < contacts_.size(); ++i) {
    Contact& c = contacts_[i];
    pairs[i] = {c.sphere, c.obstacle, c.other, c.radius};
    const double k = c.stiffness;
    const double force = std::max(0.0, c.normalForce - k * c.gap(x));
    const Vec3 pull = c.frictionForce - k * c.slip(x);
    const Vec3 friction = clippedForce(pull, c.bound);
    const double change = std::max(std::abs(force - c.normalForce), (friction - c.frictionForce).norm()) / k;
    c.push = force * c.normal;
    c.drag = friction;
    c.dragAt = c.touch.softPlace(x);
    c.normalForce = force;
    c.bound = c.friction * force;
    c.frictionForce = clippedForce(pull, c.bound);
    c.boundMiss = (c.frictionForce - friction).norm();
    largest = std::max(largest, c.bound);
    // Stiffer where what is too deep stays so; where contacts come and go, that would only make them jump.
    if (-c.gap(x) > tolerated(c) && c.lastForce > 0 && change > kContactTooSlow * c.lastChange)
      c.stiffness = std::min(kContactStiffer * k, kContactMostStiffer * c.leastStiffness);
    c.lastForce = force;
    c.lastChange = change;
  }
  const std::span<const Way> ways = waysOf(pairs, x);
  for (size_t i = 0; i < contacts_.size(); ++i) linearise(contacts_[i], ways[i], x);
  extend(x);
  activate(x);
  report_.notMet = 0;
  for (const Contact& c : contacts_) {
    const double most = tolerated(c);
    const bool met = c.depth - c.allowance <= most && c.lastChange <= most &&
                     c.boundMiss <= kBoundTolerance * std::max(c.bound, kSmallBound * largest);
    report_.notMet += !met;
    again = again || !met;
  }
  return again && report_.rounds < settings_.mostRounds;
}

}  // namespace sunder::soft
