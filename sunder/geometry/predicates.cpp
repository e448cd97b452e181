#include "sunder/geometry/predicates.h"

#include "sunder/geometry/big_integer.h"
#include "sunder/geometry/double_double.h"

#include <bit>

namespace sunder::geometry {

namespace {

// The determinants, once for every kind of number. Arguments are differences to the reference point.
template <class N>
N orient2dOf(const N& bx, const N& by, const N& cx, const N& cy) {
  return bx * cy - by * cx;
}

template <class N>
N orient3dOf(const N (&b)[3], const N (&c)[3], const N (&d)[3]) {
  return (b[0] * orient2dOf(c[1], c[2], d[1], d[2]) + c[0] * orient2dOf(d[1], d[2], b[1], b[2])) +
         d[0] * orient2dOf(b[1], b[2], c[1], c[2]);
}

template <class N>
N incircleOf(const N (&a)[2], const N (&b)[2], const N (&c)[2]) {
  return ((a[0] * a[0] + a[1] * a[1]) * orient2dOf(b[0], b[1], c[0], c[1]) +
          (b[0] * b[0] + b[1] * b[1]) * orient2dOf(c[0], c[1], a[0], a[1])) +
         (c[0] * c[0] + c[1] * c[1]) * orient2dOf(a[0], a[1], b[0], b[1]);
}

template <class N>
N squaredLength(const N (&a)[3]) {
  return a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
}

template <class N>
N insphereOf(const N (&a)[3], const N (&b)[3], const N (&c)[3], const N (&d)[3]) {
  const N ab = orient2dOf(a[0], a[1], b[0], b[1]), bc = orient2dOf(b[0], b[1], c[0], c[1]);
  const N cd = orient2dOf(c[0], c[1], d[0], d[1]), da = orient2dOf(d[0], d[1], a[0], a[1]);
  const N ac = orient2dOf(a[0], a[1], c[0], c[1]), bd = orient2dOf(b[0], b[1], d[0], d[1]);
  const N abc = a[2] * bc - b[2] * ac + c[2] * ab;
  const N bcd = b[2] * cd - c[2] * bd + d[2] * bc;
  const N cda = c[2] * da + d[2] * ac + a[2] * cd;
  const N dab = d[2] * ab + a[2] * bd + b[2] * da;
  return (squaredLength(a) * bcd - squaredLength(d) * abc) +
         (squaredLength(c) * dab - squaredLength(b) * cda);
}

// Bounds of the second stage, u^2 = 2^-106 times the error coefficient (sums of the 10 and 4 of
// double_double.h along the expression) times the number of terms: 14 * 2, 32 * 6, 46 * 6, 72 * 24, each
// rounded up to a power of two.
constexpr double kOrient2dBound2 = 0x1p-101;
constexpr double kOrient3dBound2 = 0x1p-98;
constexpr double kIncircleBound2 = 0x1p-97;
constexpr double kInsphereBound2 = 0x1p-95;

// Bits of a difference with which degree and number of terms together stay below 53: 2 b + 1, 3 b + 2.6, 4 b
// + 3.6, 5 b + 6.2.
constexpr int kOrient2dGridBits = 26;
constexpr int kOrient3dGridBits = 16;
constexpr int kIncircleGridBits = 12;
constexpr int kInsphereGridBits = 9;

// The second stage is tried while the largest differences are in this range: then no product of degree five
// overflows, and what underflow may lose is far below the bounds.
constexpr double kSmallest = 1e-50;
constexpr double kLargest = 1e50;

template <int Dimension, int Count>
struct Differences {
  DoubleDouble value[Count][Dimension];
  double size[Dimension] = {};  // largest magnitude per axis
  double squaredSize = 0;       // of a box with these sizes
  bool flat = false;            // some axis has no extent at all: every predicate is zero
  bool inRange = true;

  template <class Vector>
  Differences(const Vector& origin, const Vector* const (&points)[Count]) {
    for (int axis = 0; axis < Dimension; ++axis) {
      for (int i = 0; i < Count; ++i) {
        value[i][axis] = twoDiff((*points[i])[axis], origin[axis]);
        size[axis] = std::max(size[axis], std::abs(value[i][axis].high));
      }
      flat = flat || size[axis] == 0;
      // Written so that infinite and undefined differences are out of range.
      inRange = inRange && size[axis] >= kSmallest && size[axis] <= kLargest;
      squaredSize += size[axis] * size[axis];
    }
  }

  // Are all differences exact and multiples of one power of two, below 2^bits times it? Plain doubles then
  // hold every product and sum exactly: the quick way out for points on grids, where zero is an everyday
  // answer. In range only.
  bool onGrid(int bits) const {
    double widest = 0;
    for (const double s : size) widest = std::max(widest, s);
    const uint64_t exponent = (std::bit_cast<uint64_t>(widest) >> 52) + 1 - static_cast<uint64_t>(bits);
    // Adding this rounds to multiples of 2^(exponent - 1023).
    const double rounder = 1.5 * 0x1p52 * std::bit_cast<double>(exponent << 52);
    bool all = true;
    for (const auto& vector : value) {
      for (const DoubleDouble& d : vector) {
        all = all && d.low == 0 && (d.high + rounder) - rounder == d.high;
      }
    }
    return all;
  }
  void copyTo(double (&out)[Count][Dimension]) const {
    for (int i = 0; i < Count; ++i) {
      for (int axis = 0; axis < Dimension; ++axis) out[i][axis] = value[i][axis].high;
    }
  }
};

// Third stage: the same differences as integers on a common power of two.
template <int Dimension, int Count>
struct IntegerDifferences {
  BigInteger value[Count][Dimension];
  int exponent = 0;

