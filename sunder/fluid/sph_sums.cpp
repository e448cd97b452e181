#include "sunder/fluid/sph_sums.h"

#include "sunder/base/parallel.h"
#include "sunder/base/prefix_sum.h"
#include "sunder/fluid/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/fluid/sph_sums.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sunder::fluid::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 8>;
using V = hn::Vec<D>;
constexpr size_t kWide = hn::MaxLanes(D());  // 8, or 4: then eight neighbours are two halves
constexpr size_t kHalves = 8 / kWide;

HWY_INLINE V number(float value) { return hn::Set(D(), value); }

struct Quad {
  V x, y, z, w;
};
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

// Sums of eight lanes.
struct Sum {
  V part[kHalves];
  HWY_INLINE Sum() {
    for (V& p : part) p = hn::Zero(D());
  }
  HWY_INLINE void add(size_t half, V value) { part[half] = hn::Add(part[half], value); }
  HWY_INLINE float total() const {
    alignas(32) float lane[8];
    for (size_t h = 0; h < kHalves; ++h) hn::StoreU(part[h], D(), lane + h * kWide);
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
  }
};

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

HWY_INLINE V dot(V ax, V ay, V az, V bx, V by, V bz) {
  return hn::Add(hn::Add(hn::Mul(ax, bx), hn::Mul(ay, by)), hn::Mul(az, bz));
}

// Of lanes from particle j to particle i.
struct Way {
  V x, y, z, squared;
};
// Rounding is odd, so both of a pair see the same way.
HWY_INLINE V nearestImage(V way, float period) {
  if (!(period > 0)) return way;
  return hn::Sub(way, hn::Mul(number(period), hn::Round(hn::Mul(way, number(1 / period)))));
}
HWY_INLINE Way wayTo(const PairSums& s, size_t i, const uint32_t* index) {
  const Vec4f& to = s.place[i];
  const Quad p = gatherRows(D(), s.place.data(), index);
  Way w{nearestImage(hn::Sub(number(to.x()), p.x), s.period.x()),
        nearestImage(hn::Sub(number(to.y()), p.y), s.period.y()),
        nearestImage(hn::Sub(number(to.z()), p.z), s.period.z()),
        {}};
  w.squared = dot(w.x, w.y, w.z, w.x, w.y, w.z);
  return w;
}

void Density(const PairSums& s, const spatial::NeighbourRows& rows, PairBlocks& blocks, size_t begin,
             size_t end, Vec4f* density, float* squares) {
  const Kernel kernel(s.support);
  const V volume = number(s.volume);
  for (size_t i = begin; i < end; ++i) {
    const std::span<const uint32_t> row = rows.row(i);
    const std::span<PairBlock> own = blocks.of(i);
    Sum w, x, y, z, square;
    for (size_t k = 0; k < own.size(); ++k) {
      PairBlock& block = own[k];
      const size_t lanes = std::min<size_t>(8, row.size() - 8 * k);
      for (size_t l = 0; l < 8; ++l) block.index[l] = l < lanes ? row[8 * k + l] : uint32_t(i);
      for (size_t h = 0, at = 0; h < kHalves; ++h, at += kWide) {
        const Way way = wayTo(s, i, block.index + at);
        const V lightness = gatherRows(D(), s.motion.data(), block.index + at).w;
        const V q = kernel.fraction(way.squared), g = hn::Mul(volume, kernel.factor(q));
        const V gx = hn::Mul(g, way.x), gy = hn::Mul(g, way.y), gz = hn::Mul(g, way.z);
        hn::StoreU(gx, D(), block.x + at);
        hn::StoreU(gy, D(), block.y + at);
        hn::StoreU(gz, D(), block.z + at);
        const auto real = hn::FirstN(D(), lanes > at ? lanes - at : 0);
        w.add(h, hn::IfThenElseZero(real, kernel.value(q)));
        x.add(h, gx);
        y.add(h, gy);
        z.add(h, gz);
        square.add(h, hn::Mul(lightness, dot(gx, gy, gz, gx, gy, gz)));
      }
    }
    density[i] = Vec4f(x.total(), y.total(), z.total(), s.volume * (w.total() + kernel.atZero()));
    squares[i] = square.total();
  }
}

