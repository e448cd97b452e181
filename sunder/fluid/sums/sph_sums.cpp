#include "sunder/fluid/sums/sph_sums.h"

#include "sunder/base/parallel.h"
#include "sunder/base/prefix_sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/fluid/sums/sph_sums.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

// clang-format off: has to come after the loop over targets
#include "sunder/fluid/sums/pair_lanes_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sunder::fluid::kernels::HWY_NAMESPACE {

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
        const Offset offset = offsetTo(s, i, block.index + at);
        const V lightness = gatherRows(D(), s.motion.data(), block.index + at).w;
        const V q = kernel.fraction(offset.squared), g = hn::Mul(volume, kernel.factor(q));
        const V gx = hn::Mul(g, offset.x), gy = hn::Mul(g, offset.y), gz = hn::Mul(g, offset.z);
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
        const Offset offset = offsetTo(s, i, block.index + at);
        const auto other = hn::Ne(hn::LoadU(hn::RebindToUnsigned<D>(), block.index + at), self);
        w.add(h,
              hn::IfThenElseZero(hn::RebindMask(D(), other), kernel.value(kernel.fraction(offset.squared))));
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

}  // namespace sunder::fluid
#endif
