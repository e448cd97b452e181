#include "sunder/fluid/boundary/map_quadrature_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/fluid/boundary/map_quadrature_kernel.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sunder::fluid::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void IntegrateRow(const LatticeRule& rule, const float* phi, float* out) {
  using F = hn::CappedTag<float, kRow>;
  using V = hn::Vec<F>;
  const F d;
  constexpr size_t kWide = hn::MaxLanes(F()), kParts = kRow / kWide;
  const V top = hn::Set(d, rule.top), zero = hn::Zero(d);
  const int32_t* start = rule.start.data();
  const float* corners = rule.corners.data();
  const float* weights = rule.weights.data();
  const ptrdiff_t row = rule.rowStep, layer = rule.layerStep;
  const size_t count = rule.start.size(), ring = rule.ring;
  V sum[kParts];
  for (V& s : sum) s = zero;
  for (size_t first = 0; first < count; first += ring) {
    V part[kParts];
    for (V& s : part) s = zero;
    for (size_t k = first; k < first + ring; ++k) {
      const float* at = phi + start[k];
      const float* c = corners + 8 * k;
      for (size_t n = 0; n < kParts; ++n, at += kWide) {
        const auto term = [&](size_t corner, ptrdiff_t step)
                              HWY_ATTR { return hn::Mul(hn::Set(d, c[corner]), hn::LoadU(d, at + step)); };
        const V near = hn::Add(hn::Add(term(0, 0), term(1, 1)), hn::Add(term(2, row), term(3, row + 1)));
        const V far = hn::Add(hn::Add(term(4, layer), term(5, layer + 1)),
                              hn::Add(term(6, layer + row), term(7, layer + row + 1)));
        const V profile = hn::Max(hn::Sub(top, hn::Add(near, far)), zero);
        part[n] = hn::Add(part[n], hn::Mul(hn::Set(d, weights[k]), profile));
      }
    }
    for (size_t n = 0; n < kParts; ++n) sum[n] = hn::Add(sum[n], part[n]);
  }
  for (size_t n = 0; n < kParts; ++n) hn::StoreU(sum[n], d, out + n * kWide);
}

}  // namespace sunder::fluid::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::fluid::kernels {

HWY_EXPORT(IntegrateRow);

void integrateRow(const LatticeRule& rule, const float* phi, float* out) {
  HWY_DYNAMIC_DISPATCH(IntegrateRow)(rule, phi, out);
}

}  // namespace sunder::fluid::kernels
#endif
