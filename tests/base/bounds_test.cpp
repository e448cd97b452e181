#include "sunder/base/bounds.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/simd.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace sunder {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<Vec3> randomPoints(size_t n) {
  std::mt19937_64 random(n);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Vec3> points(n);
  for (Vec3& p : points) p = Vec3(uniform(random), 10 * uniform(random), 1e-3 * uniform(random));
  return points;
}

Box3 scalarBounds(std::span<const Vec3> points) {
  Box3 box;
  for (const Vec3& p : points) {
    for (int k = 0; k < 3; ++k) {
      if (p[k] < box.lower[k]) box.lower[k] = p[k];
      if (p[k] > box.upper[k]) box.upper[k] = p[k];
    }
  }
  return box;
}

bool sameBits(const Box3& a, const Box3& b) {
  for (int k = 0; k < 3; ++k) {
    if (std::bit_cast<uint64_t>(a.lower[k]) != std::bit_cast<uint64_t>(b.lower[k])) return false;
    if (std::bit_cast<uint64_t>(a.upper[k]) != std::bit_cast<uint64_t>(b.upper[k])) return false;
  }
  return true;
}

}  // namespace

TEST(Simd, NamesItsTargets) {
  const std::vector<std::string> targets = simdTargets();
  ASSERT_FALSE(targets.empty());
  EXPECT_EQ(simdTarget(), targets.front());
  for (const std::string& target : targets) {
    SimdTargetOverride use(target);
    EXPECT_EQ(simdTarget(), target);
  }
  EXPECT_EQ(simdTarget(), targets.front());
  EXPECT_THROW(SimdTargetOverride("MMX"), Error);
}

TEST(Bounds, EveryTargetAndSizeGivesTheScalarBits) {
  for (const std::string& target : simdTargets()) {
    SimdTargetOverride use(target);
    SCOPED_TRACE(target);
    for (size_t n = 0; n < 70; ++n) {
      const std::vector<Vec3> points = randomPoints(n);
      EXPECT_TRUE(sameBits(boundsOf(points), scalarBounds(points))) << n;
    }
    const std::vector<Vec3> many = randomPoints(200'000);
    for (unsigned threads : {1u, 4u}) {
      ThreadLimit limit(threads);
      EXPECT_TRUE(sameBits(boundsOf(many), scalarBounds(many)));
    }
  }
}

TEST(Bounds, NansAreLeftOutAndZerosArePositive) {
  for (const std::string& target : simdTargets()) {
    SimdTargetOverride use(target);
    SCOPED_TRACE(target);
    for (size_t at = 0; at < 40; ++at) {
      std::vector<Vec3> points = randomPoints(40);
      points[at] = Vec3(kNan, 100, kNan);
      const Box3 box = boundsOf(points);
      EXPECT_TRUE(sameBits(box, scalarBounds(points)));
      EXPECT_EQ(box.upper.y(), 100);
    }
    std::vector<Vec3> zeros(17, Vec3(0.0, -0.0, 0.0));
    for (size_t i = 0; i < zeros.size(); i += 2) zeros[i] *= -1;
    EXPECT_TRUE(sameBits(boundsOf(zeros), Box3{Vec3::Zero(), Vec3::Zero()}));
    EXPECT_TRUE(boundsOf({}).empty());
    const std::vector<Vec3> infinite(5, Vec3(kInf, -kInf, 1));
    EXPECT_EQ(boundsOf(infinite).upper, Vec3(kInf, -kInf, 1));
  }
}

TEST(Bounds, FindsTheFirstNonFiniteAnywhere) {
  for (const std::string& target : simdTargets()) {
    SimdTargetOverride use(target);
    SCOPED_TRACE(target);
    for (size_t n : {0u, 1u, 15u, 64u, 67u}) {
      std::vector<double> values(n, -std::numeric_limits<double>::max());
      EXPECT_EQ(firstNonFinite(std::span<const double>(values)), n);
      for (size_t at = 0; at < n; ++at) {
        for (double bad : {kNan, kInf, -kInf}) {
          std::vector<double> spoiled = values;
          spoiled[at] = bad;
          spoiled[n - 1] = bad;
          EXPECT_EQ(firstNonFinite(std::span<const double>(spoiled)), at);
        }
      }
    }
  }
  std::vector<Vec3> points = randomPoints(300'000);
  EXPECT_EQ(firstNonFinite(std::span<const Vec3>(points)), points.size());
  points[250'001].z() = kInf;
  points[150'000].y() = kNan;
  EXPECT_EQ(firstNonFinite(std::span<const Vec3>(points)), 150'000u);
}

}  // namespace sunder
