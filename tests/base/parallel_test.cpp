#include "sunder/base/parallel.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace sunder {

TEST(Parallel, VisitsEveryElementOnce) {
  for (unsigned threads : {1u, 2u, 4u}) {
    ThreadLimit limit(threads);
    EXPECT_EQ(threadCount(), threads);
    std::vector<int> visits(100'003, 0);
    parallelFor(
        visits.size(), [&](size_t i) { ++visits[i]; }, 97);
    for (int v : visits) ASSERT_EQ(v, 1);
  }
}

TEST(Parallel, ReduceGivesTheSameBitsForAnyThreadCount) {
  auto sum = [] {
    return parallelReduce(
        1'000'000, 0.0,
        [](size_t begin, size_t end) {
          double s = 0;
          for (size_t i = begin; i < end; ++i) s += std::sin(static_cast<double>(i)) * 1e-3;
          return s;
        },
        [](double a, double b) { return a + b; });
  };
  double reference;
  {
    ThreadLimit limit(1);
    reference = sum();
  }
  for (unsigned threads : {2u, 4u, 0u}) {
    ThreadLimit limit(threads);
    for (int run = 0; run < 5; ++run) EXPECT_EQ(sum(), reference);
  }
}

TEST(Parallel, RethrowsAnExceptionFromABlock) {
  ThreadLimit limit(4);
  EXPECT_THROW(parallelFor(
                   100'000,
                   [](size_t i) {
                     if (i == 77'777) throw std::runtime_error("here");
                   },
                   100),
               std::runtime_error);
}

// oneTBB cancels what runs below a loop that throws; a loop that returns must have done its work all the
// same.
TEST(Parallel, ALoopInsideOfAnotherIsWholeWhenTheOtherThrows) {
  const ThreadLimit limit(4);
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> inside{false}, thrown{false};
    std::atomic<size_t> done{0}, doneAtReturn{0};
    constexpr size_t kBlocks = 64;
    try {
      parallelFor(
          2,
          [&](size_t outer) {
            if (outer == 0) {
              for (int wait = 0; wait < 100 && !inside; ++wait)
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
              thrown = true;
              throw std::runtime_error("ends the outer loop");
            }
            parallelFor(
                kBlocks,
                [&](size_t) {
                  inside = true;
                  for (int wait = 0; wait < 100 && !thrown; ++wait)
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                  std::this_thread::sleep_for(std::chrono::microseconds(100));
                  ++done;
                },
                1);
            doneAtReturn = done.load();
          },
          1);
      FAIL();
    } catch (const std::runtime_error&) {
    }
    if (inside) {
      EXPECT_EQ(doneAtReturn, kBlocks);
    }
  }
}

TEST(Parallel, LoopsNest) {
  ThreadLimit limit(4);
  std::vector<long> sums(64, 0);
  parallelFor(
      sums.size(),
      [&](size_t i) {
        sums[i] = parallelReduce(
            1000, 0L, [](size_t b, size_t e) { return static_cast<long>(e - b); },
            [](long a, long b) { return a + b; }, 10);
      },
      1);
  for (long s : sums) EXPECT_EQ(s, 1000);
}

}  // namespace sunder
