#include "sunder/spatial/ccd/ccd_filter.h"

#include "sunder/spatial/ccd/ccd_certificates.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/spatial/ccd/ccd_filter.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// clang-format off: has to come after the loop over targets
#include "sunder/base/lanes_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sunder::spatial::ccd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, kFilterBlock>;
using V = hn::Vec<D>;

using VV3 = lanes::HWY_NAMESPACE::Lanes3<V>;

HWY_INLINE V largestV(const VV3& a) { return hn::Max(hn::Max(hn::Abs(a.x), hn::Abs(a.y)), hn::Abs(a.z)); }

// See threshold() in ccd_certificates.h.
HWY_INLINE V limitV(const D d, const VV3& n, const VV3& reach, double separation) {
  const V sum = hn::Add(hn::Add(hn::Mul(hn::Abs(n.x), reach.x), hn::Mul(hn::Abs(n.y), reach.y)),
                        hn::Mul(hn::Abs(n.z), reach.z));
  const V error = hn::Add(hn::Mul(hn::Set(d, 8 * kUnit), sum), hn::Set(d, kTiny));
  if (!(separation > 0)) return error;
  const V gap = hn::Mul(hn::Sqrt(dot(n, n)), hn::Set(d, separation * (1 + 16 * kUnit) * (1 + 16 * kUnit)));
  return hn::Add(error, gap);
}

template <int N>
struct Lanes {
  VV3 corner[2 * N];  // start, end, start, ...
  VV3 reach;
};

// All corners at both times beyond the limit on one and the same side of the plane across n.
template <int N>
HWY_INLINE auto beyond(const D d, const Lanes<N>& q, const VV3& n, double separation) {
  V low = dot(n, q.corner[0]), high = low;
  for (int i = 1; i < 2 * N; ++i) {
    const V g = dot(n, q.corner[i]);
    low = hn::Min(low, g);
    high = hn::Max(high, g);
  }
  const V limit = limitV(d, n, q.reach, separation);
  return hn::Or(hn::Gt(low, limit), hn::Lt(high, hn::Neg(limit)));
}

// The cubic of Coplanarity: all Bernstein coefficients on one side.
template <int N>
HWY_INLINE auto neverCoplanar(const D d, const Lanes<N>& q, const VV3 (&side)[4], const VV3 (&normal)[3],
                              double separation) {
  const VV3 &f0 = q.corner[0], &f1 = q.corner[1];
  const V third = hn::Set(d, 1.0 / 3);
  const V b[4] = {dot(normal[0], f0), hn::Mul(third, hn::Add(dot(normal[0], f1), dot(normal[1], f0))),
                  hn::Mul(third, hn::Add(dot(normal[1], f1), dot(normal[2], f0))), dot(normal[2], f1)};
  const V sides =
      hn::Mul(hn::Max(largestV(side[0]), largestV(side[1])), hn::Max(largestV(side[2]), largestV(side[3])));
  const V reach = hn::Max(largestV(f0), largestV(f1));
  V limit = hn::Add(hn::Mul(hn::Set(d, 160 * kUnit), hn::Mul(sides, reach)),
                    hn::Mul(hn::Set(d, kTiny), hn::Add(hn::Set(d, 1.0), hn::Add(reach, sides))));
  if (separation > 0) {
    const V squared = hn::Max(hn::Max(dot(normal[0], normal[0]), dot(normal[2], normal[2])),
                              hn::Mul(hn::Set(d, 0.25), dot(normal[1], normal[1])));
    const V length = hn::Add(hn::Sqrt(squared), hn::Mul(hn::Set(d, 16 * kUnit), sides));
    limit = hn::Add(hn::Add(limit, hn::Mul(hn::Set(d, separation * (1 + 32 * kUnit)), length)),
                    hn::Set(d, kTiny));
  }
  const V low = hn::Min(hn::Min(b[0], b[1]), hn::Min(b[2], b[3]));
  const V high = hn::Max(hn::Max(b[0], b[1]), hn::Max(b[2], b[3]));
  return hn::Or(hn::Gt(low, limit), hn::Lt(high, hn::Neg(limit)));
}

