// The kernel and its gradient by formula and by look-up tables (specification 10, B.3): 1,000 samples with
// linear interpolation, as the source has them. Nanoseconds a pair, eight pairs at a time, one thread;
// distances are read from a block that stays in the nearest cache. The formula is what the fluid uses.
#include "sunder/base/random.h"
#include "sunder/fluid/kernel.h"

#include "bench.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/fluid_kernel_bench.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sunder::bench::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 8>;

// Both as factors of sigma and of sigma / r^2, for a support of one.
float Polynomial(const float* squared, size_t count) {
  const D d;
  const auto zero = hn::Zero(d), half = hn::Set(d, 0.5f), one = hn::Set(d, 1.0f);
  auto sum = zero;
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto q = hn::Sqrt(hn::Load(d, squared + i));
    const auto u = hn::Max(hn::Sub(one, q), zero), w = hn::Max(hn::Sub(half, q), zero);
    const auto inner = hn::Mul(hn::Mul(w, w), w), outer = hn::Mul(hn::Mul(u, u), u);
    const auto value = hn::Mul(hn::Set(d, 2.0f), hn::Sub(outer, hn::Mul(hn::Set(d, 4.0f), inner)));
    const auto far = hn::Div(hn::Mul(u, u), hn::Max(q, half));
    const auto near = hn::Sub(hn::Set(d, 2.0f), hn::Mul(hn::Set(d, 3.0f), q));
    const auto slope = hn::Mul(hn::Set(d, -6.0f), hn::IfThenElse(hn::Le(q, half), near, far));
    sum = hn::Add(sum, hn::Add(value, slope));
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

float Table(const float* squared, size_t count, const float* values, const float* slopes, float samples) {
  const D d;
  const hn::RebindToSigned<D> di;
  auto sum = hn::Zero(d);
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto at = hn::Mul(hn::Sqrt(hn::Load(d, squared + i)), hn::Set(d, samples));
    const auto cell = hn::ConvertTo(di, at);
    const auto part = hn::Sub(at, hn::ConvertTo(d, cell));
    const auto between = [&](const float* table) {
      const auto low = hn::GatherIndex(d, table, cell), high = hn::GatherIndex(d, table + 1, cell);
      return hn::Add(low, hn::Mul(part, hn::Sub(high, low)));
    };
    sum = hn::Add(sum, hn::Add(between(values), between(slopes)));
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

}  // namespace sunder::bench::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::bench {

namespace kernels {
namespace {
HWY_EXPORT(Polynomial);
HWY_EXPORT(Table);
}  // namespace
}  // namespace kernels

SUNDER_BENCH("fluid", fluidKernel) {
  if (!options.wants("kernel/")) return;
  using namespace kernels;
  constexpr size_t kSamples = 1000, kPairs = 4096, kRounds = 1000;
  std::vector<float> values, slopes;
  for (size_t i = 0; i <= kSamples + 1; ++i) {
    const fluid::CubicKernel kernel(1);
    const double q = std::min(double(i) / kSamples, 1.0);
    values.push_back(float(kernel.value(q) / kernel.sigma));
    slopes.push_back(float(kernel.gradientFactor(q) / kernel.sigma));
  }
  struct alignas(64) Pairs {
    float squared[kPairs];
  };
  const auto pairs = std::make_unique<Pairs>();
  RandomStream random(3);
  for (float& s : pairs->squared) s = float(std::pow(random.uniform(), 2.0 / 3));  // evenly in the ball
  const auto add = [&](const char* name, const std::function<float()>& all) {
    const double seconds = bestSeconds(options, [&] {
      for (size_t k = 0; k < kRounds; ++k) keep(all());
    });
    report.add({.name = name,
                .size = kPairs,
                .metric = "time",
                .value = 1e9 * seconds / double(kRounds * kPairs),
                .unit = "ns/pair"});
  };
  add("kernel/polynomial", [&] { return HWY_DYNAMIC_DISPATCH(Polynomial)(pairs->squared, kPairs); });
  add("kernel/table", [&] {
    return HWY_DYNAMIC_DISPATCH(Table)(pairs->squared, kPairs, values.data(), slopes.data(), float(kSamples));
  });
}

}  // namespace sunder::bench
#endif
