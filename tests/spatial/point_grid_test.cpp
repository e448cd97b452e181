// Checks of the sorted grid (spec 04, 9.5): brute force on every kind of cloud, the same bytes for any number
// of threads and any vector instructions, limits and refusals.
#include "sunder/spatial/points/point_grid.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/simd.h"

#include "spatial/particle_cases.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::spatial {
namespace {

// Against brute force, in both orders.
void expectBruteForce(const std::vector<Vec3>& points, double radius, const char* what) {
  SCOPED_TRACE(what);
  const RowLists expected = bruteForce(points, radius);
  NeighbourRows rows;
  pointNeighbours(points, radius, rows, {.sorted = true});
  ASSERT_EQ(rows.size(), points.size());
  EXPECT_EQ(rows.total(), countOf(expected));
  EXPECT_TRUE(listsOf(rows) == expected);
  pointNeighbours(points, radius, rows);
  EXPECT_TRUE(listsOf(rows, true) == expected);
}

TEST(PointGrid, EqualsBruteForceAtAllDensities) {
  const std::vector<Vec3> points = randomPoints(2000, cube(-0.5, 0.5));
  for (double count : {0.1, 1.0, 5.0, 28.0, 100.0, 1000.0})
    expectBruteForce(points, radiusFor(2000, count), std::to_string(count).c_str());
}

TEST(PointGrid, RadiusLargerThanTheCloudAndZero) {
  const std::vector<Vec3> points = randomPoints(300, cube(3, 4));
  expectBruteForce(points, 2.0, "all");
  expectBruteForce(points, 0.0, "none");
  expectBruteForce(points, 1e150, "huge");
  expectBruteForce(points, 1e-200, "tiny");
}

TEST(PointGrid, FlatLineAndFarFromOrigin) {
  expectBruteForce(randomPoints(2000, {Vec3(-1, 0, -1), Vec3(1, 0, 1)}), 0.05, "plane");
  expectBruteForce(randomPoints(2000, {Vec3(0, 0, -1), Vec3(0, 0, 1)}), 0.01, "line");
  expectBruteForce(randomPoints(2000, cube(1e8, 1e8 + 1)), 0.1, "far");
  expectBruteForce(randomPoints(2000, {Vec3(-1e8, 7, 1e9), Vec3(-1e8 + 1, 8, 1e9 + 1)}), 0.1, "far too");
}

// Points on a lattice have neighbours at the very distance of the radius: the bound counts.
TEST(PointGrid, LatticeAtTheBound) {
  std::vector<Vec3> points;
  for (int z = 0; z < 12; ++z)
    for (int y = 0; y < 12; ++y)
      for (int x = 0; x < 12; ++x) points.push_back(Vec3(x, y, z));
  NeighbourRows rows;
  pointNeighbours(points, 1.0, rows);
  EXPECT_EQ(rows.total(), 3u * 2 * 11 * 12 * 12);  // ordered pairs along the edges of the lattice
  pointNeighbours(points, std::nextafter(1.0, 0.0), rows);
  EXPECT_EQ(rows.total(), 0u);
  // An edge that no binary fraction is, at distances that rounding makes larger or smaller than the radius.
  for (Vec3& p : points) p = 0.1 * p + Vec3::Constant(0.3);
  expectBruteForce(points, 0.1, "tenths");
  expectBruteForce(points, std::sqrt(0.1 * 0.1 + 0.1 * 0.1), "diagonals");
  for (Vec3& p : points) p += Vec3::Constant(1e6);
  expectBruteForce(points, 0.1, "far tenths");
}

TEST(PointGrid, ClustersFarApartNeedNoTable) {
  std::vector<Vec3> points;
  RandomStream random(5);
  for (double far : {0.0, 1e5, -1e7, 1e12, 1e30, -1e30}) {
    const Vec3 centre(far, -0.5 * far, 2 * far);
    for (int i = 0; i < 200; ++i) points.push_back(centre + random.pointIn(cube(-1, 1)));
  }
  PointGrid grid;
  grid.build(points, 0.2);
  EXPECT_FALSE(grid.dense());
  expectBruteForce(points, 0.2, "clusters");
  expectBruteForce(points, 0.0, "clusters, radius 0");
  expectBruteForce(points, 1e11, "clusters, large radius");
}

TEST(PointGrid, LongThinCloudsUseWideCoordinates) {
  // 10^5 cells along x: beyond what float coordinates resolve; 10^7: beyond what an axis holds.
  for (double length : {1e3, 1e5, 1e7}) {
    std::vector<Vec3> points = randomPoints(1000, {Vec3(0, 0, 0), Vec3(length, 1, 1)}, 3);
    for (size_t i = 0; i < 1000; ++i) points.push_back(points[i] + Vec3(0.3, -0.4, 0.2));
    expectBruteForce(points, 1.0, std::to_string(length).c_str());
  }
  const double most = std::numeric_limits<double>::max();
  expectBruteForce({Vec3(-most, 0, 0), Vec3(most, 0, 0), Vec3(most, 1, 0), Vec3(0, 0, 0)}, 2.0, "overflow");
}

TEST(PointGrid, PointsInOnePlace) {
  std::vector<Vec3> points(700, Vec3(0.1, 0.2, 0.3));
  expectBruteForce(points, 0.0, "equal, radius 0");
  expectBruteForce(points, 1.0, "equal");
  points.insert(points.end(), 300, Vec3(0.1, 0.2, 0.3 + 1e-12));
  expectBruteForce(points, 0.0, "two places, radius 0");
  expectBruteForce(points, 1e-12, "two places");
}

TEST(PointGrid, SmallNumbers) {
  NeighbourRows rows;
  pointNeighbours({}, 1.0, rows);
  EXPECT_EQ(rows.size(), 0u);
  EXPECT_EQ(rows.total(), 0u);
  for (size_t n = 1; n < 20; ++n) expectBruteForce(randomPoints(n, cube(0, 1), n), 0.4, "few");
}

TEST(PointGrid, RefusesByName) {
  NeighbourRows rows;
  std::vector<Vec3> points = randomPoints(100, cube(0, 1));
  const auto message = [&](double radius) -> std::string {
    try {
      pointNeighbours(points, radius, rows);
    } catch (const Error& e) {
      return e.message();
    }
    return "";
  };
  EXPECT_NE(message(-1).find("radius"), std::string::npos);
  EXPECT_NE(message(std::nan("")).find("radius"), std::string::npos);
  EXPECT_NE(message(std::numeric_limits<double>::infinity()).find("radius"), std::string::npos);
  points[42].y() = std::nan("");
  EXPECT_NE(message(1).find("point 42 "), std::string::npos);
  points[17].z() = -std::numeric_limits<double>::infinity();
  EXPECT_NE(message(1).find("point 17 "), std::string::npos);
}

TEST(PointGrid, LimitIsToldBeforeTheRowsAreMade) {
  // A million points in one place: 10^12 neighbours, told at once.
  const std::vector<Vec3> points(1'000'000, Vec3(1, 2, 3));
  NeighbourRows rows;
  try {
    pointNeighbours(points, 0.5, rows);
    FAIL() << "no limit";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Limit);
    EXPECT_NE(e.message().find("999999000000"), std::string::npos) << e.message();
  }
  EXPECT_EQ(rows.size(), 0u);
  const std::vector<Vec3> some = randomPoints(2000, cube(0, 1));
  const size_t needed = countOf(bruteForce(some, 0.2));
  EXPECT_NO_THROW(pointNeighbours(some, 0.2, rows, {.mostNeighbours = needed}));
  EXPECT_THROW(pointNeighbours(some, 0.2, rows, {.mostNeighbours = needed - 1}), Error);
}

