// Exact rational numbers for the checks of cutting: GMP, linked to tests only.
#pragma once

#include "sunder/base/math.h"
#include "sunder/cut/arrangement/seam.h"

#include <array>

#include <gmpxx.h>

namespace sunder::cut::testing {

using Rational = mpq_class;
using RVec3 = std::array<Rational, 3>;

inline RVec3 exact(const Vec3& p) { return {Rational(p.x()), Rational(p.y()), Rational(p.z())}; }
inline RVec3 operator-(const RVec3& a, const RVec3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline RVec3 operator+(const RVec3& a, const RVec3& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
inline RVec3 scaled(const RVec3& a, const Rational& s) { return {a[0] * s, a[1] * s, a[2] * s}; }
inline RVec3 crossed(const RVec3& a, const RVec3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline Rational dot(const RVec3& a, const RVec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// The infinitely small shift of the cutter, as a small one: for coordinates on a grid of 2^-20 below 2^20 no
// sign changes between here and zero.
inline RVec3 tinyShift() {
  Rational e(1);
  mpq_div_2exp(e.get_mpq_t(), e.get_mpq_t(), 300);
  return {e, e * e, e * e * e};
}

inline Rational side(const RVec3& v, const RVec3& a, const RVec3& b, const RVec3& c) {
  return dot(crossed(b - a, c - a), v - a);
}

// The point of the seam itself, without the shift.
inline RVec3 seamPosition(const SeamPoint& x, const KernelMesh& own, const KernelMesh& other) {
  const RVec3 p = exact(own.positions[own.origin(x.halfedge)]),
              q = exact(own.positions[own.target(x.halfedge)]);
  const Corners3 f = cornersOf(other, x.face);
  const RVec3 a = exact(*f.a), b = exact(*f.b), c = exact(*f.c);
  const Rational from = side(p, a, b, c), to = side(q, a, b, c);
  return p + scaled(q - p, from / (from - to));
}

}  // namespace sunder::cut::testing
