#include "sunder/base/bounds.h"

#include "sunder/base/parallel.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/base/bounds.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sunder {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Box of `count` points x y z x y z ... into lower[3], upper[3], which hold the box to start from. Three
// vectors in a row always begin with an x, so lane l of vector v belongs to coordinate (v * lanes + l) mod 3.
// "value < lower ? value : lower" leaves NaN out whichever side it comes from.
void growBox(const double* values, size_t count, double* lower, double* upper) {
  const hn::ScalableTag<double> d;
  const size_t lanes = hn::Lanes(d);
  const size_t size = 3 * count, step = 3 * lanes;
  size_t i = 0;
  if (size >= step) {
    const auto infinity = hn::Set(d, HUGE_VAL);
    auto low0 = infinity, low1 = infinity, low2 = infinity;
    auto high0 = hn::Neg(infinity), high1 = high0, high2 = high0;
    for (; i + step <= size; i += step) {
      const auto a = hn::LoadU(d, values + i);
      const auto b = hn::LoadU(d, values + i + lanes);
      const auto c = hn::LoadU(d, values + i + 2 * lanes);
      low0 = hn::IfThenElse(hn::Lt(a, low0), a, low0);
      low1 = hn::IfThenElse(hn::Lt(b, low1), b, low1);
      low2 = hn::IfThenElse(hn::Lt(c, low2), c, low2);
      high0 = hn::IfThenElse(hn::Gt(a, high0), a, high0);
      high1 = hn::IfThenElse(hn::Gt(b, high1), b, high1);
      high2 = hn::IfThenElse(hn::Gt(c, high2), c, high2);
    }
    HWY_ALIGN double low[3 * hn::MaxLanes(d)];
    HWY_ALIGN double high[3 * hn::MaxLanes(d)];
    hn::StoreU(low0, d, low);
    hn::StoreU(low1, d, low + lanes);
    hn::StoreU(low2, d, low + 2 * lanes);
    hn::StoreU(high0, d, high);
    hn::StoreU(high1, d, high + lanes);
    hn::StoreU(high2, d, high + 2 * lanes);
    for (size_t k = 0; k < step; ++k) {
      if (low[k] < lower[k % 3]) lower[k % 3] = low[k];
      if (high[k] > upper[k % 3]) upper[k % 3] = high[k];
    }
  }
  for (; i < size; ++i) {
    if (values[i] < lower[i % 3]) lower[i % 3] = values[i];
    if (values[i] > upper[i % 3]) upper[i % 3] = values[i];
  }
}

size_t findNonFinite(const double* values, size_t size) {
  const hn::ScalableTag<double> d;
  const size_t lanes = hn::Lanes(d), step = 4 * lanes;
  const auto infinity = hn::Set(d, HUGE_VAL);
  size_t i = 0;
  for (; i + step <= size; i += step) {
    // |x| < infinity is false for NaN too.
    const auto a = hn::Lt(hn::Abs(hn::LoadU(d, values + i)), infinity);
    const auto b = hn::Lt(hn::Abs(hn::LoadU(d, values + i + lanes)), infinity);
    const auto c = hn::Lt(hn::Abs(hn::LoadU(d, values + i + 2 * lanes)), infinity);
    const auto e = hn::Lt(hn::Abs(hn::LoadU(d, values + i + 3 * lanes)), infinity);
    if (!hn::AllTrue(d, hn::And(hn::And(a, b), hn::And(c, e)))) break;
  }
  while (i < size && values[i] - values[i] == 0) ++i;
  return i;
}

}  // namespace HWY_NAMESPACE
}  // namespace sunder
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace sunder {

namespace {

HWY_EXPORT(growBox);
HWY_EXPORT(findNonFinite);

constexpr size_t kBlock = size_t(1) << 16;

static_assert(sizeof(Vec3) == 3 * sizeof(double));

const double* numbers(std::span<const Vec3> points) { return reinterpret_cast<const double*>(points.data()); }

}  // namespace

Box3 boundsOf(std::span<const Vec3> points) {
  Box3 box = parallelReduce(
      points.size(), Box3{},
      [&](size_t begin, size_t end) {
        Box3 block;
        HWY_DYNAMIC_DISPATCH(growBox)
        (numbers(points) + 3 * begin, end - begin, block.lower.data(), block.upper.data());
        return block;
      },
      [](Box3 a, const Box3& b) {
        a.grow(b);
        return a;
      },
      kBlock);
  // Which of two equal zeros was met first depends on the lanes; the sum with +0 is +0 for both.
  box.lower.array() += 0.0;
  box.upper.array() += 0.0;
  return box;
}

size_t firstNonFinite(std::span<const double> values) {
  const size_t none = values.size();
  return parallelReduce(
      values.size(), none,
      [&](size_t begin, size_t end) {
        const size_t found = begin + HWY_DYNAMIC_DISPATCH(findNonFinite)(values.data() + begin, end - begin);
        return found == end ? none : found;
      },
      [](size_t a, size_t b) { return a < b ? a : b; }, kBlock);
}

size_t firstNonFinite(std::span<const Vec3> points) {
  return firstNonFinite(std::span<const double>(numbers(points), 3 * points.size())) / 3;
}

}  // namespace sunder

#endif  // HWY_ONCE
