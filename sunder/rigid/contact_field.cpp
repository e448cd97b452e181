// Points against fields: breadth-first through the tree of spheres with self-adapting selection (Glondu et
// al. 2012, section 5; the tolerance may have either sign: a sphere is entered where distance < radius +
// tolerance).
#include "sunder/rigid/contact_parts.h"

#include <algorithm>
#include <cmath>

namespace sunder::rigid {

namespace {

using Candidate = ContactScratch::Candidate;

constexpr size_t kChunk = 64;        // occurrences whose points are asked for together
constexpr double kUnreliable = 0.1;  // gradients shorter than this have no direction
constexpr uint32_t kOfB = 1u << 31;  // in ids: a point of B
enum : uint8_t { kUnknown, kKnown };

// The points of one shape against the field of another.
struct Search {
  const PairQuery& q;
  const Shape &points, &field;
  const Pose &posePoints, &poseField;
  uint32_t& limit;
  uint32_t idBit;
  double towardsB;  // -1 where the field is B's: its outward direction then points to A

  Mat3 turn;
  Vec3 shift;

  Search(const PairQuery& query, bool pointsOfB)
      : q(query),
        points(pointsOfB ? query.b : query.a),
        field(pointsOfB ? query.a : query.b),
        posePoints(pointsOfB ? query.poseB : query.poseA),
        poseField(pointsOfB ? query.poseA : query.poseB),
        limit(pointsOfB ? query.memory.limitB : query.memory.limitA),
        idBit(pointsOfB ? kOfB : 0),
        towardsB(pointsOfB ? 1 : -1) {
    const Pose relative = inverse(poseField) * posePoints;
    turn = relative.rotation.toRotationMatrix();
    shift = relative.position;
  }

  double boxDistance(const Vec3& p) const {
    const Box3& box = field.localBounds();
    const Vec3 out = (box.lower - p).cwiseMax(p - box.upper).cwiseMax(0.0);
    return out.norm();
  }

  // Whether the boxes of both are within the margin, in the frame of the field.
  bool boxesNear() const {
    const Box3 &box = points.localBounds(), &other = field.localBounds();
    const Vec3 middle = turn * box.center() + shift;
    const Vec3 reach = turn.cwiseAbs() * (0.5 * box.extent()) + Vec3::Constant(q.margin);
    return ((middle - reach).array() <= other.upper.array()).all() &&
           ((middle + reach).array() >= other.lower.array()).all();
  }

  // Nothing is near: the limit comes down again.
  void forget() const {
    const uint32_t first = q.selection.firstLimit;
    limit = limit > first ? limit - 1 : first;
  }

  void emit(const Candidate& c) const {
    const double length = c.gradient.norm();
    Vec3 outward;
    if (length < kUnreliable) {
      outward = towardsB * centreDirection(q);
    } else {
      outward = poseField.direction(c.gradient / length);
    }
    const Vec3 at = posePoints.point(points.points().position[c.rank]);
    q.out.push_back({at - (points.pointRadius() + 0.5 * c.separation) * outward, towardsB * outward,
                     c.separation, idBit | c.rank});
  }

