#include "sunder/tet/point_location.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/predicates.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/tet/stuffing.h"

#include "tet/tet_cases.h"

#include <gtest/gtest.h>

namespace sunder::tet {
namespace {

uint32_t bruteForce(const geometry::TetMesh& mesh, const Vec3& p) {
  for (uint32_t t = 0; t < mesh.tets.size(); ++t) {
    const auto& k = mesh.tets[t];
    const Vec3 v[4] = {mesh.positions[k[0]], mesh.positions[k[1]], mesh.positions[k[2]],
                       mesh.positions[k[3]]};
    if (geometry::orient3d(p, v[1], v[2], v[3]) >= 0 && geometry::orient3d(v[0], p, v[2], v[3]) >= 0 &&
        geometry::orient3d(v[0], v[1], p, v[3]) >= 0 && geometry::orient3d(v[0], v[1], v[2], p) >= 0)
      return t;
  }
  return kNoIndex;
}

TEST(PointLocation, AsBruteForce) {
  FillReport report;
  const geometry::TetMesh mesh = fill(sdf::torusField(), {.edge = 0.12, .levels = 1}, report);
  const PointLocator locator(mesh);
  RandomStream random(4);
  const Box3 box{{-1.1, -0.4, -1.1}, {1.1, 0.4, 1.1}};
  size_t inside = 0;
  for (int i = 0; i < 1000; ++i) {
    const Vec3 p = random.pointIn(box);
    const TetLocation found = locator.locate(p);
    const uint32_t expected = bruteForce(mesh, p);
    EXPECT_EQ(found.inside, expected != kNoIndex);
    EXPECT_EQ(locator.holder(p), expected);
    ASSERT_NE(found.tet, kNoIndex);
    Vec3 back = Vec3::Zero();
    for (int k = 0; k < 4; ++k)
      back += found.barycentric[k] * mesh.positions[mesh.tets[found.tet][size_t(k)]];
    EXPECT_NEAR(found.barycentric.sum(), 1, 1e-12);
    EXPECT_GE(found.barycentric.minCoeff(), 0);
    EXPECT_NEAR((back - p).norm(), found.distance, 1e-9);
    if (found.inside) {
      EXPECT_EQ(found.tet, expected);
      ++inside;
    }
  }
  EXPECT_GT(inside, 200u);
  EXPECT_LT(inside, 800u);
}

// Points exactly on shared faces, edges and vertices go to the smallest index that holds them.
TEST(PointLocation, SharedPointsGoToTheSmallest) {
  const geometry::TetMesh mesh = cubes(4, true);
  const PointLocator locator(mesh);
  RandomStream random(8);
  for (int i = 0; i < 500; ++i) {
    // Multiples of a quarter lie on faces and edges most of the time.
    const Vec3 p(0.25 * random.below(17), 0.25 * random.below(17), 0.25 * random.below(17));
    const TetLocation found = locator.locate(p);
    EXPECT_TRUE(found.inside);
    EXPECT_EQ(found.tet, bruteForce(mesh, p));
  }
}

TEST(PointLocation, OutsideGoesToTheNearest) {
  const geometry::TetMesh mesh = cubes(3, false);
  const PointLocator locator(mesh);
  RandomStream random(9);
  for (int i = 0; i < 200; ++i) {
    const Vec3 p = random.pointIn({Vec3::Constant(-2), Vec3::Constant(5)});
    const Vec3 nearest = p.cwiseMax(0.0).cwiseMin(3.0);
    EXPECT_NEAR(locator.locate(p).distance, (p - nearest).norm(), 1e-12);
  }
}

TEST(PointLocation, BatchesAndThreads) {
  const geometry::TetMesh mesh = cubes(6, true, 0.2, 1);
  const PointLocator locator(mesh);
  RandomStream random(10);
  std::vector<Vec3> points(5000);
  for (Vec3& p : points) p = random.pointIn({Vec3::Constant(-0.5), Vec3::Constant(6.5)});
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    std::vector<TetLocation> found(points.size());
    locator.locate(points, found);
    for (size_t i = 0; i < points.size(); i += 7) {
      const TetLocation one = locator.locate(points[i]);
      EXPECT_EQ(found[i].tet, one.tet);
      EXPECT_EQ(found[i].barycentric, one.barycentric);
      EXPECT_EQ(found[i].distance, one.distance);
    }
  }
}

TEST(PointLocation, EdgeCases) {
  const PointLocator nothing(geometry::TetMesh{});
  EXPECT_EQ(nothing.locate(Vec3::Zero()).tet, kNoIndex);
  geometry::TetMesh inverted = regularTet();
  std::swap(inverted.tets[0][0], inverted.tets[0][1]);
  EXPECT_EQ(PointLocator(inverted).holder(Vec3::Zero()), 0u);
  const PointLocator locator(regularTet());
  EXPECT_THROW(locator.holder(Vec3::Constant(std::nan(""))), Error);
  std::vector<TetLocation> few(1);
  EXPECT_THROW(locator.locate(std::vector<Vec3>(2, Vec3::Zero()), few), Error);
}

}  // namespace
}  // namespace sunder::tet
