#include "sunder/cut/kernel/shifted.h"

#include "sunder/geometry/big_integer.h"
#include "sunder/geometry/double_double.h"
#include "sunder/geometry/predicates.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace sunder::cut {

namespace {

using geometry::BigInteger;
using geometry::DoubleDouble;
using geometry::FixedPoint;
using geometry::sign;

// The first component of the normal that is not zero, as a sign.
int leadingNormalSign(const Corners3& f) {
  for (int axis = 0; axis < 3; ++axis) {
    const int s = sign(geometry::orient2d(*f.a, *f.b, *f.c, axis));
    if (s != 0) return s;
  }
  return 0;
}

// The exact sign of u1 v2 - u2 v1 for the differences u = b - a and v = d - c.
int crossSign(double a1, double b1, double a2, double b2, double c1, double d1, double c2, double d2) {
  const double left = (b1 - a1) * (d2 - c2), right = (b2 - a2) * (d1 - c1);
  const double det = left - right;
  const double bound = 4.5e-16 * (std::abs(left) + std::abs(right));
  if (std::abs(det) > bound && bound > 1e-290 && std::isfinite(det)) return sign(det);
  const double all[] = {a1, b1, a2, b2, c1, d1, c2, d2};
  const FixedPoint fixed(all);
  const auto minus = [&](double x, double y) { return fixed.integer(x) - fixed.integer(y); };
  return (minus(b1, a1) * minus(d2, c2) - minus(b2, a2) * minus(d1, c1)).sign();
}

struct LongVector {
  DoubleDouble x[3];
};

LongVector crossed(const LongVector& a, const LongVector& b) {
  LongVector out;
  for (int axis = 0; axis < 3; ++axis) {
    const int j = (axis + 1) % 3, k = (axis + 2) % 3;
    out.x[axis] = a.x[j] * b.x[k] - a.x[k] * b.x[j];
  }
  return out;
}

// The same direction with its largest component between 1 and 2, so that products neither overflow nor
// vanish.
LongVector scaled(LongVector v) {
  double largest = 0;
  for (const DoubleDouble& c : v.x) largest = std::max(largest, std::abs(c.high));
  if (largest == 0) return v;
  const int power = -std::ilogb(largest);
  for (DoubleDouble& c : v.x) c = {std::ldexp(c.high, power), std::ldexp(c.low, power)};
  return v;
}

LongVector longNormal(const Corners3& f) {
  LongVector u, v;
  for (int axis = 0; axis < 3; ++axis) {
    u.x[axis] = geometry::twoDiff((*f.b)[axis], (*f.a)[axis]);
    v.x[axis] = geometry::twoDiff((*f.c)[axis], (*f.a)[axis]);
  }
  return scaled(crossed(scaled(u), scaled(v)));
}

// Exact sides of the two ends of an edge, and the normal, on the fixed point that all inputs share.
struct ExactPlane {
  BigInteger p, q, normal[3];

  ExactPlane(const FixedPoint& fixed, const Vec3& from, const Vec3& to, const Corners3& f) {
    BigInteger u[3], v[3], w[3], x[3];
    for (int axis = 0; axis < 3; ++axis) {
      const BigInteger origin = fixed.integer((*f.a)[axis]);
      u[axis] = fixed.integer((*f.b)[axis]) - origin;
      v[axis] = fixed.integer((*f.c)[axis]) - origin;
      w[axis] = fixed.integer(from[axis]) - origin;
      x[axis] = fixed.integer(to[axis]) - origin;
    }
    for (int axis = 0; axis < 3; ++axis) {
      const int j = (axis + 1) % 3, k = (axis + 2) % 3;
      normal[axis] = u[j] * v[k] - u[k] * v[j];
    }
    p = normal[0] * w[0] + normal[1] * w[1] + normal[2] * w[2];
    q = normal[0] * x[0] + normal[1] * x[1] + normal[2] * x[2];
  }
};

}  // namespace

int sideOfMeshVertex(const Vec3& vertex, const Corners3& f) {
  const int s = sign(geometry::orient3d(*f.a, *f.b, *f.c, vertex));
  return s != 0 ? s : -leadingNormalSign(f);
}

int sideOfCutterVertex(const Vec3& vertex, const Corners3& f) {
  const int s = sign(geometry::orient3d(*f.a, *f.b, *f.c, vertex));
  return s != 0 ? s : leadingNormalSign(f);
}

