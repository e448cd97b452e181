// Every query against the loop over all triangles, bit for bit.
#include "sunder/spatial/query/mesh_queries.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/base/simd.h"
#include "sunder/shapes/round.h"

#include "query_cases.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::spatial {
namespace {

using geometry::TriMesh;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<TriangleAtDistance> allByDistance(const TriMesh& mesh, const Vec3& p) {
  std::vector<TriangleAtDistance> all;
  for (uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    const geometry::Triangle& v = mesh.triangles[t];
    all.push_back({closestPointOnTriangle(p, mesh.positions[v[0]], mesh.positions[v[1]], mesh.positions[v[2]])
                       .squaredDistance,
                   t});
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.squaredDistance != b.squaredDistance ? a.squaredDistance < b.squaredDistance
                                                  : a.triangle < b.triangle;
  });
  return all;
}

void checkAll(const TriMesh& mesh, const std::vector<Vec3>& points, const TreeSettings& settings) {
  const MeshQuery query(mesh, settings);
  std::vector<ClosestPoint> batch(points.size());
  query.closest(points, batch);
  const size_t k = 5;
  const TriangleLists nearestLists = query.nearest(points, k);
  const double distance = 0.2 * geometry::bounds(mesh.positions).diagonal();
  const TriangleLists withinLists = query.within(points, distance);
  ASSERT_EQ(nearestLists.size(), points.size());
  ASSERT_EQ(withinLists.size(), points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    std::vector<TriangleAtDistance> all = allByDistance(mesh, points[i]);
    const ClosestPoint one = query.closest(points[i]);
    ASSERT_EQ(one.triangle, all[0].triangle) << "query " << i;
    ASSERT_EQ(one.squaredDistance, all[0].squaredDistance);
    ASSERT_EQ(batch[i].triangle, one.triangle);
    ASSERT_EQ(batch[i].squaredDistance, one.squaredDistance);
    ASSERT_EQ(batch[i].point, one.point);
    ASSERT_EQ(batch[i].barycentric, one.barycentric);
    ASSERT_EQ(batch[i].feature, one.feature);

    const std::vector<TriangleAtDistance> few(all.begin(),
                                              all.begin() + std::ptrdiff_t(std::min(k, all.size())));
    ASSERT_EQ(query.nearest(points[i], k), few);
    ASSERT_EQ(std::vector(nearestLists.of(i).begin(), nearestLists.of(i).end()), few);
    if (i % 16 == 0) {
      ASSERT_EQ(query.nearest(points[i], all.size() + 3), all);
    }

    std::erase_if(all, [&](const TriangleAtDistance& t) { return t.squaredDistance > distance * distance; });
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.triangle < b.triangle; });
    ASSERT_EQ(query.within(points[i], distance), all);
    ASSERT_EQ(std::vector(withinLists.of(i).begin(), withinLists.of(i).end()), all);
  }
}

TEST(MeshQuery, SameAsBruteForceOnSoups) {
  for (const test::NamedMesh& soup : test::soupsByDefect()) {
    SCOPED_TRACE(soup.name);
    checkAll(soup.mesh, test::queryPoints(soup.mesh, 160, 21), kQueryTreeSettings);
    if (HasFatalFailure()) return;
  }
}

TEST(MeshQuery, AnyOrderOfTheTreeGivesTheSame) {
  const TriMesh mesh = shapes::makeRippledSphere({16, 0.2});
  const std::vector<Vec3> points = test::queryPoints(mesh, 80, 22);
  checkAll(mesh, points, {.order = LeafOrder::Morton});
  checkAll(mesh, points, {.order = LeafOrder::Morton, .longCodes = true, .commonScale = false});
}

TEST(MeshQuery, SameOnEveryVectorUnit) {
  const TriMesh mesh = test::makeTriangleSoup(500, 0.3, 31, 4);
  const std::vector<Vec3> points = test::queryPoints(mesh, 60, 23);
  for (const std::string& target : simdTargets()) {
    SCOPED_TRACE(target);
    const SimdTargetOverride use(target);
    checkAll(mesh, points, kQueryTreeSettings);
  }
}

