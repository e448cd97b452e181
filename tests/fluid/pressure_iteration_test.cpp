#include "sunder/fluid/pressure/pressure_iteration.h"

#include <vector>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

// Errors that halve from one.
Solved halving(const SolverSettings& solver) {
  double error = 2;
  return iterate(solver, [&] { return error *= 0.5; });
}

TEST(PressureIteration, EndsAtTheToleranceWithinItsBounds) {
  const Solved enough = halving({.tolerance = 0.25, .least = 1, .most = 100});
  EXPECT_EQ(enough.iterations, 3u);  // 1, 1/2, 1/4
  EXPECT_EQ(enough.error, 0.25);
  EXPECT_FALSE(enough.missed);
  EXPECT_EQ(halving({.tolerance = 0.25, .least = 5, .most = 100}).iterations, 5u);
  const Solved few = halving({.tolerance = 0.25, .least = 1, .most = 2});
  EXPECT_EQ(few.iterations, 2u);
  EXPECT_TRUE(few.missed);
  EXPECT_FALSE(halving({.tolerance = 0.25, .least = 5, .most = 3}).missed);
}

TEST(PressureIteration, MeansOfErrorsCountWhatIsTooDenseOrAll) {
  const std::vector<float> errors = {1, -3, 2, 0};
  EXPECT_EQ(meanError(errors, MeanError::Compressed), 0.75);
  EXPECT_EQ(meanError(errors, MeanError::Signed), 0);
  EXPECT_EQ(meanError({}, MeanError::Signed), 0);
}

}  // namespace
}  // namespace sunder::fluid
