#include "sunder/base/random.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace sunder {

TEST(Random, KnownAnswersOfPhilox4x32) {
  using Block = std::array<uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t f = 0xffffffff;
  EXPECT_EQ(philox4x32({f, f, f, f}, {f, f}), (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, RandomAccessEqualsTheSequence) {
  RandomStream stream(42, 7);
  std::vector<uint32_t> sequence(1000);
  for (uint32_t& x : sequence) x = stream.nextU32();
  RandomStream other(42, 7);
  for (size_t i : {999u, 0u, 5u, 4u, 3u, 512u, 511u}) {
    EXPECT_EQ(other.at(i), sequence[i]);
    other.seek(i);
    EXPECT_EQ(other.position(), i);
    EXPECT_EQ(other.nextU32(), sequence[i]);
    if (i + 1 < sequence.size()) {
      EXPECT_EQ(other.nextU32(), sequence[i + 1]);
    }
  }
  other.seek(0xffffffffffull);
  EXPECT_EQ(other.nextU32(), other.at(0xffffffffffull));
}

TEST(Random, SeedsAndStreamsDiffer) {
  std::set<uint64_t> first;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    for (uint64_t stream = 0; stream < 100; ++stream) first.insert(RandomStream(seed, stream).nextU64());
  }
  EXPECT_EQ(first.size(), 10'000u);
}

TEST(Random, UniformHasTheRightMomentsAndFillsItsRange) {
  RandomStream random(1);
  constexpr int n = 400'000;
  double sum = 0, squares = 0, lowest = 1, highest = 0, previous = 0.5, lagged = 0;
  std::array<int, 64> bins{};
  for (int i = 0; i < n; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u, squares += u * u, lagged += (u - 0.5) * (previous - 0.5);
    lowest = std::min(lowest, u), highest = std::max(highest, u), previous = u;
    ++bins[static_cast<size_t>(u * 64)];
  }
  // Five standard deviations of each estimate.
  EXPECT_NEAR(sum / n, 0.5, 5 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(squares / n, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / n));
  EXPECT_NEAR(lagged / n, 0, 5 * (1.0 / 12) / std::sqrt(n));
  EXPECT_LT(lowest, 1e-4);
  EXPECT_GT(highest, 1 - 1e-4);
  double chi2 = 0;
  for (int b : bins) chi2 += (b - n / 64.0) * (b - n / 64.0) / (n / 64.0);
  EXPECT_NEAR(chi2, 63, 5 * std::sqrt(2 * 63.0));
}

TEST(Random, EveryBitIsFair) {
  RandomStream random(3, 9);
  constexpr int n = 100'000;
  std::array<int, 64> ones{};
  for (int i = 0; i < n; ++i) {
    const uint64_t x = random.nextU64();
    for (size_t b = 0; b < 64; ++b) ones[b] += static_cast<int>((x >> b) & 1);
  }
  for (int count : ones) EXPECT_NEAR(count, n / 2.0, 5 * std::sqrt(n) / 2);
}

TEST(Random, BelowIsUniformAlsoForAwkwardRanges) {
  RandomStream random(5);
  EXPECT_EQ(random.below(1), 0u);
  EXPECT_EQ(random.below64(1), 0u);
  for (uint32_t n : {3u, 7u, 100u}) {
    std::vector<int> counts(n);
    const int draws = 1000 * static_cast<int>(n);
    for (int i = 0; i < draws; ++i) ++counts[random.below(n)];
    double chi2 = 0;
    for (int c : counts) chi2 += (c - 1000.0) * (c - 1000.0) / 1000.0;
    EXPECT_NEAR(chi2, n - 1.0, 5 * std::sqrt(2.0 * (n - 1)));
  }
  // Three quarters of the range of the generator: without rejection the first third would come up twice as
  // often.
  const uint32_t n32 = 3u << 30;
  const uint64_t n64 = uint64_t(3) << 62;
  int low32 = 0, low64 = 0;
  constexpr int draws = 100'000;
  for (int i = 0; i < draws; ++i) {
    const uint32_t a = random.below(n32);
    const uint64_t b = random.below64(n64);
    ASSERT_LT(a, n32);
    ASSERT_LT(b, n64);
    low32 += a % 3 == 0, low64 += b % 3 == 0;
  }
  const double sigma = std::sqrt(draws * (1.0 / 3) * (2.0 / 3));
  EXPECT_NEAR(low32, draws / 3.0, 5 * sigma);
  EXPECT_NEAR(low64, draws / 3.0, 5 * sigma);
}

TEST(Random, NormalHasTheRightMoments) {
  RandomStream random(11);
  constexpr int n = 200'000;
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
  int within = 0;
  for (int i = 0; i < n; ++i) {
    const double x = random.normal();
    m1 += x, m2 += x * x, m3 += x * x * x, m4 += x * x * x * x;
    within += std::abs(x) < 1;
  }
  EXPECT_EQ(random.position(), 4u * n);
  EXPECT_NEAR(m1 / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(m2 / n, 1, 5 * std::sqrt(2.0 / n));
  EXPECT_NEAR(m3 / n, 0, 5 * std::sqrt(15.0 / n));
  EXPECT_NEAR(m4 / n, 3, 5 * std::sqrt(96.0 / n));
  EXPECT_NEAR(within / double(n), std::erf(1 / std::sqrt(2.0)), 5 * std::sqrt(0.22 / n));
}

TEST(Random, UnitVectorsAndPointsInBoxes) {
  RandomStream random(13);
  constexpr int n = 50'000;
  Vec3 mean = Vec3::Zero();
  Mat3 moments = Mat3::Zero();
  for (int i = 0; i < n; ++i) {
    const Vec3 u = random.unitVector();
    ASSERT_NEAR(u.norm(), 1, 1e-14);
    mean += u / n;
    moments += u * u.transpose() / n;
  }
  EXPECT_LT(mean.norm(), 5 / std::sqrt(n));
  EXPECT_LT((moments - Mat3::Identity() / 3).cwiseAbs().maxCoeff(), 5 * 0.3 / std::sqrt(n));

  const Box3 box{Vec3(-1, 2, 5), Vec3(1, 2.5, 50)};
  Vec3 center = Vec3::Zero();
  for (int i = 0; i < n; ++i) {
    const Vec3 p = random.pointIn(box);
    ASSERT_TRUE(box.contains(p));
    center += p / n;
  }
  EXPECT_LT(((center - box.center()).array() / box.extent().array()).abs().maxCoeff(),
            5 * std::sqrt(1.0 / 12 / n));
}

}  // namespace sunder
