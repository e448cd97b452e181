#include "sunder/spatial/query/ray_queries.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/simd.h"

#include "query_cases.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::spatial {
namespace {

using geometry::TriMesh;

std::vector<RayHit> allByBruteForce(const TriMesh& mesh, const Ray& ray) {
  std::vector<RayHit> hits;
  for (uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    const geometry::Triangle& v = mesh.triangles[t];
    const RayHit hit =
        intersectTriangle(ray, mesh.positions[v[0]], mesh.positions[v[1]], mesh.positions[v[2]], t);
    if (hit) hits.push_back(hit);
  }
  std::sort(hits.begin(), hits.end(), [](const RayHit& a, const RayHit& b) {
    return a.t != b.t ? a.t < b.t : a.triangle < b.triangle;
  });
  return hits;
}

Vec3 pointOf(const TriMesh& mesh, const RayHit& hit) {
  const geometry::Triangle& v = mesh.triangles[hit.triangle];
  return hit.barycentric[0] * mesh.positions[v[0]] + hit.barycentric[1] * mesh.positions[v[1]] +
         hit.barycentric[2] * mesh.positions[v[2]];
}

std::vector<Ray> raysFor(const TriMesh& mesh, size_t count, uint64_t seed) {
  RandomStream random(seed);
  const std::vector<Vec3> from = test::queryPoints(mesh, count, seed + 1),
                          to = test::queryPoints(mesh, count, seed + 2);
  std::vector<Ray> rays;
  for (size_t i = 0; i < count; ++i) {
    Ray ray{from[i], to[(i * 7) % count] - from[i]};
    if (i % 5 == 1) ray.direction = Vec3::Unit(int(i % 3)) * (i % 2 ? 1 : -1);
    if (i % 5 == 2) ray.direction = random.unitVector() * 1e-12;
    if (i % 5 == 3) ray.tMax = random.uniform(0, 2);
    if (i % 5 == 4) ray.tMin = random.uniform(0, 0.5);
    if (ray.direction == Vec3::Zero()) ray.direction = Vec3::UnitX();
    rays.push_back(ray);
  }
  return rays;
}

void checkAll(const TriMesh& mesh, const std::vector<Ray>& rays) {
  const MeshQuery query(mesh);
  std::vector<RayHit> batch(rays.size());
  firstHits(query, rays, batch);
  const double scale = geometry::bounds(mesh.positions).diagonal();
  for (size_t i = 0; i < rays.size(); ++i) {
    const std::vector<RayHit> expected = allByBruteForce(mesh, rays[i]);
    const std::vector<RayHit> all = allHits(query, rays[i]);
    const RayHit first = firstHit(query, rays[i]);
    ASSERT_EQ(all.size(), expected.size()) << "ray " << i;
    ASSERT_EQ(anyHit(query, rays[i]), !expected.empty());
    ASSERT_EQ(bool(first), !expected.empty());
    ASSERT_EQ(batch[i].triangle, first.triangle);
    ASSERT_EQ(batch[i].t, first.t);
    for (size_t h = 0; h < all.size(); ++h) {
      ASSERT_EQ(all[h].triangle, expected[h].triangle);
      ASSERT_EQ(all[h].t, expected[h].t);
    }
    if (!first) continue;
    ASSERT_EQ(first.triangle, expected[0].triangle);
    ASSERT_EQ(first.t, expected[0].t);
    const Vec3 at = rays[i].origin + first.t * rays[i].direction;
    const double size = scale + rays[i].origin.norm() + at.norm();
    ASSERT_LE((at - pointOf(mesh, first)).norm(), 1e-9 * size) << "ray " << i;
  }
}

TEST(RayQueries, SameAsBruteForceOnSoups) {
  for (const test::NamedMesh& soup : test::soupsByDefect()) {
    SCOPED_TRACE(soup.name);
    checkAll(soup.mesh, raysFor(soup.mesh, 400, 51));
    if (HasFatalFailure()) return;
  }
}

TEST(RayQueries, SameOnEveryVectorUnit) {
  const TriMesh mesh = test::makeTriangleSoup(500, 0.3, 31, 4);
  for (const std::string& target : simdTargets()) {
    SCOPED_TRACE(target);
    const SimdTargetOverride use(target);
    checkAll(mesh, raysFor(mesh, 100, 52));
  }
}

// Rays from the inside of closed meshes, aimed at corners, edges and anywhere: all must get out through the
// surface. Returns how many did not.
size_t leaks(const TriMesh& mesh, const Vec3& inside, size_t count, uint64_t seed) {
  const MeshQuery query(mesh);
  const auto triangles = static_cast<uint32_t>(mesh.triangles.size());
  return parallelReduce(
      count, size_t(0),
      [&](size_t begin, size_t end) {
        RandomStream random(seed, begin);
        size_t leaked = 0;
        for (size_t i = begin; i < end; ++i) {
          const geometry::Triangle& t = mesh.triangles[random.below(triangles)];
          const Vec3 origin = inside + 1e-3 * test::randomPoint(random, 1);
          const double s = random.uniform();
          Vec3 target = mesh.positions[t[0]];
          if (i % 4 == 1) target += s * (mesh.positions[t[1]] - target);
          if (i % 4 == 2) target = 0.5 * (target + mesh.positions[t[1]]);
          Vec3 direction = target - origin;
          if (i % 4 == 3) direction = random.unitVector();
          if (i % 64 == 63) direction = Vec3::Unit(int(i / 64 % 3));
          const Ray ray{i % 8 == 4 ? inside : origin, direction};
          leaked += !firstHit(query, ray);
          leaked += !anyHit(query, ray);
        }
        return leaked;
      },
      [](size_t a, size_t b) { return a + b; }, 1024);
}

size_t leaksOfAll(size_t count) {
  size_t leaked = 0;
  leaked += leaks(shapes::makeRippledSphere({40, 0.2}), Vec3::Zero(), count / 4, 61);
  leaked += leaks(shapes::makeIcosphere({1, 30}), Vec3::Zero(), count / 4, 62);
  leaked += leaks(shapes::makeOctahedron({1, 8}), Vec3::Zero(), count / 4, 63);
  leaked += leaks(shapes::makeCylinder(), Vec3(0, 0.01, 0), count / 4, 64);
  return leaked;
}

TEST(RayQueries, NoRayLeaksOutOfClosedMeshes) { EXPECT_EQ(leaksOfAll(100'000), 0u); }
TEST(RayQueriesFull, NoRayLeaksOutOfClosedMeshes) { EXPECT_EQ(leaksOfAll(1'000'000), 0u); }

TEST(RayQueries, EverySideOfAClosedMeshIsCrossed) {
  const TriMesh mesh = shapes::makeTorus();
  const MeshQuery query(mesh);
  RandomStream random(71);
  for (int i = 0; i < 3000; ++i) {
    const Ray ray{3 * random.unitVector(), random.unitVector()};
    const std::vector<RayHit> hits = allHits(query, ray);
    ASSERT_EQ(hits.size() % 2, 0u);  // in general position
    for (size_t h = 0; h < hits.size(); ++h) ASSERT_EQ(hits[h].front, h % 2 == 0);
  }
}

TEST(RayQueries, KnownHits) {
  const TriMesh mesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}};
  const MeshQuery query(mesh);
  const RayHit above = firstHit(query, {{0.25, 0.25, 2}, {0, 0, -4}});
  EXPECT_DOUBLE_EQ(above.t, 0.5);
  EXPECT_TRUE(above.front);
  EXPECT_TRUE(above.barycentric.isApprox(Vec3(0.5, 0.25, 0.25), 1e-15));
  EXPECT_FALSE(firstHit(query, {{0.25, 0.25, -2}, {0, 0, 1}}).front);
  EXPECT_FALSE(firstHit(query, {{0.25, 0.25, 2}, {0, 0, 1}}));
  EXPECT_FALSE(firstHit(query, {{0.25, 0.25, 2}, {0, 0, -1}, 0, 1.9}));
  EXPECT_FALSE(firstHit(query, {{0.25, 0.25, 2}, {0, 0, -1}, 2.1}));
  EXPECT_EQ(firstHit(query, {{0.25, 0.25, 0}, {0, 0, -1}}).t, 0);  // starts on it
  EXPECT_TRUE(anyHit(query, {{0, 0, 1}, {0, 0, -1}}));             // a corner
  EXPECT_TRUE(anyHit(query, {{0.5, 0.5, 1}, {0, 0, -1}}));         // an edge
  EXPECT_FALSE(anyHit(query, {{0.5, std::nextafter(0.5, 1.0), 1}, {0, 0, -1}}));
  // Within the plane: enters through an edge, starts inside, runs along an edge, passes by.
  EXPECT_DOUBLE_EQ(firstHit(query, {{-1, 0.25, 0}, {1, 0, 0}}).t, 1);
  EXPECT_DOUBLE_EQ(firstHit(query, {{0.25, 0.25, 0}, {1, 0, 0}}).t, 0);
  EXPECT_DOUBLE_EQ(firstHit(query, {{-2, 0, 0}, {1, 0, 0}}).t, 2);
  EXPECT_DOUBLE_EQ(firstHit(query, {{-2, 3, 0}, {1, -1, 0}}).t, 2);
  EXPECT_FALSE(anyHit(query, {{-1, 1.25, 0}, {1, 0, 0}}));
  EXPECT_FALSE(anyHit(query, {{2, 0.25, 0}, {1, 0, 0}}));
}

TEST(RayQueries, TrianglesWithoutAreaAreSegmentsAndPoints) {
  const TriMesh mesh{{{0, 0, 0}, {1, 0, 0}, {0.5, 0, 0}, {5, 5, 5}}, {{0, 1, 2}, {3, 3, 3}}};
  const MeshQuery query(mesh);
  EXPECT_EQ(firstHit(query, {{0.25, 0, 1}, {0, 0, -1}}).triangle, 0u);
  EXPECT_FALSE(anyHit(query, {{1.25, 0, 1}, {0, 0, -1}}));
  EXPECT_FALSE(anyHit(query, {{0.25, 1e-300, 1}, {0, 0, -1}}));
  EXPECT_EQ(firstHit(query, {{0, 0, 0}, {1, 1, 1}, 1}).triangle, 1u);
}

TEST(RayQueries, NothingToHitAndNothingToShoot) {
  const MeshQuery none;
  EXPECT_FALSE(firstHit(none, {}));
  EXPECT_FALSE(anyHit(none, {}));
  EXPECT_TRUE(allHits(none, {}).empty());
  const MeshQuery query(test::makeTriangleSoup(20, 0.1, 27));
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for (const Ray& ray :
       {Ray{{nan, 0, 0}, {1, 0, 0}}, Ray{{0, 0, 0}, {nan, 0, 0}}, Ray{{0, 0, 0}, {0, 0, 0}},
        Ray{{0, 0, 0}, {infinity, 0, 0}}, Ray{{0, 0, 0}, {1, 0, 0}, -1}, Ray{{0, 0, 0}, {1, 0, 0}, 2, 1},
        Ray{{0, 0, 0}, {1, 0, 0}, 0, nan}, Ray{{1e38, 0, 0}, {1, 0, 0}}}) {
    EXPECT_THROW(firstHit(query, ray), Error);
    EXPECT_THROW(anyHit(query, ray), Error);
    EXPECT_THROW(allHits(query, ray), Error);
  }
}

TEST(RayQueriesFull, SameAsBruteForceOnRealMeshes) {
  for (const test::NamedMesh& m : test::sharedMeshes({"cow", "fandisk", "suzanne", "teapot", "spot"})) {
    SCOPED_TRACE(m.name);
    checkAll(m.mesh, raysFor(m.mesh, 1000, 81));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace sunder::spatial