void Values(const PairSums& s, size_t begin, size_t end, float* density) {
  const Kernel kernel(s.support);
  for (size_t i = begin; i < end; ++i) {
    const auto self = hn::Set(hn::RebindToUnsigned<D>(), uint32_t(i));
    Sum w;
    for (const PairBlock& block : s.blocks->of(i))
      for (size_t h = 0, at = 0; h < kHalves; ++h, at += kWide) {
        const Way way = wayTo(s, i, block.index + at);
        const auto other = hn::Ne(hn::LoadU(hn::RebindToUnsigned<D>(), block.index + at), self);
        w.add(h, hn::IfThenElseZero(hn::RebindMask(D(), other), kernel.value(kernel.fraction(way.squared))));
      }
    density[i] = s.volume * (w.total() + kernel.atZero());
  }
}

void Rate(const PairSums& s, size_t begin, size_t end, float* rate) {
  for (size_t i = begin; i < end; ++i) {
    const V vx = number(s.motion[i].x()), vy = number(s.motion[i].y()), vz = number(s.motion[i].z());
    Sum sum;
    for (const PairBlock& block : s.blocks->of(i))
      for (size_t h = 0, at = 0; h < kHalves; ++h, at += kWide) {
        const Quad v = gatherRows(D(), s.motion.data(), block.index + at);
        sum.add(h, dot(hn::Sub(vx, v.x), hn::Sub(vy, v.y), hn::Sub(vz, v.z), hn::LoadU(D(), block.x + at),
                       hn::LoadU(D(), block.y + at), hn::LoadU(D(), block.z + at)));
      }
    rate[i] = sum.total();
  }
}