  void run() const;
};

void Search::run() const {
  const sdf::SphereTree& tree = points.points();
  ContactScratch& s = q.scratch;
  const SelectionSettings& selection = q.selection;
  if (tree.pointCount() == 0) return;
  const double tolerance = selection.depthTolerance * std::min(points.outerRadius(), field.outerRadius());
  const double nearby = std::min(q.margin, tolerance);  // what counts as touching
  const uint32_t most = selection.full ? ~0u : std::max(limit, selection.firstLimit);
  // The values at a sphere's centre and at a point below it may both be wrong; and rounding.
  const double slack = field.fieldErrorAt(q.margin + points.pointRadius()) +
                       1e-12 * (shift.norm() + points.localBounds().diagonal());
  const double radius = points.pointRadius();

  s.state.assign(tree.pointCount(), kUnknown);
  if (s.bound.size() < tree.pointCount()) s.bound.resize(tree.pointCount());
  s.queue.assign(tree.roots.begin(), tree.roots.end());
  s.touching.clear();
  s.speculative.clear();
  s.inside.clear();
  uint32_t grown = 0;
  bool full = false;  // enough contacts: from here on only what is deeper than the tolerance counts
  const auto reach = [&] {
    if (full) return -tolerance;
    return s.touching.size() + s.speculative.size() >= most ? nearby : q.margin;
  };

  for (size_t head = 0; head < s.queue.size() && grown <= selection.growth;) {
    const size_t end = std::min(head + kChunk, s.queue.size());
    s.work.visited += end - head;
    s.positions.clear();
    s.fresh.clear();
    const double within = reach() + radius;
    for (size_t i = head; i < end; ++i) {
      const uint32_t rank = tree.rank[s.queue[i]];
      if (s.state[rank] != kUnknown) continue;
      s.state[rank] = kKnown;
      const Vec3 p = turn * tree.position[rank] + shift;
      const double outside = boxDistance(p);
      s.bound[rank] = outside - slack;
      if (outside - slack > double(tree.radius[s.queue[i]]) + within) continue;
      s.fresh.push_back(rank);
      s.positions.push_back(p);
    }
    s.samples.resize(s.positions.size());
    field.field().samples(s.positions, s.samples);
    s.work.fieldQueries += s.positions.size();

    for (size_t i = 0; i < s.fresh.size(); ++i) {
      const uint32_t rank = s.fresh[i];
      const sdf::FieldSample& sample = s.samples[i];
      if (field.fieldDomain().contains(s.positions[i]))
        s.bound[rank] = sample.value - slack - field.fieldErrorAt(sample.value);
      const double separation = sample.value - radius;
      if (separation >= q.margin) continue;
      s.work.insidePoints += separation < 0;
      const Candidate found{rank, separation, sample.gradient};
      if (!tree.surface[rank] && !selection.full) {
        if (separation < 0 && s.inside.size() < selection.firstLimit) s.inside.push_back(found);
      } else if (full) {
        if (separation < -tolerance && grown < selection.growth) {
          s.touching.push_back(found);
          ++grown;
        }
      } else if (separation < nearby) {
        s.touching.push_back(found);
        full = s.touching.size() >= most;
      } else if (s.touching.size() + s.speculative.size() < most) {
        s.speculative.push_back(found);
      }
    }
    if (full && grown == selection.growth) break;

    const double enter = reach() + radius;
    for (size_t i = head; i < end; ++i) {
      const uint32_t occurrence = s.queue[i];
      if (s.bound[tree.rank[occurrence]] >= double(tree.radius[occurrence]) + enter) continue;
      for (uint32_t child = tree.firstChild[occurrence]; child != kNoIndex; child = tree.nextSibling[child])
        s.queue.push_back(child);
    }
    head = end;
  }

  if (!selection.full) {
    if (!full)
      limit = std::max(selection.firstLimit, most - 1);
    else
      limit = most + grown;
  }
  for (const Candidate& c : s.touching) emit(c);
  size_t total = s.touching.size();
  for (const Candidate& c : s.speculative) {
    if (total++ >= most) break;
    emit(c);
  }
  // Points inside speak only where none of the surface does: one body deep in another.
  if (total == 0)
    for (const Candidate& c : s.inside) emit(c);
}

}  // namespace

void contactFields(const PairQuery& q) {
  const Search ofA(q, false), ofB(q, true);
  if (!ofA.boxesNear() || !ofB.boxesNear()) {
    ofA.forget();
    ofB.forget();
    return;
  }
  ofA.run();
  ofB.run();
}

void contactPlaneSolid(const PairQuery& q) {
  const Search ofB(q, true);
  if (ofB.boxesNear())
    ofB.run();
  else
    ofB.forget();
}

namespace {

// Distance of a point of the world from a solid, and the outward direction.
struct Nearest {
  double distance;
  Vec3 outward;
};

Nearest nearestOf(const PairQuery& q, const Vec3& point) {
  const sdf::FieldSample s = q.b.field().sample(q.poseB.localPoint(point));
  ++q.scratch.work.fieldQueries;
  const double length = s.gradient.norm();
  return {s.value, length < kUnreliable ? Vec3(-centreDirection(q)) : q.poseB.direction(s.gradient / length)};
}

void ballContact(const PairQuery& q, const Vec3& centre, const Nearest& n, uint32_t id) {
  const double separation = n.distance - q.a.radius();
  if (separation < q.margin)
    q.out.push_back({centre - n.outward * (q.a.radius() + 0.5 * separation), -n.outward, separation, id});
}

bool boxTooFar(const PairQuery& q, const Vec3& point, double reach) {
  const Vec3 p = q.poseB.localPoint(point);
  const Box3& box = q.b.localBounds();
  const Vec3 out = (box.lower - p).cwiseMax(p - box.upper).cwiseMax(0.0);
  return out.norm() >= reach + q.margin + q.b.fieldErrorFar();
}

}  // namespace

void contactSphereSolid(const PairQuery& q) {
  const Vec3& centre = q.poseA.position;
  const double radius = q.a.radius();
  if (boxTooFar(q, centre, radius)) return;
  const Nearest first = nearestOf(q, centre);
  if (first.distance - radius >= q.margin) return;
  ballContact(q, centre, first, 0);

  // In a groove a ball touches more than one place. Beside the centre, another side of the groove is nearer;
  // its tangent plane, taken back to the centre, is a second contact.
  constexpr double kStep = 0.35, kOtherSide = 0.97;
  const Vec3 u = first.outward.unitOrthogonal(), v = first.outward.cross(u);
  const Vec3 probes[4] = {u, -u, v, -v};
  Vec3 known[5] = {first.outward};
  int count = 1;
  for (uint32_t k = 0; k < 4; ++k) {
    const Vec3 at = centre + kStep * radius * probes[k];
    Nearest n = nearestOf(q, at);
    bool other = n.distance < first.distance + kStep * radius;
    for (int i = 0; i < count; ++i) other &= n.outward.dot(known[i]) < kOtherSide;
    if (!other) continue;
    n.distance += n.outward.dot(centre - at);
    if (n.distance < first.distance - 1e-3 * radius) continue;  // bulges: the plane cuts through the solid
    ballContact(q, centre, n, 1 + k);
    known[count++] = n.outward;
  }
}

void contactCapsuleSolid(const PairQuery& q) {
  const Vec3& middle = q.poseA.position;
  const Vec3 half = q.poseA.rotation * q.a.halfExtent();
  const double radius = q.a.radius(), length = half.norm();
  if (boxTooFar(q, middle, radius + length)) return;
  constexpr int kMost = 17;
  const int count = std::clamp(int(std::ceil(2 * length / radius)) + 1, 3, kMost);
  std::array<double, kMost> at;
  std::array<Nearest, kMost> found;
  for (int i = 0; i < count; ++i) {
    at[size_t(i)] = -1 + 2.0 * i / (count - 1);
    found[size_t(i)] = nearestOf(q, middle + at[size_t(i)] * half);
  }
  const auto add = [&](double t, const Nearest& n, uint32_t id) { ballContact(q, middle + t * half, n, id); };
  add(-1, found[0], 0);
  add(1, found[size_t(count - 1)], 1);
  // Between them, where the distance has a minimum along the axis: found by the sign of its slope.
  uint32_t id = 2;
  for (int i = 0; i + 1 < count && id < 6; ++i) {
    double low = at[size_t(i)], high = at[size_t(i + 1)];
    Nearest a = found[size_t(i)], b = found[size_t(i + 1)];
    const double step = (high - low) * length;
    if (std::min(a.distance, b.distance) - 0.5 * step - radius >= q.margin) continue;
    if (!(a.outward.dot(half) < 0 && b.outward.dot(half) > 0)) continue;
    for (int round = 0; round < 8 && (high - low) * length > 1e-3 * radius; ++round) {
      const double t = 0.5 * (low + high);
      const Nearest n = nearestOf(q, middle + t * half);
      if (n.outward.dot(half) < 0) {
        low = t;
        a = n;
      } else {
        high = t;
        b = n;
      }
    }
    if (a.distance <= b.distance)
      add(low, a, id++);
    else
      add(high, b, id++);
  }
}

}  // namespace sunder::rigid
