#include "sunder/fluid/kernel.h"

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

// Specification 10, check 1.
TEST(CubicKernel, HasIntegralOneInEveryDimension) {
  const double r = 0.08;
  for (const int dimensions : {1, 2, 3}) {
    const CubicKernel kernel(r, dimensions);
    double sum = 0;
    constexpr int kSteps = 20000;  // midpoint rule
    for (int i = 0; i < kSteps; ++i) {
      const double s = (i + 0.5) * r / kSteps;
      const double shell = dimensions == 3 ? 4 * kPi * s * s : dimensions == 2 ? 2 * kPi * s : 2;
      sum += kernel.value(s) * shell * r / kSteps;
    }
    EXPECT_NEAR(sum, 1, 1e-6) << dimensions;
  }
  EXPECT_NEAR(CubicKernel(r).value(0), 8 / (kPi * r * r * r), 1e-9);
  EXPECT_EQ(CubicKernel(r).value(r), 0);
  EXPECT_EQ(CubicKernel(r).value(2 * r), 0);
}

TEST(CubicKernel, BothWaysOfWritingItAgree) {
  const CubicKernel kernel(1);
  for (double q = 0; q < 1.1; q += 0.001) {
    const double u = std::max(1 - q, 0.0);
    const double branch = kernel.sigma * (q <= 0.5 ? 6 * (q * q * q - q * q) + 1 : 2 * u * u * u);
    EXPECT_NEAR(kernel.value(q), branch, 1e-7 * kernel.sigma);
    const double w = std::max(0.5 - q, 0.0), slope = -6 * kernel.sigma * (u * u - 4 * w * w);
    EXPECT_NEAR(kernel.gradientFactor(q) * q, slope, 1e-7 * kernel.sigma);
  }
}

TEST(CubicKernel, GradientIsThatOfTheValue) {
  const double r = 0.1, h = 1e-6 * r;
  const CubicKernel kernel(r);
  EXPECT_NEAR(kernel.gradientFactor(0), -12 * kernel.sigma / (r * r), 1e-6 * kernel.sigma / (r * r));
  for (const double q : {0.01, 0.2, 0.49, 0.51, 0.7, 0.99}) {
    const double s = q * r, difference = (kernel.value(s + h) - kernel.value(s - h)) / (2 * h);
    EXPECT_NEAR(kernel.gradientFactor(s) * s, difference, 1e-6 * kernel.value(0) / r);
  }
}

}  // namespace
}  // namespace sunder::fluid
