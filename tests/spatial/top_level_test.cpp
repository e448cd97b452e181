#include "sunder/spatial/pairs/top_level.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/spatial/tree/batch_build.h"

#include "bench/published/benchmark_scenes.h"
#include "published/variant_scenes.h"

#include <gtest/gtest.h>

namespace sunder::spatial {
using namespace published;
namespace {

struct Bodies {
  std::vector<std::unique_ptr<OiTree>> trees;
  std::vector<TopLevelBody> bodies;
};

Bodies randomBodies(uint64_t seed, size_t count) {
  RandomStream random(seed, 2);
  Bodies result;
  for (size_t i = 0; i < count; ++i) {
    const size_t leaves = random.below(10) == 0 ? 0 : 1 + random.below(5);
    const auto boxes = randomBoxes(random, leaves, 0.1, 0.1);
    const Vec3f at(static_cast<float>(random.uniform()), static_cast<float>(random.uniform()),
                   static_cast<float>(random.uniform()));
    auto moved = boxes;
    for (Box3f& box : moved) {
      box.lower += at;
      box.upper += at;
    }
    result.trees.push_back(makeTree(moved, {}));
    TopLevelBody body;
    body.tree = result.trees.back().get();
    body.self = random.below(3) == 0;
    body.category = 1u << random.below(3);
    body.mask = random.below(4) == 0 ? 1u << random.below(3) : 7u;
    body.group = random.below(5) == 0 ? 1 + random.below(2) : 0;
    result.bodies.push_back(body);
  }
  return result;
}

TEST(TopLevel, EqualsAllPairs) {
  TopLevel top;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Bodies world = randomBodies(seed, 1 + seed);
    const BodyFilter filter = [](uint32_t a, uint32_t b) { return (a + b) % 7 != 0; };
    std::vector<PrimitivePair> expected;
    const auto& bodies = world.bodies;
    for (uint32_t i = 0; i < bodies.size(); ++i)
      for (uint32_t j = i; j < bodies.size(); ++j) {
        const TopLevelBody &a = bodies[i], &b = bodies[j];
        if (a.tree->empty() || b.tree->empty()) continue;
        if (i == j) {
          if (a.self) expected.push_back({i, i});
          continue;
        }
        if (!overlap(a.tree->bounds(), b.tree->bounds())) continue;
        if (!(a.category & b.mask) || !(b.category & a.mask)) continue;
        if (a.group != 0 && a.group == b.group) continue;
        if (filter(i, j)) expected.push_back({i, j});
      }
    for (unsigned threads : {1u, 4u}) {
      const ThreadLimit limit(threads);
      top.update(bodies, filter);
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), top.bodies().begin(), top.bodies().end()));
      for (size_t j = 0; j < expected.size(); ++j) {
        ASSERT_EQ(top.jobs()[j].a, bodies[expected[j].a].tree);
        ASSERT_EQ(top.jobs()[j].b, bodies[expected[j].b].tree);
      }
    }
  }
}

TEST(TopLevel, RefusesBodiesWithoutTheirOwnTree) {
  const auto tree = makeTree(std::vector<Box3f>(2, Box3f{{0, 0, 0}, {1, 1, 1}}), {});
  TopLevel top;
  std::vector<TopLevelBody> bodies(2);
  bodies[0].tree = tree.get();
  EXPECT_THROW(top.update(bodies), Error);
  bodies[1].tree = tree.get();
  EXPECT_THROW(top.update(bodies), Error);
}

TEST(TopLevel, FewRootPairsOfTheCrowd) {  // A6.5
  const BenchmarkScene scene = makeBenchmarkScene(SceneKind::NBody);
  std::vector<OiTree> trees(scene.bodies.size());
  std::vector<std::vector<Vec3>> positions(trees.size());
  std::vector<BatchItem> items;
  std::vector<TopLevelBody> bodies(trees.size());
  BatchBuilder batch;
  TopLevel top;
  PairList pairs, all;
  for (uint32_t frame : {0u, 37u, 74u}) {
    items.clear();
    for (size_t b = 0; b < trees.size(); ++b) {
      scene.positions(b, frame, positions[b]);
      items.push_back({&trees[b], {positions[b], scene.bodies[b].triangles}});
      bodies[b].tree = &trees[b];
    }
    batch.build(items);
    top.update(bodies);
    EXPECT_LT(double(top.jobs().size()), 0.05 * 46'360) << "frame " << frame;
    EXPECT_LT(double(top.statistics().boxTests), 0.5 * 46'360) << "frame " << frame;
    overlapPairs(top.jobs(), pairs);
    std::vector<TreePair> every;
    for (size_t i = 0; i < trees.size(); ++i)
      for (size_t j = i + 1; j < trees.size(); ++j) every.push_back({&trees[i], &trees[j]});
    ASSERT_EQ(every.size(), 46'360u);
    overlapPairs(every, all);
    EXPECT_EQ(pairs.size(), all.size());
    EXPECT_TRUE(sortedPairs(pairs.pairs(), false) == sortedPairs(all.pairs(), false));
  }
  EXPECT_GT(pairs.size(), 60'000u);  // the source's worst frame has 117 600
  EXPECT_LT(pairs.size(), 240'000u);
}

}  // namespace
}  // namespace sunder::spatial
