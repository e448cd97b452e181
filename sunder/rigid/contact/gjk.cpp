#include "sunder/rigid/contact/gjk.h"

#include <cmath>

namespace sunder::rigid {

namespace {

struct SupportPoint {
  Vec3 onA, onB, difference;  // B - A
};

struct Simplex {
  SupportPoint points[4];
  double weight[4];
  int size = 0;
};

// Weights of the point nearest to the origin; those that are not needed are 0.
Vec3 nearestOnSegment(const Vec3& a, const Vec3& b, double (&w)[2]) {
  const Vec3 ab = b - a;
  const double length = ab.squaredNorm();
  const double t = length > 0 ? std::clamp(-a.dot(ab) / length, 0.0, 1.0) : 0;
  w[0] = 1 - t;
  w[1] = t;
  return a + t * ab;
}

Vec3 nearestOnTriangle(const Vec3& a, const Vec3& b, const Vec3& c, double (&w)[3]) {
  const Vec3 ab = b - a, ac = c - a;
  const Vec3 n = ab.cross(ac);
  const double nn = n.squaredNorm();
  if (nn > 1e-24 * ab.squaredNorm() * ac.squaredNorm()) {
    // Barycentric coordinates of the origin's foot, from areas of the triangles it makes.
    const double u = n.dot(b.cross(c)), v = n.dot(c.cross(a)), t = n.dot(a.cross(b));
    if (u >= 0 && v >= 0 && t >= 0) {
      const double sum = u + v + t;
      w[0] = u / sum;
      w[1] = v / sum;
      w[2] = t / sum;
      return (n.dot(a) / nn) * n;
    }
  }
  double best = Box3::kInfinity;
  Vec3 nearest = a;
  const Vec3* corners[3] = {&a, &b, &c};
  for (int k = 0; k < 3; ++k) {
    double e[2];
    const Vec3 p = nearestOnSegment(*corners[k], *corners[(k + 1) % 3], e);
    if (const double d = p.squaredNorm(); d < best) {
      best = d;
      nearest = p;
      w[k] = e[0];
      w[(k + 1) % 3] = e[1];
      w[(k + 2) % 3] = 0;
    }
  }
  return nearest;
}

// False where the origin is inside the tetrahedron.
bool nearestOnTetrahedron(Simplex& s, Vec3& nearest) {
  const Vec3* p[4];
  for (int i = 0; i < 4; ++i) p[i] = &s.points[i].difference;
  static constexpr int kFaces[4][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 0}};
  double best = Box3::kInfinity;
  bool outside = false;
  for (const auto& f : kFaces) {
    const Vec3 n = (*p[f[1]] - *p[f[0]]).cross(*p[f[2]] - *p[f[0]]);
    const double opposite = n.dot(*p[f[3]] - *p[f[0]]), origin = -n.dot(*p[f[0]]);
    if (opposite * origin > 0) continue;  // same side as the fourth corner
    outside = true;
    double w[3];
    const Vec3 q = nearestOnTriangle(*p[f[0]], *p[f[1]], *p[f[2]], w);
    if (const double d = q.squaredNorm(); d < best) {
      best = d;
      nearest = q;
      for (int k = 0; k < 3; ++k) s.weight[f[k]] = w[k];
      s.weight[f[3]] = 0;
    }
  }
  return outside;
}

// Reduces the simplex to the points that carry the nearest one. False where the origin is inside.
bool reduce(Simplex& s, Vec3& nearest) {
  if (s.size == 1) {
    s.weight[0] = 1;
    nearest = s.points[0].difference;
    return true;
  }
  if (s.size == 2) {
    double w[2];
    nearest = nearestOnSegment(s.points[0].difference, s.points[1].difference, w);
    s.weight[0] = w[0];
    s.weight[1] = w[1];
  } else if (s.size == 3) {
    double w[3];
    nearest = nearestOnTriangle(s.points[0].difference, s.points[1].difference, s.points[2].difference, w);
    for (int k = 0; k < 3; ++k) s.weight[k] = w[k];
  } else if (!nearestOnTetrahedron(s, nearest)) {
    return false;
  }
  int kept = 0;
  for (int k = 0; k < s.size; ++k)
    if (s.weight[k] > 0) {
      s.points[kept] = s.points[k];
      s.weight[kept++] = s.weight[k];
    }
  s.size = kept;
  return true;
}

}  // namespace

Vec3 ConvexCore::support(const Vec3& direction) const {
  if (vertices.empty())
    return {direction.x() < 0 ? -half.x() : half.x(), direction.y() < 0 ? -half.y() : half.y(),
            direction.z() < 0 ? -half.z() : half.z()};
  size_t best = 0;
  double most = vertices[0].dot(direction);
  for (size_t i = 1; i < vertices.size(); ++i)
    if (const double d = vertices[i].dot(direction); d > most) {
      most = d;
      best = i;
    }
  return vertices[best];
}

ConvexCore coreOf(const Shape& shape) {
  switch (shape.kind()) {
    case ShapeKind::Sphere:
    case ShapeKind::Capsule:
      return {shape.halfExtent(), {}, shape.radius()};
    case ShapeKind::Hull:
    case ShapeKind::Solid:
      return {Vec3::Zero(), shape.hull()->vertices, 0};
    default:
      return {shape.halfExtent(), {}, 0};
  }
}

CoreDistance distanceOfCores(const ConvexCore& a, const ConvexCore& b, const Mat3& turn, const Vec3& shift,
                             double enough) {
  const auto supportAgainst = [&](const Vec3& v) {
    SupportPoint p;
    p.onA = a.support(v);
    p.onB = turn * b.support(-(turn.transpose() * v)) + shift;
    p.difference = p.onB - p.onA;
    return p;
  };
  constexpr double kGap = 1e-12;
  Simplex s;
  Vec3 v = shift.squaredNorm() > 0 ? shift : Vec3(Vec3::UnitX());
  s.points[0] = supportAgainst(v);
  s.size = 1;
  CoreDistance result;
  double scale = 0;
  double previous = Box3::kInfinity;
  for (int round = 0; round < 64; ++round) {
    Vec3 nearest;
    if (!reduce(s, nearest)) return {0, 0, nearest, nearest};
    for (int k = 0; k < s.size; ++k) scale = std::max(scale, s.points[k].difference.squaredNorm());
    const double vv = nearest.squaredNorm();
    if (vv <= 1e-28 * scale) return {};
    // Rounding: no progress any more.
    if (vv >= previous) break;
    previous = vv;
    v = nearest;
    result.onA.setZero();
    result.onB.setZero();
    for (int k = 0; k < s.size; ++k) {
      result.onA += s.weight[k] * s.points[k].onA;
      result.onB += s.weight[k] * s.points[k].onB;
    }
    result.distance = std::sqrt(vv);
    const SupportPoint p = supportAgainst(v);
    const double projected = v.dot(p.difference);
    result.below = std::max(result.below, projected / result.distance);
    if (vv - projected <= kGap * vv || result.below > enough) break;
    for (int k = 0; k < s.size; ++k)
      if (s.points[k].difference == p.difference) return result;
    s.points[s.size++] = p;
  }
  return result;
}

}  // namespace sunder::rigid
