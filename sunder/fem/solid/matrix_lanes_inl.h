// 3x3 matrices in vector lanes: products, the rotation of the polar decomposition, eigenvectors of symmetric
// ones. A lane has the same bits whatever the number of lanes and whatever is in the others. Read once for
// each vector target, after hwy/foreach_target.h. Private to the room.
#if defined(SUNDER_FEM_MATRIX_LANES_INL) == defined(HWY_TARGET_TOGGLE)  // once a target
#ifdef SUNDER_FEM_MATRIX_LANES_INL
#undef SUNDER_FEM_MATRIX_LANES_INL
#else
#define SUNDER_FEM_MATRIX_LANES_INL
#endif

#include "sunder/base/lanes_inl.h"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sunder::fem::kernels::solid::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;
using V3 = lanes::HWY_NAMESPACE::Lanes3<V>;
constexpr size_t kLanes = hn::MaxLanes(D());

HWY_INLINE V number(double value) { return hn::Set(D(), value); }
HWY_INLINE V3 vector(double x, double y, double z) { return {number(x), number(y), number(z)}; }
HWY_INLINE V3 select(M mask, const V3& yes, const V3& no) {
  return {hn::IfThenElse(mask, yes.x, no.x), hn::IfThenElse(mask, yes.y, no.y),
          hn::IfThenElse(mask, yes.z, no.z)};
}

struct M3 {
  V3 a, b, c;  // columns
};
HWY_INLINE M3 identity() { return {vector(1, 0, 0), vector(0, 1, 0), vector(0, 0, 1)}; }
HWY_INLINE M3 operator+(const M3& m, const M3& n) { return {m.a + n.a, m.b + n.b, m.c + n.c}; }
HWY_INLINE M3 operator-(const M3& m, const M3& n) { return {m.a - n.a, m.b - n.b, m.c - n.c}; }
HWY_INLINE M3 operator*(const M3& m, V s) { return {m.a * s, m.b * s, m.c * s}; }
HWY_INLINE M3 select(M mask, const M3& yes, const M3& no) {
  return {select(mask, yes.a, no.a), select(mask, yes.b, no.b), select(mask, yes.c, no.c)};
}
HWY_INLINE V3 times(const M3& m, const V3& v) { return m.a * v.x + m.b * v.y + m.c * v.z; }
HWY_INLINE V3 transposedTimes(const M3& m, const V3& v) { return {dot(m.a, v), dot(m.b, v), dot(m.c, v)}; }
HWY_INLINE M3 times(const M3& m, const M3& n) { return {times(m, n.a), times(m, n.b), times(m, n.c)}; }
HWY_INLINE M3 transposedTimes(const M3& m, const M3& n) {
  return {transposedTimes(m, n.a), transposedTimes(m, n.b), transposedTimes(m, n.c)};
}
HWY_INLINE M3 transposed(const M3& m) {
  return {{m.a.x, m.b.x, m.c.x}, {m.a.y, m.b.y, m.c.y}, {m.a.z, m.b.z, m.c.z}};
}
HWY_INLINE M3 cofactors(const M3& m) { return {cross(m.b, m.c), cross(m.c, m.a), cross(m.a, m.b)}; }
HWY_INLINE V determinant(const M3& m) { return dot(m.a, cross(m.b, m.c)); }
HWY_INLINE V product(const M3& m, const M3& n) {  // sum of the products of the entries
  return hn::Add(hn::Add(dot(m.a, n.a), dot(m.b, n.b)), dot(m.c, n.c));
}

