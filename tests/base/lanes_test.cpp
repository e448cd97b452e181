// The shared lanes against their form with one lane, on every target that this machine can run.
#include "sunder/base/random.h"
#include "sunder/base/simd.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/base/lanes_test.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

// clang-format off: has to come after the loop over targets
#include "sunder/base/lanes_inl.h"
// clang-format on

#ifndef SUNDER_LANES_TEST_ONCE
#define SUNDER_LANES_TEST_ONCE
namespace sunder::lanes {

constexpr size_t kPlaces = 8, kInputs = 7, kRows = 14;  // rows of eight numbers

// The inputs a, b (three rows each) and s; the results of every function, row by row, and the sum of eight.
template <class T>
struct Table {
  alignas(64) T in[kInputs][kPlaces];
  alignas(64) T out[kRows][kPlaces];
  T total;
  uint32_t below;  // bits of places with a.x < b.x
};

}  // namespace sunder::lanes
#endif

HWY_BEFORE_NAMESPACE();
namespace sunder::lanes::HWY_NAMESPACE {

template <class D>
HWY_INLINE void fill(D d, Table<hn::TFromD<D>>& t) {
  using V = hn::Vec<D>;
  constexpr size_t kWide = hn::MaxLanes(D());
  SumOfEight<D> sum;
  static_assert(SumOfEight<D>::kParts * kWide == kPlaces);
  t.below = 0;
  for (size_t k = 0; k < kPlaces; k += kWide) {
    const Lanes3<V> a{hn::LoadU(d, t.in[0] + k), hn::LoadU(d, t.in[1] + k), hn::LoadU(d, t.in[2] + k)};
    const Lanes3<V> b{hn::LoadU(d, t.in[3] + k), hn::LoadU(d, t.in[4] + k), hn::LoadU(d, t.in[5] + k)};
    const V s = hn::LoadU(d, t.in[6] + k);
    const Lanes3<V> results[] = {a + b, a - b, a * s, cross(a, b)};
    for (size_t r = 0; r < 4; ++r) {
      hn::StoreU(results[r].x, d, t.out[3 * r] + k);
      hn::StoreU(results[r].y, d, t.out[3 * r + 1] + k);
      hn::StoreU(results[r].z, d, t.out[3 * r + 2] + k);
    }
    hn::StoreU(dot(a, b), d, t.out[12] + k);
    hn::StoreU(dot(a.x, b.x, s, a.y, b.y, s), d, t.out[13] + k);
    sum.add(k / kWide, dot(a, b));
    sum.add(k / kWide, s);
    t.below |= maskBits(d, hn::Lt(a.x, b.x)) << k;
  }
  t.total = sum.total();
}

void Wide(Table<float>& floats, Table<double>& doubles) {
  fill(hn::CappedTag<float, 8>(), floats);
  fill(hn::CappedTag<double, 4>(), doubles);
}
void One(Table<float>& floats, Table<double>& doubles) {
  fill(hn::CappedTag<float, 1>(), floats);
  fill(hn::CappedTag<double, 1>(), doubles);
}

}  // namespace sunder::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::lanes {
namespace {

HWY_EXPORT(Wide);
HWY_EXPORT(One);

template <class T>
void draw(RandomStream& random, Table<T>& t) {
  for (auto& row : t.in)
    for (T& x : row) {
      const double size = std::ldexp(1.0, int(random.below(40)) - 20);
      x = T(size * (2 * random.uniform() - 1));
    }
}

template <class T>
bool sameBits(const Table<T>& a, const Table<T>& b) {
  return std::memcmp(a.out, b.out, sizeof a.out) == 0 && std::memcmp(&a.total, &b.total, sizeof(T)) == 0 &&
         a.below == b.below;
}

// Plain arithmetic, in the order that the header promises.
template <class T>
void expectPlain(const Table<T>& t) {
  T sums[kPlaces];
  for (size_t i = 0; i < kPlaces; ++i) {
    const T ax = t.in[0][i], ay = t.in[1][i], az = t.in[2][i], bx = t.in[3][i], by = t.in[4][i],
            bz = t.in[5][i], s = t.in[6][i];
    const T product = (ax * bx + ay * by) + az * bz;
    const std::array<T, kRows> expected{ax + bx,
                                        ay + by,
                                        az + bz,
                                        ax - bx,
                                        ay - by,
                                        az - bz,
                                        ax * s,
                                        ay * s,
                                        az * s,
                                        ay * bz - az * by,
                                        az * bx - ax * bz,
                                        ax * by - ay * bx,
                                        product,
                                        (ax * ay + bx * by) + s * s};
    for (size_t r = 0; r < kRows; ++r) ASSERT_EQ(t.out[r][i], expected[r]) << "row " << r << ", place " << i;
    ASSERT_EQ(t.below >> i & 1, uint32_t(ax < bx));
    sums[i] = product + s;
  }
  ASSERT_EQ(t.below >> kPlaces, 0u);
  ASSERT_EQ(t.total,
            ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7])));
}

TEST(Lanes, EveryTargetGivesTheBitsOfOneLaneAndOfPlainArithmetic) {
  for (const std::string& target : simdTargets()) {
    SCOPED_TRACE(target);
    const SimdTargetOverride override(target);
    RandomStream random(11, 3);
    for (int round = 0; round < 200; ++round) {
      Table<float> wideFloats{}, oneFloats{};
      Table<double> wideDoubles{}, oneDoubles{};
      draw(random, wideFloats);
      draw(random, wideDoubles);
      oneFloats = wideFloats;
      oneDoubles = wideDoubles;
      HWY_DYNAMIC_DISPATCH(Wide)(wideFloats, wideDoubles);
      HWY_DYNAMIC_DISPATCH(One)(oneFloats, oneDoubles);
      ASSERT_TRUE(sameBits(wideFloats, oneFloats));
      ASSERT_TRUE(sameBits(wideDoubles, oneDoubles));
      expectPlain(wideFloats);
      expectPlain(wideDoubles);
    }
  }
}

}  // namespace
}  // namespace sunder::lanes
#endif
