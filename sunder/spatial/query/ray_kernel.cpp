#include "sunder/spatial/query/ray_kernel.h"

#include "sunder/spatial/query/float_point.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/spatial/query/ray_kernel.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

// clang-format off: has to come after the loop over targets
#include "sunder/base/lanes_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sunder::spatial::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using lanes::HWY_NAMESPACE::maskBits;
using lanes::HWY_NAMESPACE::prefetch;

using F8 = hn::CappedTag<float, 8>;
using V = hn::Vec<F8>;
constexpr size_t kLanes = hn::MaxLanes(F8());
using V3 = lanes::HWY_NAMESPACE::Lanes3<V>;
constexpr float kLargest = std::numeric_limits<float>::max();

// A ray in float. Planes that it meets first are compared with the origin rounded towards them, planes that
// it meets last with the origin rounded away, so that intervals only grow. Where the inverse of a direction
// overflows, the largest float serves for the near plane and infinity for the far one; zero times infinity
// is not a number, and whatever minimum and maximum make of it, the box is then not excluded by that axis.
struct SlabRay {
  bool down[3];
  float nearOrigin[3], farOrigin[3];
  float nearInverse[3], farInverse[3];
  float tMin, tMax;

  explicit SlabRay(const ScaledRay& ray) {
    for (int k = 0; k < 3; ++k) {
      const double o = ray.origin[k];
      const float lower = floatBelow(o), upper = floatAbove(o);
      down[k] = std::signbit(ray.direction[k]);
      nearOrigin[k] = down[k] ? lower : upper;
      farOrigin[k] = down[k] ? upper : lower;
      const float inverse = saturated(1 / std::abs(ray.direction[k]));
      nearInverse[k] = std::copysign(std::min(inverse, kLargest), down[k] ? -1.0f : 1.0f);
      farInverse[k] = std::copysign(inverse, down[k] ? -1.0f : 1.0f);
    }
    tMin = saturated(ray.tMin * (1 - 0x1p-20));
    limit(ray.tMax);
  }
  void limit(double t) { tMax = saturated(t * (1 + 0x1p-20) + std::numeric_limits<float>::min()); }
};

// Which of eight boxes the ray may meet, and where it enters them.
HWY_INLINE uint32_t slabs(const BoxBlock& block, const SlabRay& ray, float* enter) {
  const F8 d;
  uint32_t bits = 0;
  for (size_t k = 0; k < 8; k += kLanes) {
    const auto nearPlane = [&](int axis) HWY_ATTR {
      const auto plane = hn::Load(d, (ray.down[axis] ? block.upper[axis] : block.lower[axis]) + k);
      return hn::Mul(hn::Sub(plane, hn::Set(d, ray.nearOrigin[axis])), hn::Set(d, ray.nearInverse[axis]));
    };
    const auto farPlane = [&](int axis) HWY_ATTR {
      const auto plane = hn::Load(d, (ray.down[axis] ? block.lower[axis] : block.upper[axis]) + k);
      return hn::Mul(hn::Sub(plane, hn::Set(d, ray.farOrigin[axis])), hn::Set(d, ray.farInverse[axis]));
    };
    const auto in = hn::Max(hn::Max(hn::Max(nearPlane(0), nearPlane(1)), nearPlane(2)), hn::Set(d, ray.tMin));
    const auto out = hn::Min(hn::Min(hn::Min(farPlane(0), farPlane(1)), farPlane(2)), hn::Set(d, ray.tMax));
    // Three roundings on either side; both are positive where the box counts.
    const auto missed = hn::Gt(hn::Mul(in, hn::Set(d, 1 - 0x1p-21f)), hn::Mul(out, hn::Set(d, 1 + 0x1p-21f)));
    bits |= (~maskBits(d, missed) & ((1u << kLanes) - 1)) << k;
    hn::Store(hn::IfThenElse(hn::Gt(in, hn::Zero(d)), in, hn::Zero(d)), d, enter + k);
  }
  return bits;
}

