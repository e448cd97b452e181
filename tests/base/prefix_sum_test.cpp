#include "sunder/base/prefix_sum.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace sunder {

namespace {

std::vector<uint32_t> someCounts(size_t n) {
  std::vector<uint32_t> counts(n);
  uint32_t state = 12345;
  for (uint32_t& c : counts) {
    state = state * 1664525u + 1013904223u;
    c = state >> 24;
  }
  return counts;
}

}  // namespace

TEST(PrefixSum, MatchesTheLoopForAnySizeAndThreads) {
  for (unsigned threads : {1u, 2u, 4u}) {
    ThreadLimit limit(threads);
    for (size_t n : {0u, 1u, 2u, 1000u, 65'535u, 65'536u, 65'537u, 1'000'003u}) {
      const std::vector<uint32_t> counts = someCounts(n);
      std::vector<uint32_t> expected;
      uint32_t sum = 0;
      for (uint32_t c : counts) {
        expected.push_back(sum);
        sum += c;
      }
      std::vector<uint32_t> out(n);
      EXPECT_EQ(exclusiveScan(std::span(counts), std::span(out)), sum);
      EXPECT_EQ(out, expected);

      std::vector<uint32_t> inPlace = counts;
      EXPECT_EQ(exclusiveScan(std::span(inPlace)), sum);
      EXPECT_EQ(inPlace, expected);

      std::vector<uint64_t> wide(n + 1);
      EXPECT_EQ(exclusiveScan(std::span(counts), std::span(wide)), sum);
      expected.push_back(sum);
      EXPECT_TRUE(std::equal(wide.begin(), wide.end(), expected.begin(), expected.end()));
    }
  }
}

TEST(PrefixSum, TotalsThatDoNotFitAreRefused) {
  for (unsigned threads : {1u, 4u}) {
    ThreadLimit limit(threads);
    for (size_t n : {3u, 200'000u}) {
      std::vector<uint32_t> counts(n, 0);
      counts[0] = 0xffffffffu;
      EXPECT_EQ(exclusiveScan(std::span<uint32_t>(counts)), 0xffffffffu);
      counts.assign(n, 0);
      counts[0] = 0xffffffffu;
      counts[n - 1] = 1;
      std::vector<uint64_t> wide(n);
      EXPECT_EQ(exclusiveScan(std::span<const uint32_t>(counts), std::span(wide)), 0x100000000ull);
      EXPECT_THROW(exclusiveScan(std::span<uint32_t>(counts)), Error);

      std::vector<uint64_t> large(n, 0);
      large[0] = large[n - 1] = std::numeric_limits<uint64_t>::max() / 2 + 1;
      EXPECT_THROW(exclusiveScan(std::span<uint64_t>(large)), Error);
    }
  }
}

}  // namespace sunder
