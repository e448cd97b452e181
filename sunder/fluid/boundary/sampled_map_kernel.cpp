#include "sunder/fluid/boundary/sampled_map_kernel.h"

#include "sunder/fluid/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/fluid/boundary/sampled_map_kernel.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

// clang-format off: has to come after the loop over targets
#include "sunder/base/lanes_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sunder::fluid::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using lanes::HWY_NAMESPACE::dot;

using D = hn::CappedTag<float, 8>;
using V = hn::Vec<D>;
using Sum = lanes::HWY_NAMESPACE::SumOfEight<D>;

Vec4f SumRuns(const ParticleRuns& s, const Vec4f& point, const ParticleRun* runs, size_t count) {
  const auto number = [](float value) { return hn::Set(D(), value); };
  const float sigma = float(CubicKernel(double(s.support)).sigma);
  const V px = number(point.x()), py = number(point.y()), pz = number(point.z());
  const V perSupport = number(1 / s.support), slope = number(-6 * sigma / (s.support * s.support));
  const V zero = hn::Zero(D()), half = number(0.5f), one = number(1);
  Sum sum[4];
  for (size_t r = 0; r < count; ++r)
    for (uint32_t k = runs[r].begin; k < runs[r].end; k += 8)
      for (size_t h = 0; h < Sum::kParts; ++h) {
        const uint32_t at = k + uint32_t(h * Sum::kWide);
        const auto real = hn::FirstN(D(), runs[r].end > at ? runs[r].end - at : 0);
        const V volume = hn::IfThenElseZero(real, hn::LoadU(D(), s.volume + at));
        const V x = hn::Sub(px, hn::LoadU(D(), s.x + at)), y = hn::Sub(py, hn::LoadU(D(), s.y + at)),
                z = hn::Sub(pz, hn::LoadU(D(), s.z + at));
        const V squared = dot(x, y, z, x, y, z);
        const V q = hn::Mul(hn::Sqrt(squared), perSupport);
        const V u = hn::Max(hn::Sub(one, q), zero), w = hn::Max(hn::Sub(half, q), zero);
        const V uu = hn::Mul(u, u);
        const V value = hn::Sub(hn::Mul(uu, u), hn::Mul(number(4), hn::Mul(hn::Mul(w, w), w)));
        const V outer = hn::Div(uu, hn::Max(q, half)), inner = hn::Sub(number(2), hn::Mul(number(3), q));
        const V factor = hn::Mul(volume, hn::Mul(slope, hn::IfThenElse(hn::Le(q, half), inner, outer)));
        sum[0].add(h, hn::Mul(factor, x));
        sum[1].add(h, hn::Mul(factor, y));
        sum[2].add(h, hn::Mul(factor, z));
        sum[3].add(h, hn::Mul(volume, value));
      }
  Vec4f out;
  for (int c = 0; c < 4; ++c) out[c] = sum[c].total();
  out[3] *= 2 * sigma;
  return out;
}

}  // namespace sunder::fluid::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::fluid::kernels {

HWY_EXPORT(SumRuns);

Vec4f sumRuns(const ParticleRuns& particles, const Vec4f& point, const ParticleRun* runs, size_t count) {
  return HWY_DYNAMIC_DISPATCH(SumRuns)(particles, point, runs, count);
}

}  // namespace sunder::fluid::kernels
#endif
