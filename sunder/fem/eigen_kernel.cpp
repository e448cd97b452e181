#include "sunder/fem/eigen_kernel.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/fem/eigen_kernel.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sunder::fem::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 4>;
using V = hn::Vec<D>;
constexpr size_t kLanes = hn::MaxLanes(D());
constexpr int kSweeps = 8;

// Lanes are matrices, so every lane has the same bits whatever the width.
struct Lanes {
  V diagonal[3], off[3];  // off: (0,1), (1,2), (2,0)
  V vectors[3][3];        // [column][row]
  V tiny;  // what is smaller off the diagonal is zero, or it would end as slow denormal numbers

  HWY_INLINE V cleared(V value) const { return hn::IfThenElseZero(hn::Gt(hn::Abs(value), tiny), value); }

  // Makes off[e] zero, which stands between p and q; pr and qr are those between them and the third.
  HWY_INLINE void rotate(int p, int q, int e, int pr, int qr) {
    const D d;
    const V zero = hn::Zero(d), one = hn::Set(d, 1.0);
    const V apq = off[e];
    const V half = hn::Mul(hn::Set(d, 0.5), hn::Sub(diagonal[q], diagonal[p]));
    // The smaller root of t^2 + 2 (half / apq) t - 1, without dividing by a small apq.
    const V root = hn::Sqrt(hn::Add(hn::Mul(half, half), hn::Mul(apq, apq)));
    const V size = hn::Add(hn::Abs(half), root);
    const V quotient = hn::Div(hn::IfThenElse(hn::Lt(half, zero), hn::Neg(apq), apq), size);
    const V t = hn::IfThenElse(hn::Eq(size, zero), zero, quotient);
    const V c = hn::Div(one, hn::Sqrt(hn::Add(one, hn::Mul(t, t))));
    const V s = hn::Mul(t, c);
    const V shift = hn::Mul(t, apq);
    diagonal[p] = hn::Sub(diagonal[p], shift);
    diagonal[q] = hn::Add(diagonal[q], shift);
    off[e] = zero;
    const V x = off[pr], y = off[qr];
    off[pr] = cleared(hn::Sub(hn::Mul(c, x), hn::Mul(s, y)));
    off[qr] = cleared(hn::Add(hn::Mul(s, x), hn::Mul(c, y)));
    for (int k = 0; k < 3; ++k) {
      const V u = vectors[p][k], w = vectors[q][k];
      vectors[p][k] = hn::Sub(hn::Mul(c, u), hn::Mul(s, w));
      vectors[q][k] = hn::Add(hn::Mul(s, u), hn::Mul(c, w));
    }
  }

  // The larger of p and q to p.
  HWY_INLINE void order(int p, int q) {
    const auto swap = hn::Lt(diagonal[p], diagonal[q]);
    const V u = diagonal[p], w = diagonal[q];
    diagonal[p] = hn::IfThenElse(swap, w, u);
    diagonal[q] = hn::IfThenElse(swap, u, w);
    for (int k = 0; k < 3; ++k) {
      const V a = vectors[p][k], b = vectors[q][k];
      vectors[p][k] = hn::IfThenElse(swap, b, a);
      vectors[q][k] = hn::IfThenElse(swap, a, b);
    }
  }
};

HWY_ATTR void Jacobi(const Stress* matrices, size_t count, SymmetricEigen* results) {
  const D d;
  alignas(64) double in[6][4], out[12][4];
  for (size_t first = 0; first < count; first += kLanes) {
    const size_t lanes = std::min(kLanes, count - first);
    for (size_t k = 0; k < 6; ++k)
      for (size_t l = 0; l < kLanes; ++l) in[k][l] = matrices[first + std::min(l, lanes - 1)].data()[k];
    Lanes m;
    for (int k = 0; k < 3; ++k) {
      m.diagonal[k] = hn::Load(d, in[k]);
      m.off[k] = hn::Load(d, in[3 + k]);
      for (int r = 0; r < 3; ++r) m.vectors[k][r] = hn::Set(d, k == r ? 1.0 : 0.0);
    }
    V size = hn::Zero(d);
    for (int k = 0; k < 3; ++k) size = hn::Add(size, hn::Add(hn::Abs(m.diagonal[k]), hn::Abs(m.off[k])));
    m.tiny = hn::Mul(size, hn::Set(d, 0x1p-80));
    for (int k = 0; k < 3; ++k) m.off[k] = m.cleared(m.off[k]);
    // Rotations of diagonal matrices change nothing, so a lane does not see how long the others take.
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      const V rest = hn::Add(hn::Abs(m.off[0]), hn::Add(hn::Abs(m.off[1]), hn::Abs(m.off[2])));
      if (hn::AllTrue(d, hn::Eq(rest, hn::Zero(d)))) break;
      m.rotate(0, 1, 0, 2, 1);
      m.rotate(0, 2, 2, 0, 1);
      m.rotate(1, 2, 1, 0, 2);
    }
    m.order(0, 1);
    m.order(0, 2);
    m.order(1, 2);
    for (int k = 0; k < 3; ++k) {
      hn::Store(m.diagonal[k], d, out[k]);
      for (int r = 0; r < 3; ++r) hn::Store(m.vectors[k][r], d, out[3 + 3 * k + r]);
    }
    for (size_t l = 0; l < lanes; ++l) {
      double* values = results[first + l].values.data();
      double* vectors = results[first + l].vectors.data();
      for (size_t k = 0; k < 3; ++k) values[k] = out[k][l] + 0.0;  // no negative zeros
      for (size_t k = 0; k < 9; ++k) vectors[k] = out[3 + k][l] + 0.0;
    }
  }
}

}  // namespace sunder::fem::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::fem::kernels {

HWY_EXPORT(Jacobi);

void jacobi(const Stress* matrices, size_t count, SymmetricEigen* results) {
  HWY_DYNAMIC_DISPATCH(Jacobi)(matrices, count, results);
}

}  // namespace sunder::fem::kernels
#endif