// Tangent, cosine and sine of the turn that makes `apq` zero, with half = (aqq - app) / 2: the smaller root
// of t^2 + 2 (half / apq) t - 1, without dividing by a small apq.
struct Turn {
  V t, c, s;
};
HWY_INLINE Turn turnOf(V half, V apq) {
  const V zero = hn::Zero(D()), one = number(1);
  const V root = hn::Sqrt(hn::Add(hn::Mul(half, half), hn::Mul(apq, apq)));
  const V size = hn::Add(hn::Abs(half), root);
  const V quotient = hn::Div(hn::IfThenElse(hn::Lt(half, zero), hn::Neg(apq), apq), size);
  const V t = hn::IfThenElse(hn::Eq(size, zero), zero, quotient);
  const V c = hn::Div(one, hn::Sqrt(hn::Add(one, hn::Mul(t, t))));
  return {t, c, hn::Mul(t, c)};
}
HWY_INLINE void turn(const Turn& by, V3& p, V3& q) {
  const V3 u = p;
  p = u * by.c - q * by.s;
  q = u * by.s + q * by.c;
}
HWY_INLINE void turn(const Turn& by, V& p, V& q) {
  const V u = p;
  p = hn::Sub(hn::Mul(u, by.c), hn::Mul(q, by.s));
  q = hn::Add(hn::Mul(u, by.s), hn::Mul(q, by.c));
}

struct SymmetricLanes {
  V xx, yy, zz, xy, yz, zx;
};
struct EigenLanes {
  V3 values;
  M3 vectors;  // a rotation; columns in the order of the values, which are in no order
};

HWY_INLINE V cleared(V value, V tiny) { return hn::IfThenElseZero(hn::Gt(hn::Abs(value), tiny), value); }

// Makes `apq` zero; `apr` and `aqr` are those of the two and the third.
HWY_INLINE void jacobiTurn(V& app, V& aqq, V& apq, V& apr, V& aqr, V3& vp, V3& vq, V tiny) {
  const Turn by = turnOf(hn::Mul(number(0.5), hn::Sub(aqq, app)), apq);
  const V shift = hn::Mul(by.t, apq);
  app = hn::Sub(app, shift);
  aqq = hn::Add(aqq, shift);
  apq = hn::Zero(D());
  turn(by, apr, aqr);
  apr = cleared(apr, tiny);
  aqr = cleared(aqr, tiny);
  turn(by, vp, vq);
}

// Cyclic Jacobi rotations. What is below rounding off the diagonal counts as zero; turns of diagonal matrices
// change nothing, so a lane does not see how long the others take.
HWY_INLINE EigenLanes eigen(SymmetricLanes s) {
  const V size = hn::Add(hn::Add(hn::Abs(s.xx), hn::Add(hn::Abs(s.yy), hn::Abs(s.zz))),
                         hn::Add(hn::Abs(s.xy), hn::Add(hn::Abs(s.yz), hn::Abs(s.zx))));
  const V tiny = hn::Mul(size, number(0x1p-56));
  M3 v = identity();
  s.xy = cleared(s.xy, tiny);
  s.yz = cleared(s.yz, tiny);
  s.zx = cleared(s.zx, tiny);
  constexpr int kSweeps = 12;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    const V rest = hn::Add(hn::Abs(s.xy), hn::Add(hn::Abs(s.yz), hn::Abs(s.zx)));
    if (hn::AllTrue(D(), hn::Eq(rest, hn::Zero(D())))) break;
    jacobiTurn(s.xx, s.yy, s.xy, s.zx, s.yz, v.a, v.b, tiny);
    jacobiTurn(s.xx, s.zz, s.zx, s.xy, s.yz, v.a, v.c, tiny);
    jacobiTurn(s.yy, s.zz, s.yz, s.xy, s.zx, v.b, v.c, tiny);
  }
  return {{s.xx, s.yy, s.zz}, v};
}

// Makes columns p and q of b perpendicular; `moved` grows where they were not.
HWY_INLINE void oneSidedTurn(V3& bp, V3& bq, V3& vp, V3& vq, V& moved) {
  const V pp = dot(bp, bp), qq = dot(bq, bq);
  V pq = dot(bp, bq);
  const auto relative = hn::Le(hn::Mul(pq, pq), hn::Mul(number(0x1p-104), hn::Mul(pp, qq)));
  pq = hn::IfThenZeroElse(hn::Or(relative, hn::Le(hn::Abs(pq), number(0x1p-200))), pq);
  const Turn by = turnOf(hn::Mul(number(0.5), hn::Sub(qq, pp)), pq);
  moved = hn::Max(moved, hn::Abs(pq));
  turn(by, bp, bq);
  turn(by, vp, vq);
}

