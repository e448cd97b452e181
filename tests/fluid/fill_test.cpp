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

// A cup: the inside of a box without a lid, walls of 0.1.
TEST(Fill, PouringStaysInTheCup) {
  const auto cup = [](const Vec3& p, bool hole) {
    if (hole && p.y() < 0.1 && std::abs(p.x()) < 0.1 && std::abs(p.z()) < 0.1) return false;
    return p.y() < 0.1 || std::abs(p.x()) > 0.4 || std::abs(p.z()) > 0.4;
  };
  const auto solids = [&](bool hole) {
    return [cup, hole](std::span<const Vec3> points, std::span<uint8_t> solid) {
      for (size_t i = 0; i < points.size(); ++i) solid[i] = cup(points[i], hole);
    };
  };
  const Box3 box{Vec3(-0.5, 0, -0.5), Vec3(0.5, 0.6, 0.5)};
  const std::vector<Vec3> inside = pour(box, 0.05, {0, 0.3, 0}, solids(false));
  EXPECT_EQ(inside.size(), 16u * 10u * 16u);
  for (const Vec3& p : inside) EXPECT_FALSE(cup(p, false));
  const auto message = [&](const Vec3& from, bool hole) {
    try {
      pour(box, 0.05, from, solids(hole));
    } catch (const Error& error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_NE(message({0, 0.3, 0}, true).find("would run out at"), std::string::npos);
  EXPECT_NE(message({0.45, 0.3, 0}, false).find("is in a solid"), std::string::npos);
}

}  // namespace
}  // namespace sunder::fluid
