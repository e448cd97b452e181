#include "sunder/spatial/query/winding_number.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/simd.h"
#include "sunder/shapes/wall.h"

#include "query_cases.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::spatial {
namespace {

using geometry::TriMesh;

// One arc tangent a triangle, added up in long double.
double windingByForce(const TriMesh& mesh, const Vec3& p) {
  long double sum = 0;
  for (const geometry::Triangle& t : mesh.triangles) {
    const Vec3 a = mesh.positions[t[0]] - p, b = mesh.positions[t[1]] - p, c = mesh.positions[t[2]] - p;
    const double volume = a.dot(b.cross(c));
    if (volume == 0) continue;
    const double rest =
        a.norm() * b.norm() * c.norm() + a.dot(b) * c.norm() + b.dot(c) * a.norm() + c.dot(a) * b.norm();
    sum += std::atan2(volume, rest);
  }
  return static_cast<double>(sum / (2 * 3.14159265358979323846264L));
}

std::vector<Vec3> around(const TriMesh& mesh, size_t count, uint64_t seed) {
  RandomStream random(seed);
  const Box3 box = geometry::bounds(mesh.positions);
  std::vector<Vec3> points(count);
  for (Vec3& p : points)
    p = random.pointIn({box.center() - 0.7 * box.extent(), box.center() + 0.7 * box.extent()});
  return points;
}

TEST(WindingNumber, ExactSumIsThatOfSingleAngles) {
  for (const test::NamedMesh& soup : test::soupsByDefect()) {
    SCOPED_TRACE(soup.name);
    const MeshQuery query(soup.mesh);
    const WindingNumber winding(query);
    for (const Vec3& p : around(soup.mesh, 100, 91))
      ASSERT_NEAR(winding.exact(p), windingByForce(soup.mesh, p), 1e-11);
  }
}

TEST(WindingNumber, ClosedMeshesGiveWholeNumbers) {
  for (const test::NamedMesh& closed : test::closedMeshes()) {
    SCOPED_TRACE(closed.name);
    const MeshQuery query(closed.mesh);
    const WindingNumber winding(query);
    int inside = 0;
    for (const Vec3& p : around(closed.mesh, 500, 92)) {
      const double w = winding.exact(p);
      ASSERT_NEAR(w, std::round(w), 1e-9);
      inside += w > 0.5;
    }
    EXPECT_GT(inside, 10);
  }
}

TEST(WindingNumber, OverlappingBodiesAddUpAndReversedOnesSubtract) {
  TriMesh mesh = shapes::makeIcosphere({1, 8});
  const auto copy = [&](double size, bool reversed) {
    const TriMesh other = shapes::makeIcosphere({size, 8});
    const auto first = static_cast<uint32_t>(mesh.positions.size());
    mesh.positions.insert(mesh.positions.end(), other.positions.begin(), other.positions.end());
    for (geometry::Triangle t : other.triangles) {
      for (uint32_t& v : t) v += first;
      if (reversed) std::swap(t[0], t[1]);
      mesh.triangles.push_back(t);
    }
  };
  for (int i = 0; i < 4; ++i) copy(0.9, false);
  copy(0.5, true);
  const MeshQuery query(mesh);
  const WindingNumber winding(query);
  EXPECT_NEAR(winding.exact({0.95, 0, 0}), 1, 1e-12);
  EXPECT_NEAR(winding.exact({0.7, 0, 0}), 5, 1e-12);
  EXPECT_NEAR(winding.exact({0.1, 0, 0}), 4, 1e-12);
  EXPECT_NEAR(winding.fast({0.1, 0, 0}), 4, 1e-2);
}

// Largest error of the expansion over points all around, near and far.
double worstError(const TriMesh& mesh, double beta, size_t count) {
  const MeshQuery query(mesh);
  const WindingNumber winding(query);
  double worst = 0;
  for (const Vec3& p : around(mesh, count, 93))
    worst = std::max(worst, std::abs(winding.fast(p, beta) - winding.exact(p)));
  return worst;
}

TEST(WindingNumber, FarFieldErrorIsBounded) {
  for (const test::NamedMesh& closed : test::closedMeshes()) {
    SCOPED_TRACE(closed.name);
    const double two = worstError(closed.mesh, 2, 1000), four = worstError(closed.mesh, 4, 1000);
    EXPECT_LT(two, 1e-3);
    EXPECT_GT(two, 0);  // it is an expansion
    EXPECT_LT(four, 1.5e-4);
  }
  EXPECT_LT(worstError(test::makeTriangleSoup(3000, 0.2, 94, 5), 2, 500), 1e-2);
}

TEST(WindingNumber, InsideIsThatOfTheExactSum) {
  const TriMesh mesh = shapes::makeRippledSphere({20, 0.2});
  const MeshQuery query(mesh);
  const WindingNumber winding(query);
  const std::vector<Vec3> points = around(mesh, 10'000, 95);
  std::vector<uint8_t> inside(points.size());
  winding.inside(points, inside);
  size_t within = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    ASSERT_EQ(inside[i] != 0, winding.exact(points[i]) > 0.5);
    ASSERT_EQ(winding.inside(points[i]), inside[i] != 0);
    within += inside[i];
  }
  EXPECT_GT(within, 1000u);
  EXPECT_LT(within, 9000u);
}

TEST(WindingNumber, NearTheSurface) {
  const TriMesh mesh = shapes::makeIcosphere({1, 20});
  const MeshQuery query(mesh);
  const WindingNumber winding(query);
  RandomStream random(96);
  for (int i = 0; i < 2000; ++i) {
    const geometry::Triangle& t = mesh.triangles[random.below(uint32_t(mesh.triangles.size()))];
    const Vec3 &a = mesh.positions[t[0]], &b = mesh.positions[t[1]], &c = mesh.positions[t[2]];
    const Vec3 middle = (a + b + c) / 3, normal = (b - a).cross(c - a).normalized();
    const double step = std::pow(10.0, -random.uniform(2, 12));
    EXPECT_TRUE(winding.inside(middle - step * normal));
    EXPECT_FALSE(winding.inside(middle + step * normal));
  }
}

TEST(WindingNumber, OnTheSurface) {
  const MeshQuery query(shapes::makeBox());
  const WindingNumber winding(query);
  EXPECT_NEAR(winding.exact({0.5, 0.125, 0.25}), 0.5, 1e-12);  // on a face
  EXPECT_NEAR(winding.exact({0.5, 0.5, 0.25}), 0.25, 1e-12);   // on an edge
  EXPECT_NEAR(winding.exact({0.5, 0.5, 0.5}), 0.125, 1e-12);   // on a corner
  EXPECT_NEAR(winding.fast({0.5, 0.5, 0.5}), 0.125, 1e-12);    // few triangles: opened to the end
}

TEST(WindingNumber, AnySizeAndPlace) {
  const TriMesh unit = shapes::makeRippledSphere({12, 0.1});
  for (const double size : {1e-30, 1e-10, 1.0, 1e10, 1e30}) {
    SCOPED_TRACE(size);
    TriMesh mesh = unit;
    for (Vec3& p : mesh.positions) p = size * (p + Vec3(500, 0, 0));
    const MeshQuery query(mesh);
    const WindingNumber winding(query);
    EXPECT_NEAR(winding.fast(size * Vec3(500.3, 0.2, 0.1)), 1, 2e-3);
    EXPECT_NEAR(winding.fast(size * Vec3(502, 0.2, 0.1)), 0, 2e-3);
    EXPECT_NEAR(winding.fast(Vec3(1e36, 1e36, 1e36)), 0, 1e-9);
  }
}

TEST(WindingNumber, SameForAnyVectorUnitAndNumberOfThreads) {
  const TriMesh mesh = shapes::makeRippledSphere({30, 0.2});
  const MeshQuery query(mesh);
  const std::vector<Vec3> points = around(mesh, 400, 97);
  std::vector<double> expected(points.size()), other(points.size());
  WindingNumber(query).fast(points, expected);
  for (const std::string& target : simdTargets())
    for (const unsigned threads : {1u, 2u, 4u}) {
      SCOPED_TRACE(target);
      const SimdTargetOverride use(target);
      const ThreadLimit limit(threads);
      const WindingNumber winding(query);
      winding.fast(points, other);
      ASSERT_EQ(other, expected);
      ASSERT_EQ(winding.fast(points[0]), expected[0]);
    }
}

TEST(WindingNumber, NothingThereAndNothingSensible) {
  const MeshQuery none, query(shapes::makeBox());
  const WindingNumber empty(none), winding(query);
  EXPECT_EQ(empty.exact({0, 0, 0}), 0);
  EXPECT_EQ(empty.fast({0, 0, 0}), 0);
  EXPECT_FALSE(empty.inside({0, 0, 0}));
  EXPECT_THROW(winding.exact({std::nan(""), 0, 0}), Error);
  EXPECT_THROW(winding.fast({0, 1e38, 0}), Error);
  EXPECT_THROW(winding.fast({0, 0, 0}, 0.5), Error);
  EXPECT_THROW(winding.inside({0, 0, std::nan("")}), Error);
}

TEST(WindingNumberFull, FarFieldErrorOnLargeAndRealMeshes) {
  EXPECT_LT(worstError(shapes::makeRippledSphere({250, 0.1}), 2, 1000), 1e-3);
  for (const test::NamedMesh& m : test::sharedMeshes({"cow", "fandisk", "rocker-arm", "spot", "suzanne"})) {
    SCOPED_TRACE(m.name);
    EXPECT_LT(worstError(m.mesh, 2, 1000), 1e-3);
  }
}

}  // namespace
}  // namespace sunder::spatial
