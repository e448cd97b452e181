#include "sunder/spatial/pairs/overlap_pairs.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/simd.h"
#include "sunder/shapes/catalogue.h"

#include "spatial_scenes.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace sunder::spatial {
namespace {

// Coordinates that float holds exactly, so that brute force and tree see the same boxes.
geometry::TriMesh rounded(geometry::TriMesh mesh) {
  for (Vec3& p : mesh.positions) p = p.cast<float>().cast<double>();
  return mesh;
}

OiTree overlapTreeOf(const geometry::TriMesh& mesh, const TreeSettings& settings = {}) {
  OiTree tree;
  OiTreeBuilder().build(tree, TriangleLeaves{mesh.positions, mesh.triangles}, settings);
  return tree;
}

TEST(OverlapPairs, EqualBruteForceOnRandomScenes) {
  RandomStream random(1, 0);
  PairList list;
  for (int scene = 0; scene < 400; ++scene) {
    const auto a = rounded(randomTriangles(random, random.below(100), random.uniform(0.02, 0.6)));
    const auto b = rounded(randomTriangles(random, random.below(700), random.uniform(0.02, 0.3)));
    TreeSettings settings;
    settings.order = scene % 2 ? LeafOrder::Selection : LeafOrder::Morton;
    settings.longCodes = scene % 3 == 0;
    settings.commonScale = scene % 5 != 0;
    const OiTree ta = overlapTreeOf(a, settings), tb = overlapTreeOf(b, settings);
    overlapPairs(ta, tb, list);
    ASSERT_EQ(canonical(list.pairs()), bruteForcePairs(boxesOf(a), boxesOf(b)));
    overlapPairs(tb, ta, list);
    ASSERT_EQ(canonical(list.pairs()), canonical(bruteForcePairs(boxesOf(b), boxesOf(a))));
    selfOverlapPairs(tb, list);
    ASSERT_EQ(canonical(list.pairs(), true), bruteForceSelfPairs(boxesOf(b)));
  }
}

TEST(OverlapPairs, ManyJobsAtOnceKeepTheirPairsApart) {
  RandomStream random(2, 0);
  std::vector<geometry::TriMesh> meshes;
  for (int i = 0; i < 30; ++i) meshes.push_back(rounded(randomTriangles(random, random.below(60), 0.2)));
  std::vector<OiTree> trees;
  for (const auto& mesh : meshes) trees.push_back(overlapTreeOf(mesh));
  std::vector<TreePair> jobs;
  for (size_t i = 0; i < trees.size(); ++i)
    for (size_t j = i; j < trees.size(); ++j) jobs.push_back({&trees[i], &trees[j]});
  for (unsigned threads : {1u, 4u}) {
    ThreadLimit limit(threads);
    PairList list;
    overlapPairs(jobs, list);
    size_t job = 0, total = 0;
    for (size_t i = 0; i < trees.size(); ++i)
      for (size_t j = i; j < trees.size(); ++j, ++job) {
        const auto expected = i == j ? bruteForceSelfPairs(boxesOf(meshes[i]))
                                     : bruteForcePairs(boxesOf(meshes[i]), boxesOf(meshes[j]));
        ASSERT_EQ(canonical(list.pairs(job), i == j), expected);
        total += expected.size();
      }
    EXPECT_EQ(list.size(), total);
  }
}

TEST(OverlapPairs, SameBytesForAnyNumberOfThreads) {
  const auto sphere = shapes::makeShape("rippled-sphere", {{"n", "40"}});
  auto moved = sphere;
  for (Vec3& p : moved.positions) p += Vec3(0.02, 0.006, 0.004);
  const OiTree a = overlapTreeOf(sphere), b = overlapTreeOf(moved);
  std::vector<PrimitivePair> reference;
  for (unsigned threads : {1u, 2u, 4u}) {
    ThreadLimit limit(threads);
    PairList list;
    overlapPairs(a, b, list);
    if (reference.empty()) reference.assign(list.pairs().begin(), list.pairs().end());
    EXPECT_TRUE(std::ranges::equal(list.pairs(), reference));
    EXPECT_FALSE(reference.empty());
  }
}

TEST(OverlapPairs, SamePairsOnEveryVectorTarget) {
  const auto sphere = rounded(shapes::makeShape("rippled-sphere", {{"n", "12"}}));
  const auto expected = bruteForceSelfPairs(boxesOf(sphere));
  for (const std::string& target : simdTargets()) {
    const SimdTargetOverride use(target);
    PairList list;
    selfOverlapPairs(overlapTreeOf(sphere), list);
    EXPECT_EQ(canonical(list.pairs(), true), expected) << target;
  }
}

TEST(OverlapPairs, ReferenceCountsOfTheBenchmarkSpheres) {
  const auto count = [](const char* n, Vec3 shift) {
    const auto a = rounded(shapes::makeShape("rippled-sphere", {{"n", n}}));
    auto b = shapes::makeShape("rippled-sphere", {{"n", n},
                                                  {"x", std::to_string(shift.x())},
                                                  {"y", std::to_string(shift.y())},
                                                  {"z", std::to_string(shift.z())}});
    PairList list;
    overlapPairs(overlapTreeOf(a), overlapTreeOf(rounded(b)), list);
    return list.size();
  };
  EXPECT_EQ(count("112", {0.5, 0.15, 0.1}), 17'078u);
}

TEST(OverlapPairs, FlatGridHasTheClosedCount) {  // A4.3
  for (const auto& [n, expected] : {std::pair{2, 28}, {5, 313}, {12, 2168}, {48, 38'024}}) {
    geometry::TriMesh mesh;
    const auto vertex = [n = n](int u, int v) { return static_cast<uint32_t>(u * (n + 1) + v); };
    for (int u = 0; u <= n; ++u)
      for (int v = 0; v <= n; ++v) mesh.positions.emplace_back(u, v, 0);
    for (int u = 0; u < n; ++u)
      for (int v = 0; v < n; ++v) {
        mesh.triangles.push_back({vertex(u, v), vertex(u + 1, v), vertex(u + 1, v + 1)});
        mesh.triangles.push_back({vertex(u, v), vertex(u + 1, v + 1), vertex(u, v + 1)});
      }
    PairList list;
    selfOverlapPairs(overlapTreeOf(mesh), list);
    EXPECT_EQ(list.size(), static_cast<size_t>(expected)) << n;
  }
}

TEST(OverlapPairs, EdgeCases) {
  PairList list;
  const OiTree none = overlapTreeOf({});
  const geometry::TriMesh one{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}};
  const OiTree single = overlapTreeOf(one);
  overlapPairs(none, single, list);
  EXPECT_EQ(list.size(), 0u);
  overlapPairs(single, single, list);  // one tree: with itself
  EXPECT_EQ(list.size(), 0u);
  const OiTree other = overlapTreeOf(one);
  overlapPairs(single, other, list);
  EXPECT_EQ(list.size(), 1u);

  geometry::TriMesh equal = one;  // all triangles the same
  equal.triangles.assign(300, {0, 1, 2});
  selfOverlapPairs(overlapTreeOf(equal), list);
  EXPECT_EQ(list.size(), 300u * 299 / 2);

  geometry::TriMesh huge = one;
  for (Vec3& p : huge.positions) p *= 1e30;
  overlapPairs(overlapTreeOf(huge), single, list);
  EXPECT_EQ(list.size(), 1u);

  geometry::TriMesh broken = one;
  broken.positions[1].y() = std::numeric_limits<double>::quiet_NaN();
  try {
    overlapTreeOf(broken);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("vertex 1"), std::string::npos) << e.what();
  }
  broken.positions[1].y() = 1e300;
  EXPECT_THROW(overlapTreeOf(broken), Error);
}

TEST(OverlapPairs, FarApartIsOneTest) {  // A4.7
  const auto sphere = shapes::makeShape("icosphere", {{"frequency", "10"}});
  auto far = sphere;
  for (Vec3& p : far.positions) p += Vec3(100, 0, 0);
  PairList list;
  overlapPairs(overlapTreeOf(sphere), overlapTreeOf(far), list);
  EXPECT_EQ(list.size(), 0u);
  EXPECT_EQ(list.statistics().boxTests, 1u);
}

TEST(OverlapPairs, OutwardRoundingLosesNoOverlap) {
  // Boxes in double that overlap, by as little as one unit in the last place, must still do so in float.
  RandomStream random(3, 0);
  for (int i = 0; i < 20'000; ++i) {
    const double x = random.uniform(-10, 10), gap = std::ldexp(1.0, -static_cast<int>(random.below(60)));
    geometry::TriMesh a{{{x - 1, 0, 0}, {x, 1, 0}, {x, 0, 1}}, {{0, 1, 2}}};
    geometry::TriMesh b{{{x, 0, 0}, {x + gap, 1, 0}, {x + 1, 0, 1}}, {{0, 1, 2}}};
    PairList list;
    const OiTree ta = overlapTreeOf(a), tb = overlapTreeOf(b);
    overlapPairs(ta, tb, list);
    ASSERT_EQ(list.size(), 1u);
    const Box3f box = ta.bounds();
    ASSERT_LE(double(box.lower.x()), x - 1);
    ASSERT_GE(double(box.upper.x()), x);
  }
}

}  // namespace
}  // namespace sunder::spatial
