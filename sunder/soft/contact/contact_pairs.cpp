// Which spheres may meet which obstacles and spheres in a step. What the spheres of a body have in common of
// their motion does not bring them closer to each other, so only the rest of it widens the search within a
// body: a body that falls fast is not compared with itself.
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/soft/contact/sphere_contacts.h"
#include "sunder/spatial/pairs/overlap_pairs.h"
#include "sunder/spatial/points/sphere_set.h"
#include "sunder/spatial/tree/oi_tree.h"

#include <algorithm>
#include <cmath>

namespace sunder::soft {

namespace {

constexpr double kReachFurther = 1.5;  // how much further than foreseen something may go unnoticed
constexpr double kReachSlack = 0.5;    // of a radius, the same for what does not move
constexpr double kReachAtOnce = 4;     // times what is foreseen, in one move of the search
constexpr double kLeastOfAWay = 1e-3;  // that a search may go
// Of the sum of the radii: where neighbours that a tear has parted meet, and the part of that distance that
// they must be apart when a step begins. What presses them together may leave them a little closer.
constexpr double kTornDistance = 0.9, kTornApart = 0.98;
// Of the same: pairs of such neighbours that were about that far apart at rest never meet. They nearly touch
// in the whole body, so every fresh tear would press thousands of them; the others are in the way.
constexpr double kTornNear = 0.6, kTornFar = 1.4;
// Tetrahedra: smaller pieces pass their neighbours of before. Splinters in a tear that still opens would take
// most of the time of a step.
constexpr uint32_t kLeastPiece = 5;
constexpr size_t kPairGrain = 256;
constexpr uint64_t kListedPairs = 200;  // for each sphere; more are looked for each time (contact_sweeps.cpp)

bool tetsShareVertex(const geometry::Tetrahedron& a, const geometry::Tetrahedron& b) {
  for (const uint32_t p : a)
    for (const uint32_t q : b)
      if (p == q) return true;
  return false;
}

double obstacleExtent(const Box3& box, const Vec3& centre) {
  return std::max((box.lower - centre).cwiseAbs().maxCoeff(), (box.upper - centre).cwiseAbs().maxCoeff()) *
         std::sqrt(3.0);
}

}  // namespace

// Sets the reaches from where everything is at x; they only grow within a step.
void SphereContacts::foresee(std::span<const Vec3> x) const {
  const bool first = reaches_.size() != bodies_.size();
  if (first) {
    reaches_.assign(bodies_.size(), {});
    std::vector<double> counts(bodies_.size(), 0);
    for (size_t i = 0; i < spheres_.size(); ++i) {
      reaches_[spheres_[i].body].common += centre(i, x) - startCentres_[i];
      counts[spheres_[i].body] += 1;
    }
    for (size_t b = 0; b < bodies_.size(); ++b)
      if (counts[b] > 0) reaches_[b].common /= counts[b];
    obstacleReaches_.assign(obstacles_.size(), {});
    sphereReaches_.assign(spheres_.size(), 0);
  }
  for (size_t i = 0; i < spheres_.size(); ++i) {
    Reach& reach = reaches_[spheres_[i].body];
    const double own = (centre(i, x) - startCentres_[i] - reach.common).norm();
    sphereReaches_[i] = std::max(sphereReaches_[i], kReachFurther * own + kReachSlack * spheres_[i].radius);
    reach.own = std::max(reach.own, sphereReaches_[i]);
  }
  if (first) firstReaches_ = sphereReaches_;
  for (uint32_t o = 0; o < obstacles_.size(); ++o) {
    Reach& reach = obstacleReaches_[o];
    const ObstacleBody& body = obstacles_.bodies()[o];
    const double move = obstacles_.moveAt(o, x).norm(), turn = obstacles_.turnAt(o, x).norm();
    const double far = turn > 0 ? turn * obstacleExtent(body.shape->bounds(), body.centre) : 0;
    reach.own = std::max(reach.own, (body.movable() ? kReachFurther : 1) * (move + far));
  }
}

bool SphereContacts::foreseen(std::span<const Vec3> x) const {
  for (size_t i = 0; i < spheres_.size(); ++i) {
    const Reach& reach = reaches_[spheres_[i].body];
    const double far = sphereReaches_[i];
    if ((centre(i, x) - startCentres_[i] - reach.common).squaredNorm() > far * far) return false;
  }
  for (uint32_t o = 0; o < obstacles_.size(); ++o) {
    if (obstacles_.row(o) == kNoIndex) continue;
    const double turn = obstacles_.turnAt(o, x).norm();
    const ObstacleBody& body = obstacles_.bodies()[o];
    const double far = turn > 0 ? turn * obstacleExtent(body.shape->bounds(), body.centre) : 0;
    if (obstacles_.moveAt(o, x).norm() + far > obstacleReaches_[o].own + obstacleReach(o)) return false;
  }
  return true;
}

// How much of the way from x to `end` may be gone before a sphere moves, beyond what its body has in common,
// a few times as far as was foreseen when the step began, or by some of its body's spheres.
double SphereContacts::withinReach(std::span<const Vec3> x, std::span<const Vec3> end) const {
  double most = 1;
  std::vector<Vec3> common(bodies_.size(), Vec3::Zero());
  std::vector<double> counts(bodies_.size(), 0);
  for (size_t i = 0; i < spheres_.size(); ++i) {
    common[spheres_[i].body] += centre(i, end) - centre(i, x);
    counts[spheres_[i].body] += 1;
  }
  for (size_t i = 0; i < spheres_.size(); ++i) {
    const uint32_t body = spheres_[i].body;
    const double far = (centre(i, end) - centre(i, x) - common[body] / counts[body]).norm();
    const double limit = kReachAtOnce * std::max(firstReaches_[i], kReachSlack * largestRadii_[body]);
    if (far > limit) most = std::min(most, limit / far);
  }
  return std::max(most, kLeastOfAWay);
}

// What a body that is movable may go further than foreseen.
double SphereContacts::obstacleReach(uint32_t obstacle) const {
  if (obstacles_.row(obstacle) == kNoIndex) return 0;
  double most = 0;
  for (const Reach& reach : reaches_) most = std::max(most, reach.common.norm() + reach.own);
  return most;
}

bool SphereContacts::apart(uint32_t body, bool obstacle, uint64_t other) const {
  if (apart_.empty()) return false;
  if (!obstacle && other < body) return apart(static_cast<uint32_t>(other), false, body);
  return std::binary_search(apart_.begin(), apart_.end(), Apart{body, obstacle, other});
}

void SphereContacts::addObstaclePairs(uint32_t obstacle) const {
  const ObstacleBody& body = obstacles_.bodies()[obstacle];
  const Box3 bounds = body.shape->bounds();
  if (bounds.empty()) return;
  const double reach = obstacleReaches_[obstacle].own + obstacleReach(obstacle);
  std::vector<double> most(bodies_.size());
  std::vector<uint8_t> may(bodies_.size());
  for (uint32_t b = 0; b < bodies_.size(); ++b) {
    most[b] = reach + kReachFurther * reaches_[b].common.norm() + reaches_[b].own;
    may[b] = !apart(b, true, body.key);
  }
  std::vector<uint8_t> near(spheres_.size(), 0);
  parallelFor(
      spheres_.size(),
      [&](size_t i) {
        if (!present_[spheres_[i].body] || !may[spheres_[i].body]) return;
        const double far = most[spheres_[i].body] + spheres_[i].radius;
        const Vec3 local = body.before.toLocal(startCentres_[i]);
        if (!((local.array() >= bounds.lower.array() - far).all() &&
              (local.array() <= bounds.upper.array() + far).all()))
          return;
        near[i] = body.shape->at(local).distance <= far;
      },
      kPairGrain);
  for (uint32_t i = 0; i < near.size(); ++i)
    if (near[i]) pairs_.push_back({i, true, obstacle, spheres_[i].radius});
}

bool SphereContacts::mayMeet(uint32_t a, uint32_t b, double& radius) const {
  const ContactSphere &p = spheres_[a], &q = spheres_[b];
  radius = p.radius + q.radius;
  if (apart(p.body, false, q.body)) return false;
  if (p.body != q.body) return true;
  if (!bodies_[p.body].self || p.tet == q.tet || tetsShareVertex(tets_[p.tet], tets_[q.tet])) return false;
  const double atRest = (restCentres_[a] - restCentres_[b]).norm();
  if (!tetsShareVertex(restTets_[p.tet], restTets_[q.tet])) return atRest >= radius;
  if (pieceOf_[p.tet] == pieceOf_[q.tet]) return false;
  if (std::min(pieceSizes_[p.tet], pieceSizes_[q.tet]) < kLeastPiece) return false;
  if (atRest > kTornNear * radius && atRest < kTornFar * radius) return false;
  radius *= kTornDistance;
  return (startCentres_[a] - startCentres_[b]).norm() >= kTornApart * radius;
}

double SphereContacts::commonReach(uint32_t a, uint32_t b) const {
  return kReachFurther * (reaches_[a].common - reaches_[b].common).norm();
}

// How far the spheres of each body may come closer to those of any other one, or to its own, by what these
// have in common, half of it for each of both; below 0 where it meets none.
std::vector<double> SphereContacts::commonMargins() const {
  const size_t count = bodies_.size();
  std::vector<Box3> boxes(count);
  for (size_t i = 0; i < spheres_.size(); ++i) {
    if (!present_[spheres_[i].body]) continue;  // a body without a box meets nothing
    const Vec3 far = Vec3::Constant(spheres_[i].radius);
    boxes[spheres_[i].body].grow(Vec3(startCentres_[i] - far));
    boxes[spheres_[i].body].grow(Vec3(startCentres_[i] + far));
  }
  std::vector<double> margins(count, -1);
  for (uint32_t a = 0; a < count; ++a)
    for (uint32_t b = a; b < count; ++b) {
      if (boxes[a].empty() || boxes[b].empty() || (a == b && !bodies_[a].self)) continue;
      const double common = commonReach(a, b), far = common + reaches_[a].own + reaches_[b].own;
      const Box3 grown{boxes[a].lower - Vec3::Constant(far), boxes[a].upper + Vec3::Constant(far)};
      if (!overlap(grown, boxes[b])) continue;
      margins[a] = std::max(margins[a], 0.5 * common);
      margins[b] = std::max(margins[b], 0.5 * common);
    }
  return margins;
}

// False where there are too many to keep a list of them: then nothing is added.
bool SphereContacts::addSpherePairs() const {
  const std::vector<double> margins = commonMargins();
  std::vector<Box3f> leaves;
  std::vector<uint32_t> numbers;
  for (uint32_t i = 0; i < spheres_.size(); ++i) {
    const double margin = margins[spheres_[i].body];
    if (margin < 0) continue;
    numbers.push_back(i);
    leaves.push_back(spatial::boxAround(startCentres_[i], spheres_[i].radius + margin + sphereReaches_[i]));
  }
  if (leaves.size() < 2) return true;
  spatial::OiTreeBuilder builder;
  spatial::OiTree tree;
  builder.build(tree, leaves);
  spatial::PairList found;
  try {
    spatial::selfOverlapPairs(tree, found, kListedPairs * leaves.size());
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Limit) return false;
    throw;
  }
  for (const spatial::PrimitivePair& pair : found.pairs()) {
    const uint32_t a = numbers[std::min(pair.a, pair.b)], b = numbers[std::max(pair.a, pair.b)];
    double radius = 0;
    if (!mayMeet(a, b, radius)) continue;
    const double far =
        radius + commonReach(spheres_[a].body, spheres_[b].body) + sphereReaches_[a] + sphereReaches_[b];
    if ((startCentres_[a] - startCentres_[b]).squaredNorm() > far * far) continue;
    pairs_.push_back({a, false, b, radius});
  }
  return true;
}

void SphereContacts::findPairs() const {
  pairs_.clear();
  for (uint32_t o = 0; o < obstacles_.size(); ++o) addObstaclePairs(o);
  listed_ = listed_ && addSpherePairs();
  std::sort(pairs_.begin(), pairs_.end());
}

}  // namespace sunder::soft
