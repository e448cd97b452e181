#include "sunder/base/stopwatch.h"

#include <chrono>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

namespace sunder {
namespace {

void wait() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

TEST(Stopwatch, CountsSecondsAndGoesOn) {
  const double before = steadySeconds();
  const Stopwatch watch;
  wait();
  const double first = watch.seconds();
  wait();
  const double second = watch.seconds(), all = steadySeconds() - before;
  EXPECT_GE(first, 0.002);
  EXPECT_GE(second, first + 0.002);
  EXPECT_LE(second, all);
}

TEST(Stopwatch, LapsAddUpToTheWhole) {
  const Stopwatch whole;
  Stopwatch laps;
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    wait();
    const double lap = laps.lap();
    EXPECT_GE(lap, 0.002);
    sum += lap;
  }
  EXPECT_GE(sum, 0.006);
  EXPECT_LE(sum, whole.seconds());
}

TEST(ScopeTimer, AddsTheTimeOfAScopeHoweverItEnds) {
  double sum = 10;
  {
    const ScopeTimer timer(sum);
    wait();
    EXPECT_EQ(sum, 10);
  }
  const double once = sum;
  EXPECT_GE(once, 10.002);
  try {
    const ScopeTimer timer(sum);
    wait();
    throw std::runtime_error("ends the scope");
  } catch (const std::runtime_error&) {
  }
  EXPECT_GE(sum, once + 0.002);
}

}  // namespace
}  // namespace sunder