int passing(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b) {
  const int s = sign(geometry::orient3d(p, q, a, b));
  if (s != 0) return s;
  for (int axis = 0; axis < 3; ++axis) {
    const int j = (axis + 1) % 3, k = (axis + 2) % 3;
    const int c = crossSign(a[j], b[j], a[k], b[k], p[j], q[j], p[k], q[k]);
    if (c != 0) return c;
  }
  return 0;
}

AccuratePlane::AccuratePlane(const Corners3& f) : origin_(f.a) {
  DoubleDouble u[3], v[3];
  for (int axis = 0; axis < 3; ++axis) {
    u[axis] = geometry::twoDiff((*f.b)[axis], (*f.a)[axis]);
    v[axis] = geometry::twoDiff((*f.c)[axis], (*f.a)[axis]);
    size_[axis] = std::max(std::abs(u[axis].high), std::abs(v[axis].high));
  }
  for (int axis = 0; axis < 3; ++axis) {
    const int j = (axis + 1) % 3, k = (axis + 2) % 3;
    normal_[axis] = u[j] * v[k] - u[k] * v[j];
  }
}

AccuratePlane::Side AccuratePlane::sideOf(const Vec3& p) const {
  Side side;
  DoubleDouble d[3];
  for (int axis = 0; axis < 3; ++axis) {
    d[axis] = geometry::twoDiff(p[axis], (*origin_)[axis]);
    side.reach[axis] = std::abs(d[axis].high);
  }
  side.value = (normal_[0] * d[0] + normal_[1] * d[1]) + normal_[2] * d[2];
  return side;
}

Crossing AccuratePlane::crossing(const Vec3& p, const Vec3& q, const Side& sideP, const Side& sideQ) const {
  double bound = 0x1p-97;
  for (size_t axis = 0; axis < 3; ++axis)
    bound *= std::max(size_[axis], std::max(sideP.reach[axis], sideQ.reach[axis]));
  const DoubleDouble from = sideP.value, to = sideQ.value;
  const DoubleDouble span = from - to;
  if (span.high == 0 || !std::isfinite(span.high)) return {0.5, 1, 0.5 * (p + q)};
  const double t = std::clamp(from.high / span.high, 0.0, 1.0);
  // From the end that the face is nearer to: a crossing at an end has that end's bits.
  const bool nearP = std::abs(from.high) <= std::abs(to.high);
  const double s = std::clamp(nearP ? from.high / span.high : -to.high / span.high, 0.0, 1.0);
  const Vec3 at = nearP ? Vec3(p + s * (q - p)) : Vec3(q + s * (p - q));
  const Vec3 position = at.cwiseMax(p.cwiseMin(q)).cwiseMin(p.cwiseMax(q));
  // Below this, products of the sides may have lost bits: the number serves as a position only.
  if (std::abs(span.high) < 1e-150) return {t, 1, position};
  return {t, 8 * bound / std::abs(span.high) + 0x1p-51, position};
}

Crossing crossing(const Vec3& p, const Vec3& q, const Corners3& face) {
  return AccuratePlane(face).crossing(p, q);
}

int compareCrossings(const Vec3& p, const Vec3& q, const Corners3& first, const Corners3& second,
                     bool cutterEdge) {
  double all[24];
  const Vec3* const points[] = {&p, &q, first.a, first.b, first.c, second.a, second.b, second.c};
  for (size_t i = 0; i < 8; ++i)
    for (size_t axis = 0; axis < 3; ++axis) all[3 * i + axis] = (*points[i])[static_cast<int>(axis)];
  const FixedPoint fixed(all);
  const ExactPlane f(fixed, p, q, first), g(fixed, p, q, second);
  const BigInteger spanF = f.p - f.q, spanG = g.p - g.q;
  const int orientation = spanF.sign() * spanG.sign();
  const int s = (f.p * spanG - g.p * spanF).sign() * orientation;
  if (s != 0) return s;
  // The derivative of a side is the normal, against it where the face moves.
  for (int axis = 0; axis < 3; ++axis) {
    const int d = (f.normal[axis] * spanG - g.normal[axis] * spanF).sign() * orientation;
    if (d != 0) return cutterEdge ? d : -d;
  }
  return 0;
}

Vec3 meetingDirection(const Corners3& first, const Corners3& second) {
  const LongVector d = scaled(crossed(longNormal(first), longNormal(second)));
  return Vec3(d.x[0].high, d.x[1].high, d.x[2].high).stableNormalized();
}

}  // namespace sunder::cut