void Pressure(const PairSums& s, size_t begin, size_t end, const float* stiffness, Vec4f* gradient) {
  for (size_t i = begin; i < end; ++i) {
    const V own = number(stiffness[i]);
    Sum x, y, z;
    for (const PairBlock& block : s.blocks->of(i))
      for (size_t h = 0, at = 0; h < kHalves; ++h, at += kWide) {
        const V both = hn::Add(own, gather(stiffness, block.index + at));
        x.add(h, hn::Mul(both, hn::LoadU(D(), block.x + at)));
        y.add(h, hn::Mul(both, hn::LoadU(D(), block.y + at)));
        z.add(h, hn::Mul(both, hn::LoadU(D(), block.z + at)));
      }
    gradient[i] = Vec4f(x.total(), y.total(), z.total(), 0);
  }
}

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
        const Way way = wayTo(s, i, block.index + at);
        const V both = hn::Add(own, gather(density, block.index + at));
        const V strong = hn::Add(ownStrength, gather(strength, block.index + at));
        const V w = hn::Div(hn::Mul(strong, kernel.value(kernel.fraction(way.squared))), both);
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
        const Way way = wayTo(s, i, block.index + at);
        const V ux = hn::Sub(vx, v.x), uy = hn::Sub(vy, v.y), uz = hn::Sub(vz, v.z);
        const V gx = hn::LoadU(D(), block.x + at), gy = hn::LoadU(D(), block.y + at),
                gz = hn::LoadU(D(), block.z + at);
        const V strong = hn::Add(ownStrength, gather(strength, block.index + at));
        const V both = hn::Add(own, gather(density, block.index + at));
        const V scale = hn::Div(strong, hn::Mul(both, hn::Add(way.squared, least)));
        if (central) {
          const V part = hn::Mul(scale, dot(ux, uy, uz, way.x, way.y, way.z));
          x.add(h, hn::Mul(part, gx));
          y.add(h, hn::Mul(part, gy));
          z.add(h, hn::Mul(part, gz));
        } else {
          const V part = hn::Mul(scale, dot(gx, gy, gz, way.x, way.y, way.z));
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
        const Way way = wayTo(s, i, block.index + at);
        const Quad n = gatherRows(D(), normal, block.index + at);
        const V distance = hn::Sqrt(way.squared), left = hn::Max(hn::Sub(r, distance), zero);
        const V product = hn::Mul(left, distance), cube = hn::Mul(hn::Mul(product, product), product);
        const V near = hn::Sub(hn::Add(cube, cube), shift);
        const V cohesion = hn::Div(hn::Mul(scale, hn::IfThenElse(hn::Le(distance, half), near, cube)),
                                   hn::Max(distance, least));
        const V strong = hn::Add(ownStrength, gather(strength, block.index + at));
        const V factor = hn::Div(strong, hn::Add(own, gather(density, block.index + at)));
        x.add(h, hn::Mul(factor, hn::Add(hn::Mul(cohesion, way.x), hn::Mul(r, hn::Sub(nx, n.x)))));
        y.add(h, hn::Mul(factor, hn::Add(hn::Mul(cohesion, way.y), hn::Mul(r, hn::Sub(ny, n.y)))));
        z.add(h, hn::Mul(factor, hn::Add(hn::Mul(cohesion, way.z), hn::Mul(r, hn::Sub(nz, n.z)))));
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
HWY_EXPORT(Density);
HWY_EXPORT(Values);
HWY_EXPORT(Rate);
HWY_EXPORT(Pressure);
HWY_EXPORT(Smoothing);
HWY_EXPORT(Viscosity);
HWY_EXPORT(Tension);

void density(const PairSums& s, const spatial::NeighbourRows& rows, PairBlocks& blocks, size_t begin,
             size_t end, Vec4f* out, float* squares) {
  HWY_DYNAMIC_DISPATCH(Density)(s, rows, blocks, begin, end, out, squares);
}
void values(const PairSums& s, size_t begin, size_t end, float* out) {
  HWY_DYNAMIC_DISPATCH(Values)(s, begin, end, out);
}
void rate(const PairSums& s, size_t begin, size_t end, float* out) {
  HWY_DYNAMIC_DISPATCH(Rate)(s, begin, end, out);
}
void pressure(const PairSums& s, size_t begin, size_t end, const float* stiffness, Vec4f* out) {
  HWY_DYNAMIC_DISPATCH(Pressure)(s, begin, end, stiffness, out);
}
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

void PairBlocks::reserve(const spatial::NeighbourRows& rows) {
  start_.resize(rows.size() + 1);
  parallelFor(rows.size(), [&](size_t i) { start_[i] = (rows.row(i).size() + 7) / 8; });
  start_[rows.size()] = 0;
  exclusiveScan(start_);
  blocks_.reserve(start_[rows.size()]);
}

void sumDensity(const PairSums& pairs, const spatial::NeighbourRows& rows, PairBlocks& blocks,
                std::span<Vec4f> density, std::span<float> squares) {
  blocks.reserve(rows);
  parallelBlocks(pairs.place.size(), kGrain, [&](size_t begin, size_t end) {
    kernels::density(pairs, rows, blocks, begin, end, density.data(), squares.data());
  });
}

void sumValues(const PairSums& pairs, std::span<float> density) {
  parallelBlocks(pairs.place.size(), kGrain,
                 [&](size_t begin, size_t end) { kernels::values(pairs, begin, end, density.data()); });
}

void sumRate(const PairSums& pairs, std::span<float> rate) {
  parallelBlocks(pairs.place.size(), kGrain,
                 [&](size_t begin, size_t end) { kernels::rate(pairs, begin, end, rate.data()); });
}

void sumPressure(const PairSums& pairs, std::span<const float> stiffness, std::span<Vec4f> gradient) {
  parallelBlocks(pairs.place.size(), kGrain, [&](size_t begin, size_t end) {
    kernels::pressure(pairs, begin, end, stiffness.data(), gradient.data());
  });
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
