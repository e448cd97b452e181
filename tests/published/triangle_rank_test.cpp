#include "bench/published/triangle_rank.h"

#include "sunder/base/random.h"

#include <gtest/gtest.h>

namespace sunder::published {
namespace {

TEST(TriangleRank, EnumeratesEveryPairInOrder) {
  for (uint64_t n = 1; n < 200; ++n) {
    uint64_t rank = 0;
    for (uint64_t a = 0; a < n; ++a)
      for (uint64_t b = a; b < n; ++b, ++rank) {
        ASSERT_EQ(triangleUnrank(rank, n), (RankedPair{a, b}));
        ASSERT_EQ(triangleRank({a, b}, n), rank);
      }
    ASSERT_EQ(rank, triangleSize(n));
    rank = 0;
    for (uint64_t a = 0; a < n; ++a)
      for (uint64_t b = a + 1; b < n; ++b, ++rank) {
        ASSERT_EQ(strictTriangleUnrank(rank, n), (RankedPair{a, b}));
        ASSERT_EQ(strictTriangleRank({a, b}, n), rank);
      }
    ASSERT_EQ(rank, strictTriangleSize(n));
  }
}

TEST(TriangleRank, ExactForLargeTriangles) {
  RandomStream random(1);
  for (uint64_t n : {uint64_t(1) << 16, (uint64_t(1) << 31) - 1, uint64_t(1) << 32}) {
    const uint64_t size = triangleSize(n);
    for (int i = 0; i < 20'000; ++i) {
      // Half of them near the tip, where the square root cancels.
      const uint64_t rank = i % 2 ? random.below64(size) : size - 1 - random.below64(5000);
      const RankedPair pair = triangleUnrank(rank, n);
      ASSERT_LE(pair.a, pair.b);
      ASSERT_LT(pair.b, n);
      ASSERT_EQ(triangleRank(pair, n), rank);
    }
    ASSERT_EQ(triangleUnrank(size - 1, n), (RankedPair{n - 1, n - 1}));
    ASSERT_EQ(strictTriangleUnrank(strictTriangleSize(n) - 1, n), (RankedPair{n - 2, n - 1}));
  }
}

}  // namespace
}  // namespace sunder::published
