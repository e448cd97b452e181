// Checks A5.* of the specification.
#include "bench/published/frontier_queue.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

namespace sunder::published {
using namespace spatial;
namespace {

using Groups = std::vector<std::vector<std::vector<uint32_t>>>;

TEST(FrontierQueue, FlushesEverythingOnce) {  // A5.1, A5.2, A5.3
  RandomStream random(5);
  for (int run = 0; run < 3000; ++run) {
    const uint32_t capacity = 1 + random.below(64);
    Groups groups(1 + random.below(3));
    std::vector<uint32_t> produced, expectedFlushes;
    for (auto& group : groups) {
      group.resize(1 + random.below(32));
      uint32_t total = 0;
      for (auto& items : group) {
        items.resize(random.below(17));
        for (uint32_t& item : items) produced.push_back(item = random.below(1000));
        total += static_cast<uint32_t>(items.size());
      }
      expectedFlushes.push_back((total + capacity - 1) / capacity);
    }
    QueueRun result = runFrontierQueue(groups, capacity, 16, SIZE_MAX, random);
    EXPECT_FALSE(result.overflow);
    EXPECT_EQ(result.flushes, expectedFlushes);
    EXPECT_EQ(result.globalAtomics, std::accumulate(expectedFlushes.begin(), expectedFlushes.end(), 0u));
    EXPECT_EQ(result.rounds, *std::max_element(expectedFlushes.begin(), expectedFlushes.end()));
    for (size_t g = 0; g < groups.size(); ++g)
      EXPECT_LE(result.flushes[g], mostFlushes(2, static_cast<uint32_t>(groups[g].size()), capacity));
    std::sort(produced.begin(), produced.end());
    std::sort(result.frontier.begin(), result.frontier.end());
    ASSERT_EQ(result.frontier, produced);
  }
}

TEST(FrontierQueue, DepthStepAlwaysFits) {  // A5.4
  for (uint32_t capacity = 4; capacity <= 2048; ++capacity)
    for (uint32_t threads = 1; threads <= capacity / 4; ++threads) {
      const uint32_t step = largestDepthStep(capacity, threads);
      ASSERT_GE(step, 1u);
      ASSERT_LE(threads * (uint64_t(1) << 2 * step), capacity);
      ASSERT_GT(threads * (uint64_t(4) << 2 * step), capacity);
    }
  EXPECT_THROW(largestDepthStep(3, 1), Error);
  EXPECT_THROW(largestDepthStep(64, 17), Error);
  EXPECT_THROW(largestDepthStep(64, 0), Error);
}

TEST(FrontierQueue, FirstThreadThatDoesNotFit) {
  for (uint32_t capacity = 4; capacity <= 300; ++capacity)
    for (uint32_t step = 1; step <= 4; ++step) {
      const uint32_t each = 1u << 2 * step;
      uint32_t used = 0, thread = 1;
      for (; used + each <= capacity; ++thread) used += each;
      const QueueOverflow overflow = firstOverflow(capacity, step);
      ASSERT_EQ(overflow.thread, thread);
      ASSERT_EQ(overflow.written, capacity - used);
      ASSERT_EQ(overflow.thread, (capacity + 1 + each - 1) / each);
    }
}

TEST(FrontierQueue, SaysWhenTheFrontierIsTooSmall) {
  RandomStream random(6);
  const Groups groups{{{1, 2, 3}, {4, 5}, {}}};
  EXPECT_TRUE(runFrontierQueue(groups, 2, 4, 4, random).overflow);
  EXPECT_FALSE(runFrontierQueue(groups, 2, 4, 5, random).overflow);
  EXPECT_THROW(runFrontierQueue(groups, 0, 4, 5, random), Error);
  EXPECT_THROW(runFrontierQueue(groups, 2, 2, 5, random), Error);
  EXPECT_EQ(runFrontierQueue({}, 2, 4, 5, random).globalAtomics, 0u);
}

}  // namespace
}  // namespace sunder::published
