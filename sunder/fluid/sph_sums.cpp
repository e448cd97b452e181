#include "sunder/fluid/sph_sums.h"

#include "sunder/base/parallel.h"
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

// From the particle's neighbours, or from itself, to the particle; lanes beyond the row hold the particle.
struct Pair {
  V x, y, z;    // x_i - x_j
  V stiffness;  // of j
  V distance2;
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

// add(half, pair, index, lanes) for all neighbours of particle i, eight at a time; `lanes` of them are
// neighbours.
template <class Add>
HWY_INLINE void forNeighbours(const PairSums& s, size_t i, const Add& add) {
  const std::span<const uint32_t> row = s.rows->row(i);
  const V xi = number(s.place[i].x()), yi = number(s.place[i].y()), zi = number(s.place[i].z());
  alignas(32) uint32_t last[8];
  for (size_t k = 0; k < row.size(); k += 8) {
    const uint32_t* index = row.data() + k;
    const size_t lanes = std::min<size_t>(8, row.size() - k);
    if (lanes < 8) {
      for (size_t l = 0; l < 8; ++l) last[l] = l < lanes ? index[l] : uint32_t(i);
      index = last;
    }
    for (size_t h = 0; h < kHalves; ++h) {
      const Quad p = gatherRows(D(), s.place.data(), index + h * kWide);
      Pair pair{hn::Sub(xi, p.x), hn::Sub(yi, p.y), hn::Sub(zi, p.z), p.w, hn::Zero(D())};
      pair.distance2 =
          hn::Add(hn::Add(hn::Mul(pair.x, pair.x), hn::Mul(pair.y, pair.y)), hn::Mul(pair.z, pair.z));
      add(h, pair, index + h * kWide, lanes > h * kWide ? lanes - h * kWide : 0);
    }
  }
}

void Density(const PairSums& s, size_t begin, size_t end, Vec4f* density, float* squares) {
  const Kernel kernel(s.support);
  for (size_t i = begin; i < end; ++i) {
    Sum w, x, y, z, square;
    forNeighbours(s, i, [&](size_t h, const Pair& p, const uint32_t* index, size_t lanes) HWY_ATTR {
      const V q = kernel.fraction(p.distance2), g = kernel.factor(q);
      const V lightness = gatherRows(D(), s.motion.data(), index).w;
      w.add(h, hn::IfThenElseZero(hn::FirstN(D(), lanes), kernel.value(q)));
      x.add(h, hn::Mul(g, p.x));
      y.add(h, hn::Mul(g, p.y));
      z.add(h, hn::Mul(g, p.z));
      square.add(h, hn::Mul(hn::Mul(lightness, hn::Mul(g, g)), p.distance2));
    });
    density[i] = s.volume * Vec4f(x.total(), y.total(), z.total(), w.total() + kernel.atZero());
    squares[i] = s.volume * s.volume * square.total();
  }
}

void Rate(const PairSums& s, size_t begin, size_t end, float* rate) {
  const Kernel kernel(s.support);
  for (size_t i = begin; i < end; ++i) {
    const V vx = number(s.motion[i].x()), vy = number(s.motion[i].y()), vz = number(s.motion[i].z());
    Sum sum;
    forNeighbours(s, i, [&](size_t h, const Pair& p, const uint32_t* index, size_t) HWY_ATTR {
      const V g = kernel.factor(kernel.fraction(p.distance2));
      const Quad v = gatherRows(D(), s.motion.data(), index);
      const V along = hn::Add(hn::Add(hn::Mul(hn::Sub(vx, v.x), p.x), hn::Mul(hn::Sub(vy, v.y), p.y)),
                              hn::Mul(hn::Sub(vz, v.z), p.z));
      sum.add(h, hn::Mul(g, along));
    });
    rate[i] = s.volume * sum.total();
  }
}

void Pressure(const PairSums& s, size_t begin, size_t end, Vec4f* gradient) {
  const Kernel kernel(s.support);
  for (size_t i = begin; i < end; ++i) {
    const V own = number(s.place[i].w());
    Sum x, y, z;
    forNeighbours(s, i, [&](size_t h, const Pair& p, const uint32_t*, size_t) HWY_ATTR {
      const V g = hn::Mul(kernel.factor(kernel.fraction(p.distance2)), hn::Add(own, p.stiffness));
      x.add(h, hn::Mul(g, p.x));
      y.add(h, hn::Mul(g, p.y));
      z.add(h, hn::Mul(g, p.z));
    });
    gradient[i] = s.volume * Vec4f(x.total(), y.total(), z.total(), 0);
  }
}

void Smoothing(const PairSums& s, size_t begin, size_t end, const float* density, Vec4f* difference) {
  const Kernel kernel(s.support);
  for (size_t i = begin; i < end; ++i) {
    const V vx = number(s.motion[i].x()), vy = number(s.motion[i].y()), vz = number(s.motion[i].z());
    const V own = number(density[i]);
    Sum x, y, z;
    forNeighbours(s, i, [&](size_t h, const Pair& p, const uint32_t* index, size_t) HWY_ATTR {
      alignas(32) float other[kWide];
      for (size_t l = 0; l < kWide; ++l) other[l] = density[index[l]];
      const Quad v = gatherRows(D(), s.motion.data(), index);
      const V both = hn::Add(own, hn::Load(D(), other));
      const V w = hn::Div(hn::Mul(number(2), kernel.value(kernel.fraction(p.distance2))), both);
      x.add(h, hn::Mul(w, hn::Sub(v.x, vx)));
      y.add(h, hn::Mul(w, hn::Sub(v.y, vy)));
      z.add(h, hn::Mul(w, hn::Sub(v.z, vz)));
    });
    difference[i] = s.volume * Vec4f(x.total(), y.total(), z.total(), 0);
  }
}

void Viscosity(const PairSums& s, size_t begin, size_t end, Vec4f* out) {
  const Kernel kernel(s.support);
  const V least = number(0.01f * s.support * s.support);
  for (size_t i = begin; i < end; ++i) {
    const V vx = number(s.motion[i].x()), vy = number(s.motion[i].y()), vz = number(s.motion[i].z());
    Sum x, y, z;
    forNeighbours(s, i, [&](size_t h, const Pair& p, const uint32_t* index, size_t) HWY_ATTR {
      const Quad v = gatherRows(D(), s.motion.data(), index);
      const V along = hn::Add(hn::Add(hn::Mul(hn::Sub(vx, v.x), p.x), hn::Mul(hn::Sub(vy, v.y), p.y)),
                              hn::Mul(hn::Sub(vz, v.z), p.z));
      const V g =
          hn::Mul(kernel.factor(kernel.fraction(p.distance2)), hn::Div(along, hn::Add(p.distance2, least)));
      x.add(h, hn::Mul(g, p.x));
      y.add(h, hn::Mul(g, p.y));
      z.add(h, hn::Mul(g, p.z));
    });
    out[i] = s.volume * Vec4f(x.total(), y.total(), z.total(), 0);
  }
}

}  // namespace sunder::fluid::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::fluid {

