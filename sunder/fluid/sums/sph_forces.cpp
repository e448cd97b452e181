#include "sunder/fluid/sums/sph_forces.h"

#include "sunder/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/fluid/sums/sph_forces.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

// clang-format off: has to come after the loop over targets
#include "sunder/fluid/sums/pair_lanes_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sunder::fluid::kernels::HWY_NAMESPACE {

void Smoothing(const PairSums& s, size_t begin, size_t end, const float* strength, const float* density,
               Vec4f* difference) {
  const Kernel kernel(s.support);
  for (size_t i = begin; i < end; ++i) {
    const V vx = number(s.motion[i].x()), vy = number(s.motion[i].y()), vz = number(s.motion[i].z());
    const V own = number(density[i]), ownStrength = number(strength[i]);
    Sum x, y, z;
    for (const PairBlock& block : s.blocks->of(i))
      for (size_t h = 0, at = 0; h < kHalves; ++h, at += kWide) {
        const Quad v = gatherRows(D(), s.motion.data(), block.index + at);
        const Offset offset = offsetTo(s, i, block.index + at);
        const V both = hn::Add(own, gather(density, block.index + at));
        const V strong = hn::Add(ownStrength, gather(strength, block.index + at));
        const V w = hn::Div(hn::Mul(strong, kernel.value(kernel.fraction(offset.squared))), both);
        x.add(h, hn::Mul(w, hn::Sub(v.x, vx)));
        y.add(h, hn::Mul(w, hn::Sub(v.y, vy)));
        z.add(h, hn::Mul(w, hn::Sub(v.z, vz)));
      }
    difference[i] = s.volume * Vec4f(x.total(), y.total(), z.total(), 0);
  }
}

void Viscosity(const PairSums& s, size_t begin, size_t end, bool central, const float* strength,
               const float* density, Vec4f* out) {
  const V least = number(0.01f * s.support * s.support);
  for (size_t i = begin; i < end; ++i) {
    const V vx = number(s.motion[i].x()), vy = number(s.motion[i].y()), vz = number(s.motion[i].z());
    const V own = number(density[i]), ownStrength = number(strength[i]);
    Sum x, y, z;
    for (const PairBlock& block : s.blocks->of(i))
      for (size_t h = 0, at = 0; h < kHalves; ++h, at += kWide) {
        const Quad v = gatherRows(D(), s.motion.data(), block.index + at);
        const Offset offset = offsetTo(s, i, block.index + at);
        const V ux = hn::Sub(vx, v.x), uy = hn::Sub(vy, v.y), uz = hn::Sub(vz, v.z);
        const V gx = hn::LoadU(D(), block.x + at), gy = hn::LoadU(D(), block.y + at),
                gz = hn::LoadU(D(), block.z + at);
        const V strong = hn::Add(ownStrength, gather(strength, block.index + at));
        const V both = hn::Add(own, gather(density, block.index + at));
        const V scale = hn::Div(strong, hn::Mul(both, hn::Add(offset.squared, least)));
        if (central) {
          const V part = hn::Mul(scale, dot(ux, uy, uz, offset.x, offset.y, offset.z));
          x.add(h, hn::Mul(part, gx));
          y.add(h, hn::Mul(part, gy));
          z.add(h, hn::Mul(part, gz));
        } else {
          const V part = hn::Mul(scale, dot(gx, gy, gz, offset.x, offset.y, offset.z));
          x.add(h, hn::Mul(part, ux));
          y.add(h, hn::Mul(part, uy));
          z.add(h, hn::Mul(part, uz));
        }
      }
    out[i] = Vec4f(x.total(), y.total(), z.total(), 0);
  }
}