// Which of eight triangles the line may meet: the edge functions det(direction, corner, next corner) do not
// have both signs for sure.
HWY_INLINE uint32_t lineMeets(const TriangleBlock& block, const ScaledRay& ray) {
  const F8 d;
  const float ox = static_cast<float>(ray.origin[0] - block.origin[0]);
  const float oy = static_cast<float>(ray.origin[1] - block.origin[1]);
  const float oz = static_cast<float>(ray.origin[2] - block.origin[2]);
  // Corners are within `reach` of the origin, sides are half of block.reach, coordinates of the direction at
  // most 2: counting the roundings of inputs and formulas gives 160 units (2^-24) of the product for v, less
  // for u and w. 1e-36 is for products that underflow.
  const float reach = block.reach + std::max({std::abs(ox), std::abs(oy), std::abs(oz)});
  if (!(reach < 1e18f)) return 0xff;
  const auto error = hn::Set(d, reach * block.reach * 0x1p-16f + 1e-36f);
  const V3 direction{hn::Set(d, static_cast<float>(ray.direction[0])),
                     hn::Set(d, static_cast<float>(ray.direction[1])),
                     hn::Set(d, static_cast<float>(ray.direction[2]))};
  uint32_t bits = 0;
  for (size_t k = 0; k < 8; k += kLanes) {
    const V3 a{hn::Sub(hn::Load(d, block.a[0] + k), hn::Set(d, ox)),
               hn::Sub(hn::Load(d, block.a[1] + k), hn::Set(d, oy)),
               hn::Sub(hn::Load(d, block.a[2] + k), hn::Set(d, oz))};
    const V3 ab{hn::Load(d, block.ab[0] + k), hn::Load(d, block.ab[1] + k), hn::Load(d, block.ab[2] + k)};
    const V3 ac{hn::Load(d, block.ac[0] + k), hn::Load(d, block.ac[1] + k), hn::Load(d, block.ac[2] + k)};
    // With da = direction x a: det(direction, a, b) = da . ab, det(direction, c, a) = -da . ac, and the third
    // is what is left of det(direction, ab, ac).
    const V3 da = cross(direction, a);
    const auto u = dot(da, ab);
    const auto w = hn::Neg(dot(da, ac));
    const auto v = hn::Sub(hn::Sub(dot(cross(direction, ab), ac), u), w);
    const auto most = hn::Max(hn::Max(u, v), w), least = hn::Min(hn::Min(u, v), w);
    const auto missed = hn::And(hn::Gt(most, error), hn::Lt(least, hn::Neg(error)));
    bits |= (~maskBits(d, missed) & ((1u << kLanes) - 1)) << k;
  }
  return bits;
}

// False to stop.
HWY_INLINE bool visitLeaves(const QueryView& view, const ScaledRay& ray, SlabRay& slab, uint32_t block,
                            RaySink& sink) {
  const OiTree& tree = *view.tree;
  const uint32_t first = block * kBlockLanes;
  const uint32_t count = std::min(kBlockLanes, tree.leafCount() - first);
  alignas(64) float enter[8];
  uint32_t bits = slabs(tree.level(tree.layout().leafLevel())[block], slab, enter) & ((1u << count) - 1);
  if (bits != 0) bits &= lineMeets(view.blocks[block], ray);
  for (; bits; bits &= bits - 1) {
    const double tMax = sink.leaf(first + static_cast<uint32_t>(std::countr_zero(bits)));
    if (tMax < 0) return false;
    slab.limit(tMax);
  }
  return true;
}

void Traverse(const QueryView& view, const ScaledRay& ray, RaySink& sink) {
  const OiTree& tree = *view.tree;
  if (tree.empty()) return;
  SlabRay slab(ray);
  const uint32_t leafLevel = tree.layout().leafLevel();
  if (leafLevel == 0) {
    visitLeaves(view, ray, slab, 0, sink);
    return;
  }
  constexpr size_t kDeepest = 12 * 8;
  uint64_t stack[kDeepest];
  uint8_t levels[kDeepest];
  stack[0] = 0;
  levels[0] = 0;
  size_t top = 1;
  alignas(64) float enter[8];
  while (top > 0) {
    const uint64_t entry = stack[--top];
    if (std::bit_cast<float>(static_cast<uint32_t>(entry >> 32)) * (1 - 0x1p-20f) > slab.tMax) continue;
    const auto position = static_cast<uint32_t>(entry);
    const uint32_t childLevel = levels[top] + 1u;
    if (childLevel == leafLevel) {
      if (!visitLeaves(view, ray, slab, position, sink)) return;
      continue;
    }
    const uint32_t first = position * kBlockLanes;
    const uint32_t count = std::min(kBlockLanes, tree.layout().levelSize(childLevel) - first);
    uint32_t bits = slabs(tree.level(childLevel)[position], slab, enter) & ((1u << count) - 1);
    const size_t bottom = top;
    for (; bits; bits &= bits - 1) {  // nearest on top
      const auto lane = static_cast<uint32_t>(std::countr_zero(bits));
      const uint64_t key = (uint64_t(std::bit_cast<uint32_t>(enter[lane])) << 32) | (first + lane);
      size_t place = top++;
      for (; place > bottom && stack[place - 1] < key; --place) stack[place] = stack[place - 1];
      stack[place] = key;
      prefetch(tree.level(childLevel + 1) + first + lane);
      levels[top - 1] = static_cast<uint8_t>(childLevel);
    }
  }
}

}  // namespace sunder::spatial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::spatial::kernels {

HWY_EXPORT(Traverse);

void traverseRay(const QueryView& view, const ScaledRay& ray, RaySink& sink) {
  HWY_DYNAMIC_DISPATCH(Traverse)(view, ray, sink);
}

}  // namespace sunder::spatial::kernels
#endif
