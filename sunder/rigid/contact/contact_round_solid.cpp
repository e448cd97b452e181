// Balls and capsules against solids: the field at the centre, or along the axis.
#include "sunder/rigid/contact/contact_parts.h"

#include <algorithm>
#include <cmath>

namespace sunder::rigid {

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

// A number for a direction seen from the solid: the same while a ball rolls on, whichever side of a groove is
// nearer at the moment.
uint32_t directionId(const PairQuery& q, const Vec3& outward, size_t firstOfPair) {
  const Vec3 local = q.poseB.localDirection(outward);
  uint32_t id = 0;
  for (int d = 0; d < 3; ++d) id = 3 * id + uint32_t(std::lround(1.49 * local[d]) + 1);
  for (size_t i = firstOfPair; i < q.out.size(); ++i)
    if (q.out[i].id == id) id += 27;
  return id;
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
  const size_t before = q.out.size();
  ballContact(q, centre, first, directionId(q, first.outward, before));

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
    ballContact(q, centre, n, directionId(q, n.outward, before));
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
