// Eight neighbours at a time, in vector form: what the sums of sph_sums.cpp and sph_forces.cpp share. Read
// once for each vector target, after hwy/foreach_target.h.
#if defined(SUNDER_FLUID_PAIR_LANES_INL) == defined(HWY_TARGET_TOGGLE)  // once a target
#ifdef SUNDER_FLUID_PAIR_LANES_INL
#undef SUNDER_FLUID_PAIR_LANES_INL
#else
#define SUNDER_FLUID_PAIR_LANES_INL
#endif

#include "sunder/base/lanes_inl.h"
#include "sunder/fluid/kernel.h"
#include "sunder/fluid/sums/sph_sums.h"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sunder::fluid::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 8>;
using V = hn::Vec<D>;
constexpr size_t kWide = hn::MaxLanes(D());  // 8, or 4: then eight neighbours are two halves
constexpr size_t kHalves = 8 / kWide;

HWY_INLINE V number(float value) { return hn::Set(D(), value); }

using Quad = lanes::HWY_NAMESPACE::Lanes4<V>;
// Rows of four floats, one for each lane, transposed.
template <class Wide>
HWY_INLINE Quad gatherRows(Wide d, const Vec4f* rows, const uint32_t* index) {
  const auto at = [&](size_t lane) { return rows[index[lane]].data(); };
  V r[4];
  for (size_t k = 0; k < 4; ++k) {
    if constexpr (kWide == 8)
      r[k] = hn::Combine(d, hn::LoadU(hn::Half<Wide>(), at(k + 4)), hn::LoadU(hn::Half<Wide>(), at(k)));
    else
      r[k] = hn::LoadU(d, at(k));
  }
  const V low02 = hn::InterleaveLower(d, r[0], r[2]), low13 = hn::InterleaveLower(d, r[1], r[3]);
  const V high02 = hn::InterleaveUpper(d, r[0], r[2]), high13 = hn::InterleaveUpper(d, r[1], r[3]);
  return {hn::InterleaveLower(d, low02, low13), hn::InterleaveUpper(d, low02, low13),
          hn::InterleaveLower(d, high02, high13), hn::InterleaveUpper(d, high02, high13)};
}

HWY_INLINE V gather(const float* values, const uint32_t* index) {
  const hn::RebindToSigned<D> d;
  return hn::GatherIndex(D(), values, hn::LoadU(d, reinterpret_cast<const int32_t*>(index)));
}

using Sum = lanes::HWY_NAMESPACE::SumOfEight<D>;

class Kernel {
 public:
  explicit Kernel(float support)
      : perSupport_(1 / support),
        sigma_(float(CubicKernel(double(support)).sigma)),
        slope_(-6 * sigma_ / (support * support)) {}

  HWY_INLINE V fraction(V distance2) const { return hn::Mul(hn::Sqrt(distance2), number(perSupport_)); }
  HWY_INLINE V value(V q) const {
    const V zero = hn::Zero(D());
    const V u = hn::Max(hn::Sub(number(1), q), zero), w = hn::Max(hn::Sub(number(0.5f), q), zero);
    const V inner = hn::Mul(hn::Mul(w, w), w), outer = hn::Mul(hn::Mul(u, u), u);
    return hn::Mul(number(2 * sigma_), hn::Sub(outer, hn::Mul(number(4), inner)));
  }
  // Times x_i - x_j it is the gradient.
  HWY_INLINE V factor(V q) const {
    const V half = number(0.5f), u = hn::Max(hn::Sub(number(1), q), hn::Zero(D()));
    const V outer = hn::Div(hn::Mul(u, u), hn::Max(q, half));
    const V inner = hn::Sub(number(2), hn::Mul(number(3), q));
    return hn::Mul(number(slope_), hn::IfThenElse(hn::Le(q, half), inner, outer));
  }
  float atZero() const { return sigma_; }

 private:
  float perSupport_, sigma_, slope_;
};

using lanes::HWY_NAMESPACE::dot;

// Of lanes from particle j to particle i.
struct Offset {
  V x, y, z, squared;
};
// Rounding is odd, so both of a pair see the same offset.
HWY_INLINE V nearestImage(V offset, float period) {
  if (!(period > 0)) return offset;
  return hn::Sub(offset, hn::Mul(number(period), hn::Round(hn::Mul(offset, number(1 / period)))));
}
HWY_INLINE Offset offsetTo(const PairSums& s, size_t i, const uint32_t* index) {
  const Vec4f& to = s.place[i];
  const Quad p = gatherRows(D(), s.place.data(), index);
  Offset w{nearestImage(hn::Sub(number(to.x()), p.x), s.period.x()),
           nearestImage(hn::Sub(number(to.y()), p.y), s.period.y()),
           nearestImage(hn::Sub(number(to.z()), p.z), s.period.z()),
           {}};
  w.squared = dot(w.x, w.y, w.z, w.x, w.y, w.z);
  return w;
}

}  // namespace sunder::fluid::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
