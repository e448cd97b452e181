#include "sunder/rigid/solver/impacts.h"

#include <algorithm>
#include <cmath>

namespace sunder::rigid {

namespace {

constexpr int kMostRounds = 100;                       // over all pairs
constexpr uint64_t kStrikesAPair = 1, kStrikes = 500;  // in all, so that dense piles end in time
constexpr double kTogether = 1.5;                      // substeps
constexpr double kAgain = 0.5, kAsFast = 0.9;          // of its fastest approach: for a pair's next bounces
constexpr uint32_t kMostFlat = 3;                      // strikes of a pair after which it only bounces

// A force that presses two bodies together, as their contacts carried at the end of the last step, closes a
// bounce of e v after 2 e v / acceleration. Where that is less than a substep there is no bounce to be seen:
// the contact is at rest. The speed v below which this holds.
double restingSpeed(double pressed, const SolverBody& a, const SolverBody& b, double restitution) {
  return pressed * (a.inverseMass + b.inverseMass) / (2 * restitution);
}

// How much of the first body's motion along the surface a contact takes part in, the rest is of the second's:
// where balls meet depends on their radii, and small bodies take contacts along over large ones.
double partOfFirst(const BodyConstants& a, const BodyConstants& b) {
  if (a.plane || b.plane) return a.plane ? 0 : 1;
  return b.outer / (a.outer + b.outer);
}

// How two bodies have moved since the start of the step, when contacts were found, and go on for some time.
struct Way {
  Way(const SolverBody& a, const Vec3& centreA, const SolverBody& b, const Vec3& centreB, double time)
      : startA(centreA - a.movedBy()),
        startB(centreB - b.movedBy()),
        moveA(a.movedBy() + time * a.velocity()),
        moveB(b.movedBy() + time * b.velocity()),
        turnA(a.turnedBy() + time * a.angularVelocity()),
        turnB(b.turnedBy() + time * b.angularVelocity()) {}