TEST(MeshQuery, SameForAnyNumberOfThreads) {
  const TriMesh mesh = shapes::makeRippledSphere({40, 0.1});
  const std::vector<Vec3> points = test::queryPoints(mesh, 3000, 24);
  std::vector<ClosestPoint> first(points.size()), other(points.size());
  TriangleLists firstLists, otherLists;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    const MeshQuery query(mesh);
    auto& closest = threads == 1 ? first : other;
    auto& lists = threads == 1 ? firstLists : otherLists;
    query.closest(points, closest);
    lists = query.within(points, 0.1);
    if (threads == 1) continue;
    EXPECT_EQ(lists.offsets, firstLists.offsets);
    EXPECT_EQ(lists.items, firstLists.items);
    for (size_t i = 0; i < points.size(); ++i) {
      ASSERT_EQ(other[i].triangle, first[i].triangle);
      ASSERT_EQ(other[i].point, first[i].point);
    }
  }
}

TEST(MeshQuery, DistanceToASphereIsTheRadius) {
  const MeshQuery query(shapes::makeIcosphere({1, 60}));
  RandomStream random(25);
  for (int i = 0; i < 2000; ++i) {
    const Vec3 p = 3 * random.uniform() * random.unitVector();
    // Chords of 0.02 rad lie at most 1 - cos(0.01...) below the sphere.
    EXPECT_NEAR(std::sqrt(query.closest(p).squaredDistance), std::abs(p.norm() - 1), 2.5e-4);
  }
}

TEST(MeshQuery, NothingToFind) {
  const MeshQuery none, empty(std::vector<Vec3>{{1, 2, 3}}, std::vector<geometry::Triangle>{});
  for (const MeshQuery* query : {&none, &empty}) {
    const ClosestPoint found = query->closest({0, 0, 0});
    EXPECT_EQ(found.triangle, kNoIndex);
    EXPECT_EQ(found.squaredDistance, kInfinity);
    EXPECT_TRUE(query->within({0, 0, 0}, kInfinity).empty());
    EXPECT_TRUE(query->nearest({0, 0, 0}, 4).empty());
    std::vector<ClosestPoint> results(3);
    query->closest(std::vector<Vec3>(3, Vec3::Zero()), results);
    EXPECT_EQ(results[2].triangle, kNoIndex);
  }
  const MeshQuery query(test::makeTriangleSoup(20, 0.1, 26));
  EXPECT_TRUE(query.nearest({0, 0, 0}, 0).empty());
  EXPECT_EQ(query.within({0, 0, 0}, kInfinity).size(), 20u);
  EXPECT_TRUE(query.within({9, 9, 9}, 1).empty());
  EXPECT_EQ(query.nearest(std::vector<Vec3>{}, 3).size(), 0u);
}

