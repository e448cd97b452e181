// Spheres and capsules against everything exact: closest points of points, segments and polyhedra.
#include "sunder/rigid/contact/contact_parts.h"
#include "sunder/rigid/contact/gjk.h"

#include <cmath>

namespace sunder::rigid {

namespace {

// Two balls.
void ballContact(const PairQuery& q, const Vec3& centreA, double radiusA, const Vec3& centreB, double radiusB,
                 uint32_t id) {
  const Vec3 between = centreB - centreA;
  const double distance = between.norm(), separation = distance - radiusA - radiusB;
  if (separation >= q.margin) return;
  const Vec3 normal = distance > 1e-12 * (radiusA + radiusB) ? Vec3(between / distance) : centreDirection(q);
  q.out.push_back({centreA + normal * (radiusA + 0.5 * separation), normal, separation, id});
}

Vec3 capsuleHalf(const Shape& shape, const Pose& pose) { return pose.rotation * shape.halfExtent(); }

// A ball against a surface of which the nearest point's distance and outward direction are known.
void surfaceContact(const PairQuery& q, const Vec3& centre, double radius, double distance,
                    const Vec3& outward, uint32_t id) {
  const double separation = distance - radius;
  if (separation < q.margin)
    q.out.push_back({centre - outward * (radius + 0.5 * separation), -outward, separation, id});
}

}  // namespace

SegmentPair closestOnSegments(const Vec3& middleA, const Vec3& halfA, const Vec3& middleB,
                              const Vec3& halfB) {
  const Vec3 apart = middleB - middleA;
  const double aa = halfA.squaredNorm(), bb = halfB.squaredNorm(), ab = halfA.dot(halfB);
  const double pa = apart.dot(halfA), pb = apart.dot(halfB), below = aa * bb - ab * ab;
  double s = 0, t;
  if (below > 1e-14 * aa * bb) s = std::clamp((pa * bb - ab * pb) / below, -1.0, 1.0);
  t = bb > 0 ? (ab * s - pb) / bb : 0;
  if (std::abs(t) > 1) {
    t = t > 0 ? 1 : -1;
    s = aa > 0 ? std::clamp((pa + ab * t) / aa, -1.0, 1.0) : 0;
  }
  return {s, t};
}

void contactSphereSphere(const PairQuery& q) {
  ballContact(q, q.poseA.position, q.a.radius(), q.poseB.position, q.b.radius(), 0);
}

void contactSphereCapsule(const PairQuery& q) {
  const Vec3 half = capsuleHalf(q.b, q.poseB);
  const double t =
      std::clamp((q.poseA.position - q.poseB.position).dot(half) / half.squaredNorm(), -1.0, 1.0);
  ballContact(q, q.poseA.position, q.a.radius(), q.poseB.position + t * half, q.b.radius(), 0);
}

void contactSpherePolyhedron(const PairQuery& q) {
  const Vec3 centre = q.poseB.localPoint(q.poseA.position);
  if (q.b.kind() == ShapeKind::Hull) {
    const HullTopology& hull = *q.b.hull();
    for (size_t f = 0; f < hull.faceNormals.size(); ++f)
      if (hull.faceNormals[f].dot(centre) - hull.faceOffsets[f] >= q.a.radius() + q.margin) return;
  }
  const sdf::FieldSample s = q.b.field().sample(centre);
  surfaceContact(q, q.poseA.position, q.a.radius(), s.value, q.poseB.direction(s.gradient), 0);
}

void contactSpherePlane(const PairQuery& q) {
  const Vec3 up = q.poseB.direction(Vec3::UnitY());
  surfaceContact(q, q.poseA.position, q.a.radius(), up.dot(q.poseA.position - q.poseB.position), up, 0);
}

void contactCapsulePlane(const PairQuery& q) {
  const Vec3 up = q.poseB.direction(Vec3::UnitY()), half = capsuleHalf(q.a, q.poseA);
  for (uint32_t end = 0; end < 2; ++end) {
    const Vec3 centre = q.poseA.position + (end == 0 ? -1 : 1) * half;
    surfaceContact(q, centre, q.a.radius(), up.dot(centre - q.poseB.position), up, end);
  }
}

void contactCapsuleCapsule(const PairQuery& q) {
  const Vec3 halfA = capsuleHalf(q.a, q.poseA), halfB = capsuleHalf(q.b, q.poseB);
  const Vec3 &middleA = q.poseA.position, &middleB = q.poseB.position;
  const double aa = halfA.squaredNorm(), bb = halfB.squaredNorm(), ab = halfA.dot(halfB);
  constexpr double kParallel = 0.99;  // about 6 degrees
  if (ab * ab > kParallel * aa * bb) {
    // Side by side: the ends of the stretch that both have in common, by parameters on A.
    const Vec3 apart = middleB - middleA;
    const double middle = apart.dot(halfA) / aa, reach = std::abs(ab) / aa;
    const double from = std::max(-1.0, middle - reach), to = std::min(1.0, middle + reach);
    if (to - from > 1e-3) {
      const double along[2] = {from, to};
      for (uint32_t end = 0; end < 2; ++end) {
        const Vec3 onA = middleA + along[end] * halfA;
        const double t = std::clamp((onA - middleB).dot(halfB) / bb, -1.0, 1.0);
        ballContact(q, onA, q.a.radius(), middleB + t * halfB, q.b.radius(), 1 + end);
      }
      return;
    }
  }
  const SegmentPair c = closestOnSegments(middleA, halfA, middleB, halfB);
  ballContact(q, middleA + c.s * halfA, q.a.radius(), middleB + c.t * halfB, q.b.radius(), 0);
}

namespace {

// The axis along which a segment inside a polyhedron is pushed out soonest: outward, and how far to go.
struct WayOut {
  Vec3 outward;
  double height;  // of the lowest point of the segment above the polyhedron, negative inside
};

WayOut wayOut(const HullTopology& hull, const Vec3& middle, const Vec3& half) {
  WayOut best{Vec3::UnitY(), -Box3::kInfinity};
  for (size_t f = 0; f < hull.faceNormals.size(); ++f) {
    const Vec3& n = hull.faceNormals[f];
    const double height = n.dot(middle) - std::abs(n.dot(half)) - hull.faceOffsets[f];
    if (height > best.height) best = {n, height};
  }
  for (const auto& [u, v, left, right] : hull.edges) {
    const Vec3& at = hull.vertices[u];
    Vec3 n = (hull.vertices[v] - at).cross(half);
    const double length = n.norm();
    if (length < 1e-6 * half.norm() * (hull.vertices[v] - at).norm()) continue;
    n /= length;
    if (n.dot(hull.faceNormals[left] + hull.faceNormals[right]) < 0) n = -n;
    double top = -Box3::kInfinity;
    for (const Vec3& p : hull.vertices) top = std::max(top, n.dot(p));
    const double height = n.dot(middle) - top;
    if (height > best.height + 1e-9) best = {n, height};
  }
  return best;
}

}  // namespace

void contactCapsulePolyhedron(const PairQuery& q) {
  const HullTopology& hull = *q.b.hull();
  const double radius = q.a.radius();
  // In the frame of the polyhedron.
  const Vec3 middle = q.poseB.localPoint(q.poseA.position);
  const Vec3 half = q.poseB.localDirection(capsuleHalf(q.a, q.poseA));
  const std::array<Vec3, 2> ends{middle - half, middle + half};
  const CoreDistance exact =
      distanceOfCores(coreOf(q.b), {.vertices = ends}, Mat3::Identity(), Vec3::Zero(), q.margin + radius);
  if (exact.below >= q.margin + radius) return;

  Vec3 outward;
  double height;
  if (exact.distance > 1e-9 * q.b.outerRadius()) {
    height = exact.distance;
    outward = (exact.onB - exact.onA) / height;
  } else {
    const WayOut way = wayOut(hull, middle, half);
    outward = way.outward;
    height = way.height;
  }
  const auto add = [&](const Vec3& local, double distance, const Vec3& normal, uint32_t id) {
    surfaceContact(q, q.poseB.point(local), radius, distance, q.poseB.direction(normal), id);
  };
  // Along a face: the ends of the stretch above it.
  size_t face = 0;
  double most = -1;
  for (size_t f = 0; f < hull.faceNormals.size(); ++f)
    if (const double m = hull.faceNormals[f].dot(outward); m > most) {
      most = m;
      face = f;
    }
  const Vec3& n = hull.faceNormals[face];
  if (most > 0.98 && std::abs(n.dot(half)) < 0.2 * half.norm()) {
    double from = -1, to = 1;
    for (uint32_t i = hull.faceStart[face]; i < hull.faceStart[face + 1]; ++i) {
      const uint32_t j = i + 1 == hull.faceStart[face + 1] ? hull.faceStart[face] : i + 1;
      const Vec3 &a = hull.vertices[hull.faceVertices[i]], &b = hull.vertices[hull.faceVertices[j]];
      const Vec3 side = (b - a).cross(n);
      const double at = side.dot(middle - a), slope = side.dot(half);
      if (slope == 0) {
        if (at > 0) to = -2;
      } else if (slope > 0) {
        to = std::min(to, -at / slope);
      } else {
        from = std::max(from, -at / slope);
      }
    }
    if (to - from > 1e-3) {
      const size_t before = q.out.size();
      const double along[2] = {from, to};
      double least = Box3::kInfinity;
      for (uint32_t end = 0; end < 2; ++end) {
        const Vec3 p = middle + along[end] * half;
        const double h = n.dot(p) - hull.faceOffsets[face];
        least = std::min(least, h);
        add(p, h, n, 2 + end);
      }
      // The nearest point may lie beyond the face's border.
      if (q.out.size() > before && least <= height + 0.1 * q.margin) return;
    }
  }
  Vec3 at;
  if (exact.distance > 1e-9 * q.b.outerRadius()) {
    at = exact.onB;
  } else {
    // The lowest part of the segment that is inside, or its middle where the segment lies across.
    double from = -1, to = 1;
    for (size_t f = 0; f < hull.faceNormals.size(); ++f) {
      const double above = hull.faceNormals[f].dot(middle) - hull.faceOffsets[f];
      const double slope = hull.faceNormals[f].dot(half);
      if (slope > 0) to = std::min(to, -above / slope);
      if (slope < 0) from = std::max(from, -above / slope);
    }
    const double slope = outward.dot(half);
    const double t = std::abs(slope) < 1e-6 * half.norm() ? 0.5 * (from + to) : slope > 0 ? from : to;
    at = middle + t * half;
  }
  add(at, height, outward, 0);
}

}  // namespace sunder::rigid
