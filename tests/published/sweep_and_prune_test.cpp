#include "bench/published/sweep_and_prune.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include "published/variant_scenes.h"

#include <gtest/gtest.h>

namespace sunder::published {
using namespace spatial;
namespace {

TEST(SweepAndPrune, EqualsBruteForce) {
  VariantPairs result;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random(seed, 9);
    const auto a = randomBoxes(random, random.below(200), 0.2);
    const auto b = randomBoxes(random, random.below(200), 0.2);
    sweepAndPrune(a, result);
    ASSERT_EQ(sortedPairs(result.pairs(), false), bruteForce(a));
    sweepAndPrune(a, b, result);
    ASSERT_EQ(sortedPairs(result.pairs(), false), bruteForce(a, b));
  }
}

TEST(SweepAndPrune, SameOrderForAnyNumberOfThreads) {
  RandomStream random(1);
  const auto boxes = randomBoxes(random, 20'000, 0.05);
  VariantPairs first, result;
  {
    const ThreadLimit one(1);
    sweepAndPrune(boxes, first);
  }
  const ThreadLimit four(4);
  sweepAndPrune(boxes, result);
  EXPECT_TRUE(
      std::equal(first.pairs().begin(), first.pairs().end(), result.pairs().begin(), result.pairs().end()));
  EXPECT_GT(first.pairs().size(), 10'000u);
  EXPECT_EQ(first.statistics.boxTests, result.statistics.boxTests);
}

TEST(SweepAndPrune, RefusesBoxesThatAreNotFinite) {
  std::vector<Box3f> boxes(3, Box3f{{0, 0, 0}, {1, 1, 1}});
  boxes[1].upper.y() = Box3f::kInfinity;
  VariantPairs result;
  EXPECT_THROW(sweepAndPrune(boxes, result), Error);
}

}  // namespace
}  // namespace sunder::published