  Vec3 surfaceA(const Contact& contact) const { return moveA + turnA.cross(contact.point - startA); }
  Vec3 surfaceB(const Contact& contact) const { return moveB + turnB.cross(contact.point - startB); }
  double separation(const Contact& contact) const {
    return contact.separation + contact.normal.dot(surfaceB(contact) - surfaceA(contact));
  }
  // The middle between the surfaces; `partA` of the motion along them is the first body's.
  Vec3 middle(const Contact& contact, double partA) const {
    const Vec3 along = partA * moveA + (1 - partA) * moveB;
    const double across = 0.5 * contact.normal.dot(surfaceA(contact) + surfaceB(contact));
    return contact.point + along + (across - contact.normal.dot(along)) * contact.normal;
  }
  Vec3 startA, startB, moveA, moveB, turnA, turnB;
};

double fastestApproach(const SolverBody& a, const Vec3& velocityA, const SolverBody& b, const Vec3& velocityB,
                       std::span<const ImpactPoint> points) {
  double fastest = 0;
  for (const ImpactPoint& point : points)
    fastest = std::max(fastest, point.normal.dot(velocityA + a.angularVelocity().cross(point.armA) -
                                                 velocityB - b.angularVelocity().cross(point.armB)));
  return fastest;
}

}  // namespace

// Pairs in a dense pile would strike each other dozens of times, ever slower. Each bounce asks for a faster
// approach than the one before, up to almost the fastest: what passes through a row of balls passes, the rest
// is pressure.
double Impacts::leastApproach(const Pair& pair) {
  return std::max(pair.least, std::min(kAgain * pair.strikes, kAsFast) * pair.fastest);
}

void Impacts::collect(const BodySet& bodies, const PairTable& table, const SimulationSettings& settings) {
  pairs_.clear();
  for (uint32_t i = 0; i < table.pairs.size(); ++i) {
    const PairRecord& pair = table.pairs[i];
    if (!pair.count || (!bodies.moves(pair.a) && !bodies.moves(pair.b))) continue;
    const Surface &a = bodies.constants[pair.a].surface, &b = bodies.constants[pair.b].surface;
    const double restitution = std::max(a.restitution, b.restitution);
    if (!(restitution > 0)) continue;
    const double resting = restingSpeed(pressureOf(table, pair), bodies.state.solverBody[pair.a],
                                        bodies.state.solverBody[pair.b], restitution);
    pairs_.push_back(
        {i, std::sqrt(a.friction * b.friction), restitution, std::max(settings.bounceSpeed, resting), 0});
  }
}

bool Impacts::run(BodySet& bodies, PairTable& table, const SimulationSettings& settings, double substep) {
  // A pair is looked at again only when one of its bodies was struck since.
  struck_.assign(bodies.count(), 0);
  uint64_t now = 0, left = kStrikesAPair * pairs_.size() + kStrikes;
  for (Pair& pair : pairs_) {
    pair.seen = 0;
    pair.strikes = 0;
    pair.time = pair.fastest = 0;
  }
  for (int round = 0; round < kMostRounds; ++round) {
    bool any = false;
    for (Pair& pair : pairs_) {
      const PairRecord& record = table.pairs[pair.record];
      if (round > 0 && struck_[record.a] <= pair.seen && struck_[record.b] <= pair.seen) continue;
      pair.seen = now;
      if (!strike(bodies, table, settings, substep, pair)) continue;
      any = true;
      ++now;
      if (bodies.moves(record.a)) struck_[record.a] = now;
      if (bodies.moves(record.b)) struck_[record.b] = now;
      // Its own contacts may close again only when somebody else strikes one of the two.
      pair.seen = now;
      if (--left == 0) return false;
    }
    if (!any) return true;
  }
  return false;
}

bool Impacts::strike(BodySet& bodies, PairTable& table, const SimulationSettings& settings, double h,
                     Pair& pair) {
  const PairRecord& record = table.pairs[pair.record];
  SolverBody &a = bodies.state.solverBody[record.a], &b = bodies.state.solverBody[record.b];
  const auto pull = [&](uint32_t body) -> Vec3 {
    const BodyConstants& c = bodies.constants[body];
    return bodies.moves(body)
               ? Vec3(settings.gravity * c.gravityScale + bodies.state.force[body] * c.inverseMass)
               : Vec3::Zero();
  };
  const Vec3 pullA = pull(record.a), pullB = pull(record.b);
  const Vec3 centreA = bodies.state.position[record.a], centreB = bodies.state.position[record.b];
  const Way now(a, centreA, b, centreB, 0);

  const Vec3 pulled = pullB - pullA;
  const auto speedAt = [&](const Contact& contact) {
    return contact.normal.dot(b.velocityAt(contact.point - now.startB) -
                              a.velocityAt(contact.point - now.startA));
  };
  // Most pairs rest: fast enough at no time of the substep.
  bool fast = false;
  for (uint32_t i = record.first; i < record.first + record.count && !fast; ++i) {
    const Contact& contact = table.contacts[i].contact;
    fast = speedAt(contact) - std::max(contact.normal.dot(pulled), 0.0) * h < -pair.least;
  }
  if (!fast) return false;

  points_.clear();
  contacts_.clear();
  double first = h;
  bool strikes = false, closes = false;
  for (uint32_t i = record.first; i < record.first + record.count; ++i) {
    const Contact& contact = table.contacts[i].contact;
    const double separation = now.separation(contact);
    const double speed = speedAt(contact);
    // Those that close a little later strike along, so that a face that lands flat leaves flat; those that
    // touch are in the way.
    if (separation > 0 && separation + kTogether * h * speed >= 0) continue;
    contacts_.push_back(i);
    if (speed >= 0) continue;
    closes |= separation + h * speed < 0;
    const double time = separation > 0 ? std::min(separation / -speed, h) : 0.0;
    first = std::min(first, time);
    // Gravity and forces were added for the whole substep; the impact sees their part up to then.
    strikes |= speed - contact.normal.dot(pulled) * (h - time) < -settings.bounceSpeed;
  }
  if (!strikes || !closes) return false;

  // At the time of the impact both bodies are there with their old velocities. A later strike of the pair is
  // not before an earlier one.
  first = std::max(first, pair.time);
  const double partA = partOfFirst(bodies.constants[record.a], bodies.constants[record.b]);
  const Way then(a, centreA, b, centreB, first);
  for (const uint32_t i : contacts_) {
    const Contact& contact = table.contacts[i].contact;
    const Vec3 middle = then.middle(contact, partA);
    points_.push_back({contact.normal, middle - (then.startA + then.moveA),
                       middle - (then.startB + then.moveB), Vec3::Zero()});
  }
  const double rest = h - first;
  // Where they are by then decides: a pair that separates there would be struck in vain, again and again.
  const double approach =
      fastestApproach(a, a.velocity() - pullA * rest, b, b.velocity() - pullB * rest, points_);
  // Left to the contact solver, which waits for the impact of pairs with restitution, an approach that is not
  // to bounce now would bounce in the next substep.
  const bool bounces = approach > leastApproach(pair);
  if (!bounces && !(approach > pair.least && pair.strikes < kMostFlat)) return false;
  ++pair.strikes;
  pair.time = first;
  pair.fastest = std::max(pair.fastest, approach);

  const auto toTheImpact = [&](uint32_t body, SolverBody& solverBody, const Vec3& pullOf) {
    if (!solverBody.movable()) return;
    if (first > 0) bodies.move(body, first);
    solverBody.velocity() -= pullOf * rest;
  };
  const auto andBack = [&](uint32_t body, SolverBody& solverBody, const Vec3& pullOf) {
    if (!solverBody.movable()) return;
    solverBody.velocity() += pullOf * rest;
    if (first > 0) bodies.move(body, -first);
  };
  toTheImpact(record.a, a, pullA);
  toTheImpact(record.b, b, pullB);
  law_.strike(a, b, points_, pair.friction, bounces ? pair.restitution : 0, settings.bounceSpeed);
  andBack(record.a, a, pullA);
  andBack(record.b, b, pullB);
  for (size_t k = 0; k < points_.size(); ++k) {
    KeptContact& kept = table.contacts[contacts_[k]];
    const double normal = points_[k].normal.dot(points_[k].impulse);
    const Vec3 slide = points_[k].impulse - normal * points_[k].normal;
    kept.total += float(normal);
    for (int c = 0; c < 3; ++c) kept.slide[c] += float(slide[c]);
  }
  return true;
}

}  // namespace sunder::rigid
