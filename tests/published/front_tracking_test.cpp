// Front tracking against searches from the root, on scenes that deform while the trees are only refitted.
#include "bench/published/front_tracking.h"

#include "sunder/base/parallel.h"

#include "bench/published/benchmark_scenes.h"
#include "published/variant_scenes.h"

#include <gtest/gtest.h>

namespace sunder::published {
using namespace spatial;
namespace {

TEST(FrontTracking, EqualsBruteForceWhileBoxesWander) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomStream random(seed, 1);
    const uint32_t arity = seed % 3 == 0 ? 2 : seed % 3 == 1 ? 4 : 8;
    std::vector<std::vector<Box3f>> boxes;
    std::vector<std::unique_ptr<OiTree>> trees;
    for (int i = 0; i < 3; ++i) {
      boxes.push_back(randomBoxes(random, i == 2 ? 1 + random.below(4) : 1 + random.below(120), 0.2));
      trees.push_back(makeTree(boxes.back(), {.arity = arity}));
    }
    std::vector<TreePair> jobs;
    for (size_t i = 0; i < 3; ++i)
      for (size_t j = i; j < 3; ++j) jobs.push_back({trees[i].get(), trees[j].get()});
    FrontTracker tracker;
    tracker.reset(jobs);
    VariantPairs result;
    for (int frame = 0; frame < 25; ++frame) {
      tracker.update(result);
      size_t job = 0;
      for (size_t i = 0; i < 3; ++i)
        for (size_t j = i; j < 3; ++j, ++job)
          ASSERT_EQ(sortedPairs(result.pairs(job), i == j),
                    i == j ? bruteForce(boxes[i]) : bruteForce(boxes[i], boxes[j]));
      // Wander, and now and then fly apart or come together.
      const auto scale = static_cast<float>(frame % 8 == 7 ? 3 : frame % 8 == 3 ? 0.3 : 1);
      for (size_t i = 0; i < 3; ++i) {
        for (Box3f& box : boxes[i]) {
          const Vec3f extent = box.extent();
          const Vec3f step(static_cast<float>(random.uniform(-0.05, 0.05)),
                           static_cast<float>(random.uniform(-0.05, 0.05)),
                           static_cast<float>(random.uniform(-0.05, 0.05)));
          box.lower = scale * box.lower + step;
          box.upper = box.lower + extent;
        }
        OiTreeBuilder().refit(*trees[i], boxes[i]);
      }
    }
  }
}

TEST(FrontTracking, FrontGrowsAndShrinksWithTheOverlaps) {
  RandomStream random(3);
  const auto boxes = randomBoxes(random, 2000, 0.05);
  auto moved = boxes;
  const auto a = makeTree(boxes, {.arity = 2}), b = makeTree(boxes, {.arity = 2});
  const TreePair job{a.get(), b.get()};
  FrontTracker tracker;
  tracker.reset({&job, 1});
  VariantPairs result;
  tracker.update(result);
  const uint64_t full = tracker.statistics().frontSize;
  EXPECT_GT(full, 10'000u);
  EXPECT_GE(tracker.statistics().bytes, 16 * full);
  for (Box3f& box : moved) {
    box.lower.x() += 10;
    box.upper.x() += 10;
  }
  OiTreeBuilder().refit(*b, moved);
  // One level up in each frame: after as many frames as there are levels one node is left, tested once.
  for (uint32_t frame = 0; frame <= a->layout().levels() + 1; ++frame) {
    tracker.update(result);
    EXPECT_EQ(result.pairs().size(), 0u);
  }
  EXPECT_EQ(tracker.statistics().frontSize, 1u);
  EXPECT_EQ(tracker.statistics().boxTests, 1u);
  OiTreeBuilder().refit(*b, boxes);
  tracker.update(result);
  EXPECT_EQ(tracker.statistics().frontSize, full);
  EXPECT_EQ(sortedPairs(result.pairs(), false), bruteForce(boxes, boxes));
}

TEST(FrontTracking, ClothEqualsRebuildAndNeedsMoreMemory) {
  const BenchmarkScene scene = makeBenchmarkScene(SceneKind::Bridson);
  std::vector<OiTree> trees(2);
  std::vector<std::vector<Vec3>> positions(2);
  const auto leaves = [&](size_t b) { return TriangleLeaves{positions[b], scene.bodies[b].triangles}; };
  FrontTracker tracker;
  VariantPairs tracked, fresh;
  const std::vector<TreePair> jobs{{&trees[0], &trees[0]}, {&trees[0], &trees[1]}};
  for (uint32_t frame = 300; frame < 320; frame += 4) {
    for (size_t b = 0; b < 2; ++b) {
      scene.positions(b, frame, positions[b]);
      if (frame == 300)
        OiTreeBuilder().build(trees[b], leaves(b), {.arity = 2});
      else
        OiTreeBuilder().refit(trees[b], leaves(b));
    }
    if (frame == 300) tracker.reset(jobs);
    std::vector<PrimitivePair> first;
    for (unsigned threads : {4u, 1u}) {
      const ThreadLimit limit(threads);
      FrontTracker copy;
      copy.reset(jobs);
      copy.update(fresh);
      if (threads == 4) first.assign(fresh.pairs().begin(), fresh.pairs().end());
      EXPECT_TRUE(std::equal(first.begin(), first.end(), fresh.pairs().begin(), fresh.pairs().end()));
    }
    tracker.update(tracked);
    traverse(jobs, {}, fresh);
    for (size_t j = 0; j < 2; ++j)
      ASSERT_TRUE(sortedPairs(tracked.pairs(j), j == 0) == sortedPairs(fresh.pairs(j), j == 0));
    EXPECT_GT(tracker.statistics().frontSize, fresh.statistics.peakFrontier);
    if (frame > 300) {
      EXPECT_LT(tracked.statistics.boxTests, fresh.statistics.boxTests);
    }
  }
}

}  // namespace
}  // namespace sunder::published
