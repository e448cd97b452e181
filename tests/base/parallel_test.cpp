#include "sunder/base/parallel.h"

#include <cmath>
#include <stdexcept>
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