// The longer of two columns first.
HWY_INLINE void orderColumns(V3& bp, V3& bq, V3& vp, V3& vq) {
  const auto swap = hn::Lt(dot(bp, bp), dot(bq, bq));
  const V3 bu = bp, vu = vp;
  bp = select(swap, bq, bp);
  bq = select(swap, bu, bq);
  vp = select(swap, vq, vp);
  vq = select(swap, vu, vq);
}

// The rotation of the polar decomposition from singular vectors (one-sided Jacobi), for matrices of any kind:
// where the determinant is negative the smallest singular value takes the sign; where they do not say, any
// rotation that fits. The largest entry must be about 1.
HWY_INLINE M3 rotationOfAny(M3 b) {
  M3 v = identity();
  constexpr int kSweeps = 16;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    V moved = hn::Zero(D());
    oneSidedTurn(b.a, b.b, v.a, v.b, moved);
    oneSidedTurn(b.a, b.c, v.a, v.c, moved);
    oneSidedTurn(b.b, b.c, v.b, v.c, moved);
    if (hn::AllTrue(D(), hn::Eq(moved, hn::Zero(D())))) break;
  }
  orderColumns(b.a, b.b, v.a, v.b);
  orderColumns(b.a, b.c, v.a, v.c);
  orderColumns(b.b, b.c, v.b, v.c);
  v.c = cross(v.a, v.b);
  M3 u;
  u.a = b.a * hn::Div(number(1), hn::Sqrt(dot(b.a, b.a)));
  // Where the second singular value is rounding, the axis that is farthest from the first.
  const V3 rest = b.b - u.a * dot(u.a, b.b);
  const V ax = hn::Abs(u.a.x), ay = hn::Abs(u.a.y), az = hn::Abs(u.a.z);
  const auto x = hn::And(hn::Le(ax, ay), hn::Le(ax, az));
  const auto y = hn::Le(ay, az);
  const V3 axis = select(x, vector(1, 0, 0), select(y, vector(0, 1, 0), vector(0, 0, 1)));
  const V3 across = axis - u.a * dot(u.a, axis);
  const V3 second = select(hn::Gt(dot(rest, rest), number(0x1p-104)), rest, across);
  u.b = second * hn::Div(number(1), hn::Sqrt(dot(second, second)));
  u.c = cross(u.a, u.b);
  return times(u, transposed(v));
}

// The rotation nearest to `f`, determinant 1 always. Newton's iteration (Higham 1986) where f is well-formed,
// rotationOfAny elsewhere. 1 for matrices that are zero.
HWY_INLINE M3 polarRotation(const M3& f) {
  const V norm2 = product(f, f);
  const auto none = hn::Not(hn::Gt(norm2, number(1e-280)));
  // So that a rotation times a number becomes a rotation.
  const V scale = hn::Sqrt(hn::Div(number(3), hn::IfThenElse(none, number(3), norm2)));
  const M3 start = select(none, identity(), f * scale);
  const auto hard = hn::Lt(determinant(start), number(0.02));
  M3 x = select(hard, identity(), start);
  auto open = hn::Not(hard);
  constexpr int kMost = 24;
  for (int k = 0; k < kMost; ++k) {
    const M3 cofactor = cofactors(x);
    const M3 next = (x + cofactor * hn::Div(number(1), dot(x.a, cofactor.a))) * number(0.5);
    const M3 change = next - x;
    x = select(open, next, x);
    // Convergence is quadratic: what is left is half the square of the change.
    open = hn::And(open, hn::Gt(product(change, change), number(1e-16)));
    if (hn::AllFalse(D(), open)) break;
  }
  if (!hn::AllFalse(D(), hard)) x = select(hard, rotationOfAny(start), x);
  return x;
}

}  // namespace sunder::fem::kernels::solid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