TEST(MeshQuery, RefusesWhatItCannotAnswer) {
  const TriMesh mesh = test::makeTriangleSoup(20, 0.1, 27);
  const MeshQuery query(mesh);
  const auto kindOf = [](auto&& work) {
    try {
      work();
    } catch (const Error& e) {
      return e.kind();
    }
    return ErrorKind::Write;
  };
  std::vector<ClosestPoint> results(2);
  for (const double bad : {std::nan(""), kInfinity, -kInfinity, 1e38}) {
    EXPECT_EQ(kindOf([&] { query.closest(Vec3(0, bad, 0)); }), ErrorKind::Usage);
    EXPECT_EQ(kindOf([&] { query.within(Vec3(bad, 0, 0), 1); }), ErrorKind::Usage);
    EXPECT_EQ(kindOf([&] { query.nearest(Vec3(0, 0, bad), 1); }), ErrorKind::Usage);
    const std::vector<Vec3> points{Vec3::Zero(), Vec3(0, bad, 0)};
    EXPECT_EQ(kindOf([&] { query.closest(points, results); }), ErrorKind::Usage);
  }
  EXPECT_EQ(kindOf([&] { query.closest(std::vector<Vec3>(3, Vec3::Zero()), results); }), ErrorKind::Usage);
  EXPECT_EQ(kindOf([&] { query.within(Vec3::Zero(), -1); }), ErrorKind::Usage);
  EXPECT_EQ(kindOf([&] { query.within(Vec3::Zero(), std::nan("")); }), ErrorKind::Usage);
  EXPECT_EQ(kindOf([&] { MeshQuery(mesh, {.arity = 4}); }), ErrorKind::Usage);
  EXPECT_EQ(kindOf([&] { MeshQuery(mesh, {.margin = 1}); }), ErrorKind::Usage);
  TriMesh broken = mesh;
  broken.triangles[3][1] = 1000;
  EXPECT_EQ(kindOf([&] { MeshQuery{broken}; }), ErrorKind::Usage);
  broken = mesh;
  broken.positions[5].x() = std::nan("");
  EXPECT_EQ(kindOf([&] { MeshQuery{broken}; }), ErrorKind::Geometry);
}

TEST(MeshQueryFull, SameAsBruteForceOnRealMeshes) {
  for (const test::NamedMesh& m :
       test::sharedMeshes({"cow", "fandisk", "rocker-arm", "spot", "suzanne", "teapot", "stanford-bunny"})) {
    SCOPED_TRACE(m.name);
    checkAll(m.mesh, test::queryPoints(m.mesh, 400, 41), kQueryTreeSettings);
    if (HasFatalFailure()) return;
  }
}

TEST(MeshQueryFull, SameAsBruteForceOnManySoups) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, 77);
    const TriMesh mesh = test::makeTriangleSoup(
        1 + random.below(1500), std::pow(10.0, random.uniform(-4, 0.3)), seed, random.below(4));
    checkAll(mesh, test::queryPoints(mesh, 200, seed), kQueryTreeSettings);
    if (HasFatalFailure()) return;
  }
}

// Blocks within the distance of the closest triangle hold it; a search among them finds it up to float.
TEST(MeshQueries, SearchesAmongFewBlocks) {
  const TriMesh mesh = shapes::makeRippledSphere({20, 0.1});
  const MeshQuery query(mesh);
  RandomStream random(6);
  std::vector<uint32_t> blocks(MeshQuery::kMostBlocks);
  for (int i = 0; i < 2000; ++i) {
    const Vec3 p = random.pointIn({Vec3::Constant(-1.2), Vec3::Constant(1.2)});
    ClosestPoint closest;
    const uint32_t block = query.closestBlock(p, closest);
    EXPECT_EQ(closest.squaredDistance, query.closest(p).squaredDistance);
    const size_t count = query.blocksWithin(p, std::sqrt(closest.squaredDistance) * 1.001, blocks);
    ASSERT_LE(count, blocks.size());
    EXPECT_EQ(std::count(blocks.begin(), blocks.begin() + std::ptrdiff_t(count), block), 1);
    const D3 point{p.x(), p.y(), p.z()};
    NearestLeaf found;
    query.nearestAmong({blocks.data(), count}, {&point, 1}, {&found, 1});
    EXPECT_GE(found.squared, closest.squaredDistance);
    EXPECT_LE(found.squared, closest.squaredDistance * (1 + 1e-5) + 1e-12);
    EXPECT_EQ(query.answer(p, found).squaredDistance, found.squared);
  }
  EXPECT_EQ(query.blocksWithin(Vec3::Zero(), 10, std::span(blocks).first(3)), SIZE_MAX);
  const D3 origin{0, 0, 0};
  NearestLeaf unused;
  EXPECT_THROW(query.nearestAmong({}, {&origin, 1}, {&unused, 1}), Error);
}

}  // namespace
}  // namespace sunder::spatial