  template <class Vector>
  IntegerDifferences(const Vector& origin, const Vector* const (&points)[Count]) {
    double all[(Count + 1) * Dimension];
    for (int axis = 0; axis < Dimension; ++axis) {
      all[axis] = origin[axis];
      for (int i = 0; i < Count; ++i) all[(i + 1) * Dimension + axis] = (*points[i])[axis];
    }
    const FixedPoint fixed(all);
    exponent = fixed.exponent();
    for (int axis = 0; axis < Dimension; ++axis) {
      const BigInteger o = fixed.integer(origin[axis]);
      for (int i = 0; i < Count; ++i) value[i][axis] = fixed.integer((*points[i])[axis]) - o;
    }
  }
};

bool decided(const DoubleDouble& det, double bound) { return std::abs(det.high) > bound; }

}  // namespace

namespace detail {

double orient2dExact(const Vec2& a, const Vec2& b, const Vec2& c) {
  const Vec2* const points[] = {&b, &c};
  const Differences<2, 2> near(a, points);
  if (near.flat) return 0;
  if (near.inRange) {
    const auto& v = near.value;
    if (near.onGrid(kOrient2dGridBits)) {
      return orient2dOf(v[0][0].high, v[0][1].high, v[1][0].high, v[1][1].high);
    }
    const DoubleDouble det = orient2dOf(v[0][0], v[0][1], v[1][0], v[1][1]);
    if (decided(det, kOrient2dBound2 * near.size[0] * near.size[1])) return det.high;
  }
  const IntegerDifferences<2, 2> exact(a, points);
  const auto& v = exact.value;
  return orient2dOf(v[0][0], v[0][1], v[1][0], v[1][1]).toDouble(2 * exact.exponent);
}

double orient3dExact(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const Vec3* const points[] = {&b, &c, &d};
  const Differences<3, 3> near(a, points);
  if (near.flat) return 0;
  if (near.inRange) {
    if (near.onGrid(kOrient3dGridBits)) {
      double v[3][3];
      near.copyTo(v);
      return orient3dOf(v[0], v[1], v[2]);
    }
    const DoubleDouble det = orient3dOf(near.value[0], near.value[1], near.value[2]);
    if (decided(det, kOrient3dBound2 * near.size[0] * near.size[1] * near.size[2])) return det.high;
  }
  const IntegerDifferences<3, 3> exact(a, points);
  return orient3dOf(exact.value[0], exact.value[1], exact.value[2]).toDouble(3 * exact.exponent);
}

double incircleExact(const Vec2& a, const Vec2& b, const Vec2& c, const Vec2& d) {
  const Vec2* const points[] = {&a, &b, &c};
  const Differences<2, 3> near(d, points);
  if (near.flat) return 0;
  if (near.inRange) {
    if (near.onGrid(kIncircleGridBits)) {
      double v[3][2];
      near.copyTo(v);
      return incircleOf(v[0], v[1], v[2]);
    }
    const DoubleDouble det = incircleOf(near.value[0], near.value[1], near.value[2]);
    if (decided(det, kIncircleBound2 * near.size[0] * near.size[1] * near.squaredSize)) return det.high;
  }
  const IntegerDifferences<2, 3> exact(d, points);
  return incircleOf(exact.value[0], exact.value[1], exact.value[2]).toDouble(4 * exact.exponent);
}

double insphereExact(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d, const Vec3& e) {
  const Vec3* const points[] = {&a, &b, &c, &d};
  const Differences<3, 4> near(e, points);
  if (near.flat) return 0;
  if (near.inRange) {
    if (near.onGrid(kInsphereGridBits)) {
      double v[4][3];
      near.copyTo(v);
      return insphereOf(v[0], v[1], v[2], v[3]);
    }
    const DoubleDouble det = insphereOf(near.value[0], near.value[1], near.value[2], near.value[3]);
    const double bound = kInsphereBound2 * near.size[0] * near.size[1] * near.size[2] * near.squaredSize;
    if (decided(det, bound)) return det.high;
  }
  const IntegerDifferences<3, 4> exact(e, points);
  return insphereOf(exact.value[0], exact.value[1], exact.value[2], exact.value[3])
      .toDouble(5 * exact.exponent);
}

}  // namespace detail

int normalAxis(const Vec3& a, const Vec3& b, const Vec3& c) {
  int best = -1;
  double largest = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double component = std::abs(orient2d(a, b, c, axis));
    if (component > largest) {
      largest = component;
      best = axis;
    }
  }
  return best;
}

}  // namespace sunder::geometry
