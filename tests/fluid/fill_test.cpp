#include "sunder/fluid/fill.h"

#include "sunder/base/error.h"
#include "sunder/sdf/analytic_field.h"

#include <limits>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

TEST(Fill, ABoxHoldsOneParticleForEachCube) {
  const std::vector<Vec3> points = fillBox({Vec3::Zero(), Vec3(1, 0.5, 0.25)}, 0.05);
  EXPECT_EQ(points.size(), 20u * 10 * 5);
  for (const Vec3& p : points) {
    EXPECT_GE(p.minCoeff(), 0.025 - 1e-12);
    EXPECT_LE((p - Vec3(1, 0.5, 0.25)).maxCoeff(), -0.025 + 1e-12);
  }
  EXPECT_EQ(fillBox({Vec3::Zero(), Vec3::Constant(1e-3)}, 0.05).size(), 1u);
}

TEST(Fill, AFieldKeepsItsClearance) {
  const sdf::FieldPtr ball = sdf::makeSphereField(Vec3(0.5, 0.5, 0.5), 0.4);
  const Box3 box{Vec3::Zero(), Vec3::Ones()};
  const double spacing = 0.025;
  const auto inside = fillField(*ball, box, spacing, 0.05, false);
  const auto outside = fillField(*ball, box, spacing, 0.05, true);
  for (const Vec3& p : inside) EXPECT_LE(ball->value(p), -0.05);
  for (const Vec3& p : outside) EXPECT_GE(ball->value(p), 0.05);
  const double volume = 4 * kPi / 3 * std::pow(0.35, 3);
  EXPECT_NEAR(double(inside.size()) * std::pow(spacing, 3), volume, 0.03 * volume);
}

TEST(Fill, WrongBlocksAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(fillBox({Vec3::Zero(), Vec3::Ones()}, 0), Error);
  EXPECT_THROW(fillBox({Vec3::Zero(), Vec3::Ones()}, nan), Error);
  EXPECT_THROW(fillBox({Vec3::Zero(), Vec3(1, nan, 1)}, 0.1), Error);
  EXPECT_THROW(fillBox({Vec3::Ones(), Vec3::Zero()}, 0.1), Error);
  EXPECT_THROW(fillBox({Vec3::Zero(), Vec3::Ones()}, 1e-5), Error);
}

}  // namespace
}  // namespace sunder::fluid