template <int N>
HWY_INLINE void filter(const FilterBlock<N>& block, double separation, uint8_t* HWY_RESTRICT apart) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  for (size_t at = 0; at < kFilterBlock; at += lanes) {
    const auto vector = [&](int row) HWY_ATTR {
      return VV3{hn::Load(d, block.rows[row] + at), hn::Load(d, block.rows[row + 1] + at),
                 hn::Load(d, block.rows[row + 2] + at)};
    };
    Lanes<N> q;
    VV3 low = vector(0), high = low, sum = low, difference = low;
    q.corner[0] = low;
    for (int i = 1; i < 2 * N; ++i) {
      const VV3 f = q.corner[i] = vector(3 * i);
      low = {hn::Min(low.x, f.x), hn::Min(low.y, f.y), hn::Min(low.z, f.z)};
      high = {hn::Max(high.x, f.x), hn::Max(high.y, f.y), hn::Max(high.z, f.z)};
      sum = sum + f;
      if (i % 2 == 0) difference = difference + f;
    }
    q.reach = {hn::Max(hn::Abs(low.x), hn::Abs(high.x)), hn::Max(hn::Abs(low.y), hn::Abs(high.y)),
               hn::Max(hn::Abs(low.z), hn::Abs(high.z))};
    // A coordinate of a corner is one rounded difference.
    const V gap = hn::Set(d, separation * (1 + 8 * kUnit)), back = hn::Neg(gap);
    auto free = hn::Or(hn::Or(hn::Gt(low.x, gap), hn::Gt(low.y, gap)), hn::Gt(low.z, gap));
    free = hn::Or(free, hn::Or(hn::Or(hn::Lt(high.x, back), hn::Lt(high.y, back)), hn::Lt(high.z, back)));
    // The middle of all corners, and of those at the start.
    free = hn::Or(free, beyond(d, q, sum, separation));
    free = hn::Or(free, beyond(d, q, difference, separation));
    if (!hn::AllTrue(d, free)) {
      const VV3 side[4] = {vector(6 * N), vector(6 * N + 3), vector(6 * N + 6), vector(6 * N + 9)};
      const VV3 normal[3] = {cross(side[0], side[2]), cross(side[0], side[3]) + cross(side[1], side[2]),
                             cross(side[1], side[3])};
      free = hn::Or(free, neverCoplanar(d, q, side, normal, separation));
      // Across each side within the polygon's plane, roughly half-way through the step.
      free = hn::Or(free, beyond(d, q, cross(normal[1], side[0] + side[1]), separation));
      free = hn::Or(free, beyond(d, q, cross(normal[1], side[2] + side[3]), separation));
      if constexpr (N == 3) {
        const VV3 a = side[0] + side[1], c = side[2] + side[3];
        free = hn::Or(free, beyond(d, q, cross(normal[1], a - c), separation));
      }
    }
    // Numbers near overflow prove nothing (ccd.h): infinite limits certify nothing, infinite corners must not
    // either.
    free = hn::And(free, hn::Lt(hn::Max(hn::Max(q.reach.x, q.reach.y), q.reach.z), hn::Set(d, 1e100)));
    alignas(64) double flags[kFilterBlock];
    hn::Store(hn::IfThenElseZero(free, hn::Set(d, 1.0)), d, flags);
    for (size_t i = 0; i < lanes; ++i) apart[at + i] = flags[i] != 0;
  }
}

void filterFaces(const FilterBlock<3>& block, double separation, uint8_t* apart) {
  filter(block, separation, apart);
}
void filterEdges(const FilterBlock<4>& block, double separation, uint8_t* apart) {
  filter(block, separation, apart);
}

}  // namespace sunder::spatial::ccd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::spatial::ccd {

HWY_EXPORT(filterFaces);
HWY_EXPORT(filterEdges);

void filterApart(const FilterBlock<3>& block, double separation, uint8_t* apart) {
  HWY_DYNAMIC_DISPATCH(filterFaces)(block, separation, apart);
}
void filterApart(const FilterBlock<4>& block, double separation, uint8_t* apart) {
  HWY_DYNAMIC_DISPATCH(filterEdges)(block, separation, apart);
}

}  // namespace sunder::spatial::ccd
#endif
