#include "sunder/base/parallel_rounds.h"

#include "sunder/base/parallel.h"

#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace sunder {

TEST(ParallelRounds, EveryRoundSeesAllOfTheOneBefore) {
  // Each round adds neighbours of the last: wrong if a block ran early, late, twice or never.
  constexpr uint32_t kBlocks = 37, kRounds = 500;
  const auto work = [] {
    std::vector<uint64_t> a(kBlocks), b(kBlocks);
    for (uint32_t i = 0; i < kBlocks; ++i) a[i] = i + 1;
    parallelRounds(
        kRounds, [](uint32_t round) { return round % 7 == 3 ? 0u : kBlocks; },
        [&](uint32_t round, uint32_t i) {
          // Empty rounds change nothing, so the roles follow the number of rounds that were not.
          const uint32_t full = round - (round + 3) / 7;
          const std::vector<uint64_t>& from = full % 2 ? b : a;
          std::vector<uint64_t>& to = full % 2 ? a : b;
          to[i] = 3 * from[i] + from[(i + 1) % kBlocks] + round;
        });
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  std::vector<uint64_t> reference;
  {
    const ThreadLimit limit(1);
    reference = work();
  }
  for (const unsigned threads : {2u, 4u}) {
    const ThreadLimit limit(threads);
    for (int run = 0; run < 5; ++run) EXPECT_EQ(work(), reference) << threads;
  }
}

TEST(ParallelRounds, RethrowsAnException) {
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    EXPECT_THROW(parallelRounds(
                     20, [](uint32_t) { return 10u; },
                     [](uint32_t round, uint32_t block) {
                       if (round == 7 && block == 3) throw std::runtime_error("here");
                     }),
                 std::runtime_error);
  }
}

TEST(ParallelRounds, NothingToDo) {
  const ThreadLimit limit(2);
  parallelRounds(
      0, [](uint32_t) { return 1u; }, [](uint32_t, uint32_t) { FAIL(); });
  parallelRounds(
      5, [](uint32_t) { return 0u; }, [](uint32_t, uint32_t) { FAIL(); });
}

}  // namespace sunder
