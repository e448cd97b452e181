// Spheres of mixed radii: the tree of arity eight and five walks of the radix tree against brute force (spec
// 04, 11.9).
#include "sunder/spatial/points/sphere_neighbours.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/simd.h"
#include "sunder/spatial/points/point_grid.h"
#include "sunder/spatial/points/radix_traversal.h"

#include "spatial/particle_cases.h"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::spatial {
namespace {

struct Spheres {
  std::vector<Vec3> centres;
  std::vector<double> radii;
  double margin = 0;
  SphereSet set() const { return {centres, radii, margin}; }
};

Spheres mixed(size_t n, double extent, double small, double large, double share, uint64_t seed = 1) {
  Spheres s{randomPoints(n, cube(0, extent), seed), {}, 0};
  RandomStream random(seed, 9);
  for (size_t i = 0; i < n; ++i) s.radii.push_back(random.uniform() < share ? large : small);
  return s;
}

RadixTree treeOf(const Spheres& s) {
  std::vector<Box3f> boxes;
  sphereBoxes(s.set(), boxes);
  RadixTree tree;
  buildRadixTree(tree, boxes);
  return tree;
}

constexpr RadixWalk kWalks[] = {RadixWalk::Stack, RadixWalk::SiblingTrail, RadixWalk::LevelTrail};

// All methods; returns the number of ordered pairs.
size_t expectBruteForce(const Spheres& s, const char* what) {
  SCOPED_TRACE(what);
  const RowLists expected = bruteForce(s.set());
  NeighbourRows rows;
  SphereNeighbours().find(s.set(), rows);
  EXPECT_TRUE(listsOf(rows) == expected);
  const RadixTree tree = treeOf(s);
  for (RadixStart start : {RadixStart::Root, RadixStart::Leaf}) {
    uint64_t tests = 0;
    for (RadixWalk walk : kWalks) {
      const RadixCount count = radixNeighbours(tree, s.set(), rows, {.walk = walk, .start = start});
      EXPECT_TRUE(listsOf(rows) == expected);
      if (tests == 0) tests = count.boxTests;
      EXPECT_EQ(count.boxTests, tests);  // the same nodes, whatever the walk
    }
  }
  return countOf(expected);
}

TEST(SphereNeighbours, AllMethodsEqualBruteForce) {
  const Spheres s = mixed(2000, 2.5, 0.075, 0.3, 0.02);
  EXPECT_GT(expectBruteForce(s, "as in the specification"), 2000u);
  expectBruteForce(mixed(1500, 10, 0.01, 10, 0.003), "ratio 1000");
  expectBruteForce(mixed(1500, 1, 0, 0.1, 0.5), "radii of 0");
  Spheres margin = mixed(1000, 3, 0.05, 0.2, 0.1);
  margin.margin = 0.15;
  expectBruteForce(margin, "margin");
}

TEST(SphereNeighbours, FlatFarAndTouching) {
  Spheres s = mixed(1000, 1, 0.01, 0.05, 0.2);
  for (Vec3& c : s.centres) c.y() = 4;
  expectBruteForce(s, "flat");
  for (Vec3& c : s.centres) c += Vec3(1e30, 0, -1e30);
  expectBruteForce(s, "rounded to few places");
  s = mixed(1000, 1, 0.01, 0.05, 0.2);
  for (Vec3& c : s.centres) c += Vec3(1e7, -1e7, 1e7);
  expectBruteForce(s, "beyond what float tells apart");
  Spheres touching;
  for (int z = 0; z < 9; ++z)
    for (int y = 0; y < 9; ++y)
      for (int x = 0; x < 9; ++x) touching.centres.push_back(Vec3(x, y, z));
  touching.radii.assign(touching.centres.size(), 0.5);
  EXPECT_EQ(expectBruteForce(touching, "touching"), 3u * 2 * 8 * 9 * 9);
  for (Vec3& c : touching.centres) c *= 0.3;
  touching.radii.assign(touching.centres.size(), 0.15);
  expectBruteForce(touching, "touching, up to rounding");
}

TEST(SphereNeighbours, FewAndCoincident) {
  for (size_t n = 0; n < 12; ++n) expectBruteForce(mixed(n, 1, 0.1, 0.4, 0.5, n), "few");
  Spheres same;
  same.centres.assign(300, Vec3(1, 2, 3));
  same.radii.assign(300, 0.0);
  EXPECT_EQ(expectBruteForce(same, "coincident"), 300u * 299);
}

TEST(SphereNeighbours, EqualRadiiEqualTheGrid) {
  const size_t n = 20'000;
  const double radius = radiusFor(n, 28);
  Spheres s;
  s.centres = randomPoints(n, cube(0, 1));
  s.radii.assign(n, 0.5 * radius);
  NeighbourRows byTree, byGrid, byRadix;
  SphereNeighbours().find(s.set(), byTree);
  pointNeighbours(s.centres, radius, byGrid, {.sorted = true});
  radixNeighbours(treeOf(s), s.set(), byRadix);
  EXPECT_EQ(bytesHash(byTree), bytesHash(byGrid));
  EXPECT_EQ(bytesHash(byRadix), bytesHash(byGrid));
}

TEST(SphereNeighbours, SameBytesForAnyThreadsAndTargets) {
  const Spheres s = mixed(20'000, 5, 0.05, 0.4, 0.02);
  NeighbourRows rows;
  uint64_t expected = 0, expectedTests = 0;
  for (unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    SphereNeighbours search;
    search.find(s.set(), rows);
    if (threads == 1) expected = bytesHash(rows), expectedTests = search.boxTests();
    EXPECT_EQ(bytesHash(rows), expected);
    EXPECT_EQ(search.boxTests(), expectedTests);
    radixNeighbours(treeOf(s), s.set(), rows);
    EXPECT_EQ(bytesHash(rows), expected);
  }
  for (const std::string& target : simdTargets()) {
    const SimdTargetOverride use(target);
    SphereNeighbours().find(s.set(), rows);
    EXPECT_EQ(bytesHash(rows), expected) << target;
  }
}

TEST(SphereNeighbours, RefusesByName) {
  NeighbourRows rows;
  SphereNeighbours search;
  const auto message = [&](const Spheres& s) -> std::string {
    try {
      search.find(s.set(), rows);
    } catch (const Error& e) {
      return e.message();
    }
    return "";
  };
  Spheres s = mixed(100, 1, 0.1, 0.2, 0.5);
  s.radii[40] = -1;
  EXPECT_EQ(message(s), "sphere 40 has a negative radius");
  s.radii[30] = std::nan("");
  EXPECT_EQ(message(s), "sphere 30 has a radius that is not finite");
  s.centres[20].x() = std::nan("");
  EXPECT_EQ(message(s), "sphere 20 has a centre that is not finite");
  s.centres[10].x() = 1e39;
  EXPECT_EQ(message(s), "sphere 10 lies beyond the range of float");
  s = mixed(100, 1, 0.1, 0.2, 0.5);
  s.margin = -1;
  EXPECT_NE(message(s).find("margin"), std::string::npos);
  s.margin = 0;
  s.radii.pop_back();
  EXPECT_EQ(message(s), "there are 100 centres but 99 radii");
  s.radii.push_back(10);
  s.radii.assign(100, 10);
  EXPECT_THROW(search.find(s.set(), rows, 9899), Error);
  EXPECT_NO_THROW(search.find(s.set(), rows, 9900));
  EXPECT_EQ(rows.total(), 9900u);
}

TEST(RadixTraversal, BottomUpTestsLess) {
  const Spheres s = mixed(20'000, 4.2, 0.075, 0.075, 0);
  const RadixTree tree = treeOf(s);
  NeighbourRows rows;
  const uint64_t down = radixNeighbours(tree, s.set(), rows, {.start = RadixStart::Root}).boxTests;
  const uint64_t up = radixNeighbours(tree, s.set(), rows, {.start = RadixStart::Leaf}).boxTests;
  EXPECT_LT(double(up), 0.85 * double(down));
  EXPECT_GT(double(up), 0.5 * double(down));
}

// Trails have 64 bits; the comb of E20 is higher. Every walk still finds all leaves, each once.
TEST(RadixTraversal, TreesHigherThanATrail) {
  for (size_t duplicates : {1024, 262'144, 524'288, 1'048'576}) {  // 55, 63, 64, 65 edges
    std::vector<uint64_t> codes(duplicates, 0);
    for (unsigned bit = 0; bit < 45; ++bit) codes.push_back(uint64_t(1) << bit);
    std::vector<Box3f> boxes;
    for (size_t i = 0; i < codes.size(); ++i) boxes.push_back(boxAround(Vec3(double(i), 0, 0), 0.25));
    RadixTree tree;
    buildRadixTree(tree, codes, boxes);
    EXPECT_EQ(tree.height(), 45 + std::bit_width(duplicates) - 1);
    for (RadixWalk walk : kWalks) {
      std::vector<uint32_t> found;
      RadixCount count;
      const Box3f everything{Vec3f::Constant(-1e9f), Vec3f::Constant(1e9f)};
      forOverlaps(tree, everything, walk, count, [&](uint32_t leaf) { found.push_back(leaf); });
      ASSERT_EQ(found.size(), codes.size());
      for (uint32_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], i);  // left to right
      EXPECT_EQ(count.boxTests, tree.nodeCount());
      found.clear();
      // One deep leaf alone, from the root and from another leaf.
      forOverlaps(tree, boxAround(Vec3(7, 0, 0), 0.1), walk, count, [&](uint32_t l) { found.push_back(l); });
      EXPECT_EQ(found, std::vector<uint32_t>{7});
      found.clear();
      forOverlapsFrom(tree, 6, boxAround(Vec3(7, 0, 0), 0.9), walk, count,
                      [&](uint32_t l) { found.push_back(l); });
      EXPECT_EQ(found, std::vector<uint32_t>({7, 8}));
    }
  }
}

TEST(RadixTraversal, PhaseCullingRemovesTheOwnBodyAndNothingElse) {
  Spheres s = mixed(3000, 3, 0.08, 0.2, 0.1);
  std::vector<int32_t> phases;
  for (const Vec3& c : s.centres) phases.push_back(int32_t(c.x()) + 3 * int32_t(c.y()) + 9 * int32_t(c.z()));
  RadixTree tree = treeOf(s);
  NeighbourRows rows;
  EXPECT_THROW(radixNeighbours(tree, s.set(), rows, {.cullPhases = true}), Error);
  tree.setPhases(phases);
  RowLists expected = bruteForce(s.set());
  size_t removed = 0;
  for (uint32_t i = 0; i < expected.size(); ++i)
    removed += std::erase_if(expected[i], [&](uint32_t j) { return phases[i] == phases[j]; });
  EXPECT_GT(removed, 1000u);
  EXPECT_GT(countOf(expected), 500u);
  const uint64_t all = radixNeighbours(tree, s.set(), rows).boxTests;
  for (RadixWalk walk : kWalks) {
    const RadixCount count = radixNeighbours(tree, s.set(), rows, {.walk = walk, .cullPhases = true});
    EXPECT_TRUE(listsOf(rows) == expected);
    EXPECT_LT(count.boxTests, all);
  }
}

// 11.9.5: hits and a logarithm, at any ratio of radii.
TEST(RadixTraversal, LargeSpheresDoNotSpoilTheTree) {
  const auto testsPerSphere = [](size_t n, double large) {
    const Spheres s = mixed(n, std::cbrt(double(n)) * 0.25, 0.05, large, 0);
    Spheres few = s;
    for (size_t i = 0; i < n; i += n / 10) few.radii[i] = large;
    NeighbourRows rows;
    SphereNeighbours search;
    search.find(few.set(), rows);
    return (double(search.boxTests()) - 8.0 * double(rows.total())) / double(n);
  };
  const double without = testsPerSphere(20'000, 0.05), with = testsPerSphere(20'000, 5.0);
  EXPECT_LT(with, 3 * without);
}

TEST(RadixTraversalFull, CountsOfTheSpecification) {
  // 216,000 spheres of radius 0.075 in a cube of 9.3: 94.2 box tests from the root, 75.1 from the leaf.
  const Spheres s = mixed(216'000, 9.3, 0.075, 0.075, 0);
  const RadixTree tree = treeOf(s);
  NeighbourRows rows;
  const double down =
      double(radixNeighbours(tree, s.set(), rows, {.start = RadixStart::Root}).boxTests) / 216'000;
  const double up =
      double(radixNeighbours(tree, s.set(), rows, {.start = RadixStart::Leaf}).boxTests) / 216'000;
  EXPECT_NEAR(down, 94.2, 6);
  EXPECT_NEAR(up, 75.1, 6);
  EXPECT_LE(tree.height(), 30u);
}

}  // namespace
}  // namespace sunder::spatial
