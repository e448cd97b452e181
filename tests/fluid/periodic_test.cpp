// Fluid that repeats itself: sides that are joined.
#include "sunder/fluid/state/periodic.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/fluid/boundary/density_map.h"
#include "sunder/fluid/fill.h"
#include "sunder/fluid/solver/fluid.h"

#include "same_bits.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

constexpr double kPeriodicRadius = 0.02, kPeriodicDiameter = 0.04, kPeriodicSupport = 0.08;

std::vector<Vec3> randomPoints(size_t n, const PeriodicSides& sides) {
  RandomStream random(7);
  std::vector<Vec3> points(n);
  for (Vec3& p : points) p = random.pointIn({sides.from, sides.from + sides.lengths});
  return points;
}

TEST(Periodic, NeighboursAreThoseOfAllPairs) {
  const PeriodicSides sides{Vec3(0.3, 0.16, 0.25), Vec3(-0.1, 5, 0.03)};
  std::vector<Vec3> points = randomPoints(500, sides);
  points[3] = sides.from;
  points[4] = sides.from + Vec3(0.3 - 1e-9, 0.16 - 1e-9, 0);
  spatial::PointGrid grid;
  spatial::NeighbourRows rows;
  PeriodicSearch search;
  search.neighbours(sides, points, kPeriodicSupport, grid, rows);
  ASSERT_EQ(rows.size(), points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    std::set<uint32_t> expected;
    for (size_t j = 0; j < points.size(); ++j) {
      Vec3 way = points[i] - points[j];
      for (int k = 0; k < 3; ++k) way[k] -= sides.lengths[k] * std::round(way[k] / sides.lengths[k]);
      if (i != j && way.norm() <= kPeriodicSupport) expected.insert(uint32_t(j));
    }
    const auto row = rows.row(i);
    EXPECT_EQ(std::set<uint32_t>(row.begin(), row.end()), expected);
    EXPECT_EQ(row.size(), expected.size());  // none twice
  }
}

TEST(Periodic, PositionsComeBackBetweenTheSides) {
  const PeriodicSides sides{Vec3(0.3, 0, 0.25), Vec3(-0.1, 5, 0.03)};
  std::vector<Vec3> points{Vec3(-0.1 - 1e-17, 100, 0.28), Vec3(1.25, -3, -7), Vec3(0, 0, 0.1)};
  wrap(sides, points);
  for (const Vec3& p : points)
    for (const int k : {0, 2}) {
      EXPECT_GE(p[k], sides.from[k]);
      EXPECT_LT(p[k], sides.from[k] + sides.lengths[k]);
    }
  EXPECT_NEAR(points[1].x(), 0.05, 1e-12);
  EXPECT_EQ(points[1].y(), -3);
  EXPECT_EQ(points[2], Vec3(0, 0, 0.1));
}

Fluid everywhere(const PeriodicSides& sides, const FluidPhase& phase) {
  FluidSettings settings;
  settings.radius = kPeriodicRadius;
  settings.gravity = Vec3::Zero();
  settings.periodic = sides;
  Fluid fluid(settings);
  fluid.addPhase(phase);
  return fluid;
}

// A lattice that fills the box has no border: the density of a lattice without end, everywhere.
TEST(Periodic, ALatticeHasNoBorder) {
  const PeriodicSides sides{Vec3(0.24, 0.2, 0.16), Vec3::Zero()};
  Fluid fluid = everywhere(sides, {});
  fluid.add(fillBox({sides.from, sides.from + sides.lengths}, kPeriodicDiameter), Vec3::Zero());
  fluid.prepare();
  for (size_t i = 0; i < fluid.size(); ++i) EXPECT_NEAR(fluid.density(i), 0.99997, 2e-5);
}

// All that particles exchange, over joined sides too; and where the sides are is not seen.
TEST(Periodic, KeepsMomentumAndHasNoPlaceOfItsOwn) {
  const Vec3 lengths(0.48, 0.4, 0.44);
  std::vector<Vec3> points = fillBox({Vec3::Zero(), lengths}, kPeriodicDiameter);
  RandomStream random(3);
  for (Vec3& p : points) p += 0.3 * kPeriodicDiameter * random.pointIn({-Vec3::Ones(), Vec3::Ones()});
  const auto run = [&](const Vec3& from) {
    FluidSettings settings;
    settings.radius = kPeriodicRadius;
    settings.gravity = Vec3::Zero();
    settings.periodic = {lengths, from};
    settings.density.least = settings.density.most = 3;
    settings.divergence.least = settings.divergence.most = 3;
    Fluid fluid(settings);
    fluid.addPhase({1000, 1e-3, 0.05, 0.3});
    for (size_t i = 0; i < points.size(); ++i)
      fluid.add({&points[i], 1}, Vec3(std::sin(double(i)), std::cos(3.0 * double(i)), 0.3));
    const auto momentum = [&] {
      Vec3 sum = Vec3::Zero();
      for (size_t i = 0; i < fluid.size(); ++i) sum += fluid.velocity(i);
      return sum;
    };
    for (int k = 0; k < 3; ++k) {
      const Vec3 before = momentum();
      fluid.step(1e-3);
      EXPECT_LT((momentum() - before).norm(), 1e-6 * double(fluid.size()));
    }
    std::vector<Vec3> at(fluid.size());
    for (size_t i = 0; i < fluid.size(); ++i) at[fluid.ids()[i]] = fluid.velocity(i);
    return at;
  };
  const std::vector<Vec3> a = run(Vec3::Zero()), b = run(Vec3(0.21, -0.17, 3.1));
  for (size_t i = 0; i < a.size(); ++i) EXPECT_LT((a[i] - b[i]).norm(), 1e-3);
}

TEST(Periodic, SameBitsForAnyNumberOfThreadsAndAfterResuming) {
  const PeriodicSides sides{Vec3(0.4, 0, 0.4), Vec3::Zero()};
  const auto make = [&] {
    FluidSettings settings;
    settings.radius = kPeriodicRadius;
    settings.periodic = sides;
    Fluid fluid(settings);
    fluid.addPhase({1000, 1e-4, 0.01, 0});
    BoundaryBody floor;
    floor.map =
        std::make_shared<const PlaneMap>(Vec3::UnitY(), 0.0, DensityMapSettings{.support = kPeriodicSupport});
    fluid.addBody(floor);
    fluid.add(fillBox({Vec3::Zero(), Vec3(0.4, 0.3, 0.2)}, kPeriodicDiameter), Vec3(1, 0, 0.3));
    return fluid;
  };
  expectSameBits(make, 40, 21);
}

TEST(Periodic, SidesTooNearAreRefused) {
  FluidSettings settings;
  settings.radius = kPeriodicRadius;
  settings.periodic.lengths = Vec3(0.15, 0, 0);
  EXPECT_THROW(Fluid{settings}, Error);
  settings.periodic.lengths = Vec3(-1, 0, 0);
  EXPECT_THROW(Fluid{settings}, Error);
  settings.periodic.lengths = Vec3(0.16, 0, 0);
  Fluid{settings};
}

}  // namespace
}  // namespace sunder::fluid
