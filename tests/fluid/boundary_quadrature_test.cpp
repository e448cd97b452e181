#include "sunder/fluid/boundary/boundary_quadrature.h"

#include "sunder/base/random.h"
#include "sunder/sdf/analytic_field.h"

#include "fluid/sphere_density.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

TEST(PlaneDensity, HasTheValuesOfTheSpecification) {
  const double table[][3] = {{0, 1, -1},
                             {0.25, 0.750056, -0.998698},
                             {0.5, 0.502976, -0.966667},
                             {0.75, 0.277028, -0.812240},
                             {1, 0.110714, -0.5},
                             {1.25, 0.027028, -0.187760},
                             {1.5, 0.002976, -0.033333},
                             {1.75, 5.58e-5, -1.30e-3},
                             {2, 0, 0}};
  for (const auto& [t, value, slope] : table) {
    EXPECT_NEAR(planeBoundaryDensity(t).value, value, 1e-6);
    EXPECT_NEAR(planeBoundaryDensity(t).slope, slope, 5e-6);
  }
  for (const double t : {-3.0, -0.5, 0.0}) {
    EXPECT_DOUBLE_EQ(planeBoundaryDensity(t).value, 1 - t);
    EXPECT_EQ(planeBoundaryDensity(t).slope, -1);
  }
  EXPECT_EQ(planeBoundaryDensity(5).value, 0);
  const double h = 1e-6;
  for (double t = -0.5; t < 2.2; t += 0.0371)
    EXPECT_NEAR((planeBoundaryDensity(t + h).value - planeBoundaryDensity(t - h).value) / (2 * h),
                planeBoundaryDensity(t).slope, 1e-8);
}

TEST(BallRule, WeightsSumToOneAroundTheOrigin) {
  for (const BallRuleSize& size : {BallRuleSize{}, BallRuleSize{4, 8, 16}, BallRuleSize{12, 24, 48}}) {
    const BallRule rule = makeBallRule(size);
    EXPECT_EQ(rule.weights.size(), size_t(2 * size.radial * size.polar * size.azimuth));
    double sum = 0;
    Vec3 centre = Vec3::Zero();
    for (size_t k = 0; k < rule.weights.size(); ++k) {
      EXPECT_GT(rule.weights[k], 0);
      EXPECT_LT(rule.offsets[k].norm(), 1);
      sum += rule.weights[k];
      centre += rule.weights[k] * rule.offsets[k];
    }
    EXPECT_NEAR(sum, 1, 1e-12);
    EXPECT_LT(centre.norm(), 1e-14);
  }
}

// Specification 10, check 16: 1e-4 with 3,456 points, for planes of any orientation; exact below.
TEST(BallRule, IntegratesPlanesOfAnyOrientation) {
  const BallRule rule = makeBallRule();
  ASSERT_EQ(rule.weights.size(), 3456);
  RandomStream random(1);
  const double r = 0.08;
  for (int trial = 0; trial < 40; ++trial) {
    const Vec3 normal = trial < 3 ? Vec3(Vec3::Unit(trial)) : random.unitVector();
    const sdf::FieldPtr plane = sdf::makePlaneField(normal, 0.3);
    for (int step = -5; step <= 40; ++step) {
      const double t = 0.05 * step;
      const double got = integrateBoundary(rule, *plane, (0.3 + t * r) * normal, r, 0);
      EXPECT_NEAR(got, planeBoundaryDensity(t).value, t <= 0 ? 1e-12 : 1e-4)
          << normal.transpose() << " " << t;
      // The offset moves the plane.
      EXPECT_NEAR(integrateBoundary(rule, *plane, (0.3 + (t - 0.5) * r) * normal, r, 0.5), got, 1e-12);
      EXPECT_NEAR(integrateBoundary(rule, *plane, (0.3 - t * r) * normal, r, 0, -1),
                  planeBoundaryDensity(t).value, t <= 0 ? 1e-12 : 1e-4);
    }
  }
}

// Check 17, with the exact field.
TEST(BallRule, IntegratesSpheres) {
  const BallRule rule = makeBallRule();
  const double r = 0.1;
  RandomStream random(2);
  for (const double radius : {3 * r, 0.7 * r}) {
    const sdf::FieldPtr ball = sdf::makeSphereField(Vec3::Zero(), radius);
    for (double distance = 0.05 * r; distance < radius + 2.1 * r; distance += 0.13 * r) {
      for (const double offset : {0.0, 0.5}) {
        const Vec3 p = distance * random.unitVector();
        EXPECT_NEAR(integrateBoundary(rule, *ball, p, r, offset), sphereDensity(radius, r, offset, distance),
                    2e-4);
      }
    }
  }
}

}  // namespace
}  // namespace sunder::fluid