TEST(PointGrid, SameBytesForAnyThreadsAndTargets) {
  std::vector<Vec3> dense = randomPoints(30'000, cube(0, 1));
  std::vector<Vec3> sparse = randomPoints(15'000, cube(0, 1));
  for (size_t i = 0; i < 15'000; ++i) sparse.push_back(sparse[i] * 3 + Vec3(1e7, 0, -1e9));
  for (const auto* points : {&dense, &sparse}) {
    const double radius = radiusFor(30'000, 28);
    NeighbourRows rows;
    uint64_t expected = 0;
    for (unsigned threads : {1u, 2u, 4u}) {
      const ThreadLimit limit(threads);
      pointNeighbours(*points, radius, rows);
      if (threads == 1) expected = bytesHash(rows);
      EXPECT_EQ(bytesHash(rows), expected) << threads;
    }
    for (const std::string& target : simdTargets()) {
      const SimdTargetOverride use(target);
      pointNeighbours(*points, radius, rows);
      EXPECT_EQ(bytesHash(rows), expected) << target;
    }
  }
}

TEST(PointGrid, ReuseLeavesNoTrace) {
  PointGrid grid;
  NeighbourRows rows, fresh;
  for (size_t n : {5000, 20, 0, 9000, 1}) {
    const std::vector<Vec3> points = randomPoints(n, cube(-1, 1), n);
    grid.build(points, 0.1);
    grid.neighbours(rows);
    pointNeighbours(points, 0.1, fresh);
    EXPECT_EQ(bytesHash(rows), bytesHash(fresh)) << n;
  }
}

TEST(PointGridFull, AHundredRandomClouds) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    RandomStream random(seed, 77);
    const Vec3 size(std::pow(10, random.uniform(-3, 3)), std::pow(10, random.uniform(-3, 3)),
                    std::pow(10, random.uniform(-3, 3)));
    const Vec3 at = std::pow(10, random.uniform(-2, 6)) * random.unitVector();
    std::vector<Vec3> points = randomPoints(1500, {at, at + size}, seed);
    if (seed % 3 == 0)  // snapped to a lattice: many distances equal to the radius, many points equal
      for (Vec3& p : points) p = ((p - at) * 8 / size.maxCoeff()).array().round().matrix() * 0.1 + at;
    expectBruteForce(points, seed % 3 == 0 ? 0.1 : size.maxCoeff() * random.uniform(0, 0.3), "cloud");
  }
}

}  // namespace
}  // namespace sunder::spatial