void Tension(const PairSums& s, size_t begin, size_t end, float mass, const float* strength,
             const float* density, const Vec4f* normal, Vec4f* velocity) {
  const V r = number(s.support), half = number(0.5f * s.support), zero = hn::Zero(D());
  const float r3 = s.support * s.support * s.support;
  const V scale = number(mass * float(32 / kPi) / (r3 * r3 * r3)), shift = number(r3 * r3 / 64);
  const V least = number(1e-6f * s.support);
  for (size_t i = begin; i < end; ++i) {
    const V own = number(density[i]), ownStrength = number(strength[i]);
    const V nx = number(normal[i].x()), ny = number(normal[i].y()), nz = number(normal[i].z());
    Sum x, y, z;
    for (const PairBlock& block : s.blocks->of(i))
      for (size_t h = 0, at = 0; h < kHalves; ++h, at += kWide) {
        const Offset offset = offsetTo(s, i, block.index + at);
        const Quad n = gatherRows(D(), normal, block.index + at);
        const V distance = hn::Sqrt(offset.squared), left = hn::Max(hn::Sub(r, distance), zero);
        const V product = hn::Mul(left, distance), cube = hn::Mul(hn::Mul(product, product), product);
        const V near = hn::Sub(hn::Add(cube, cube), shift);
        const V cohesion = hn::Div(hn::Mul(scale, hn::IfThenElse(hn::Le(distance, half), near, cube)),
                                   hn::Max(distance, least));
        const V strong = hn::Add(ownStrength, gather(strength, block.index + at));
        const V factor = hn::Div(strong, hn::Add(own, gather(density, block.index + at)));
        x.add(h, hn::Mul(factor, hn::Add(hn::Mul(cohesion, offset.x), hn::Mul(r, hn::Sub(nx, n.x)))));
        y.add(h, hn::Mul(factor, hn::Add(hn::Mul(cohesion, offset.y), hn::Mul(r, hn::Sub(ny, n.y)))));
        z.add(h, hn::Mul(factor, hn::Add(hn::Mul(cohesion, offset.z), hn::Mul(r, hn::Sub(nz, n.z)))));
      }
    velocity[i] = -Vec4f(x.total(), y.total(), z.total(), 0);
  }
}

}  // namespace sunder::fluid::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::fluid {

namespace kernels {
namespace {
HWY_EXPORT(Smoothing);
HWY_EXPORT(Viscosity);
HWY_EXPORT(Tension);

void smoothing(const PairSums& s, size_t begin, size_t end, const float* strength, const float* density,
               Vec4f* out) {
  HWY_DYNAMIC_DISPATCH(Smoothing)(s, begin, end, strength, density, out);
}
void viscosity(const PairSums& s, size_t begin, size_t end, bool central, const float* strength,
               const float* density, Vec4f* out) {
  HWY_DYNAMIC_DISPATCH(Viscosity)(s, begin, end, central, strength, density, out);
}
void tension(const PairSums& s, size_t begin, size_t end, float mass, const float* strength,
             const float* density, const Vec4f* normal, Vec4f* out) {
  HWY_DYNAMIC_DISPATCH(Tension)(s, begin, end, mass, strength, density, normal, out);
}
}  // namespace
}  // namespace kernels

namespace {
constexpr size_t kGrain = 1024;
}

void sumSmoothing(const PairSums& pairs, std::span<const float> strength, std::span<const float> density,
                  std::span<Vec4f> difference) {
  parallelBlocks(pairs.place.size(), kGrain, [&](size_t begin, size_t end) {
    kernels::smoothing(pairs, begin, end, strength.data(), density.data(), difference.data());
  });
}

void sumViscosity(const PairSums& pairs, ViscousForces forces, std::span<const float> strength,
                  std::span<const float> density, std::span<Vec4f> sum) {
  parallelBlocks(pairs.place.size(), kGrain, [&](size_t begin, size_t end) {
    kernels::viscosity(pairs, begin, end, forces == ViscousForces::Central, strength.data(), density.data(),
                       sum.data());
  });
}

void sumTension(const PairSums& pairs, float mass, std::span<const float> strength,
                std::span<const float> density, std::span<const Vec4f> gradient, std::span<Vec4f> velocity) {
  parallelBlocks(pairs.place.size(), kGrain, [&](size_t begin, size_t end) {
    kernels::tension(pairs, begin, end, mass, strength.data(), density.data(), gradient.data(),
                     velocity.data());
  });
}

}  // namespace sunder::fluid
#endif