namespace kernels {
namespace {
HWY_EXPORT(Density);
HWY_EXPORT(Rate);
HWY_EXPORT(Pressure);
HWY_EXPORT(Smoothing);
HWY_EXPORT(Viscosity);

void density(const PairSums& s, size_t begin, size_t end, Vec4f* out, float* squares) {
  HWY_DYNAMIC_DISPATCH(Density)(s, begin, end, out, squares);
}
void rate(const PairSums& s, size_t begin, size_t end, float* out) {
  HWY_DYNAMIC_DISPATCH(Rate)(s, begin, end, out);
}
void pressure(const PairSums& s, size_t begin, size_t end, Vec4f* out) {
  HWY_DYNAMIC_DISPATCH(Pressure)(s, begin, end, out);
}
void smoothing(const PairSums& s, size_t begin, size_t end, const float* density, Vec4f* out) {
  HWY_DYNAMIC_DISPATCH(Smoothing)(s, begin, end, density, out);
}
void viscosity(const PairSums& s, size_t begin, size_t end, Vec4f* out) {
  HWY_DYNAMIC_DISPATCH(Viscosity)(s, begin, end, out);
}
}  // namespace
}  // namespace kernels

namespace {
constexpr size_t kGrain = 1024;
}

void sumDensity(const PairSums& pairs, std::span<Vec4f> density, std::span<float> squares) {
  parallelBlocks(pairs.place.size(), kGrain, [&](size_t begin, size_t end) {
    kernels::density(pairs, begin, end, density.data(), squares.data());
  });
}

void sumRate(const PairSums& pairs, std::span<float> rate) {
  parallelBlocks(pairs.place.size(), kGrain,
                 [&](size_t begin, size_t end) { kernels::rate(pairs, begin, end, rate.data()); });
}

void sumPressure(const PairSums& pairs, std::span<Vec4f> gradient) {
  parallelBlocks(pairs.place.size(), kGrain,
                 [&](size_t begin, size_t end) { kernels::pressure(pairs, begin, end, gradient.data()); });
}

void sumSmoothing(const PairSums& pairs, std::span<const float> density, std::span<Vec4f> difference) {
  parallelBlocks(pairs.place.size(), kGrain, [&](size_t begin, size_t end) {
    kernels::smoothing(pairs, begin, end, density.data(), difference.data());
  });
}

void sumViscosity(const PairSums& pairs, std::span<Vec4f> sum) {
  parallelBlocks(pairs.place.size(), kGrain,
                 [&](size_t begin, size_t end) { kernels::viscosity(pairs, begin, end, sum.data()); });
}

}  // namespace sunder::fluid
#endif
