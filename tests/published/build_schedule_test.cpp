// Checks A3.2 to A3.4 of the specification: launches of a device build, and the tree they make.
#include "bench/published/build_schedule.h"

#include "sunder/base/error.h"
#include "sunder/spatial/tree/oi_tree.h"

#include "bench/published/tree_memory.h"
#include "published/variant_scenes.h"

#include <bit>

#include <gtest/gtest.h>

namespace sunder::published {
using namespace spatial;
namespace {

TEST(BuildSchedule, NumbersOfLaunches) {  // A3.4
  for (uint32_t t = 1; t < 5000; t = t < 300 ? t + 1 : t + 17)
    for (uint32_t g = 2; g <= 256; g *= 2) {
      const uint32_t h = OiLayout(t).leafLevel();
      const auto log = static_cast<uint32_t>(std::bit_width(g) - 1);
      ASSERT_EQ(buildLaunches(t, g, BuildSchedule::ByInputLevel).size(), (h + log - 1) / log);
      ASSERT_EQ(buildLaunches(t, g, BuildSchedule::ByEntryLevel).size(), (h + log) / (1 + log));
    }
  const size_t expected[] = {21, 11, 7, 6, 5, 4, 3, 3, 3, 3};
  for (uint32_t i = 0; i < 10; ++i)
    EXPECT_EQ(buildLaunches(1'087'716, 2u << i, BuildSchedule::ByInputLevel).size(), expected[i]);
  EXPECT_THROW(buildLaunches(100, 3, BuildSchedule::ByInputLevel), Error);
  EXPECT_THROW(buildLaunches(100, 1, BuildSchedule::ByEntryLevel), Error);
  EXPECT_TRUE(buildLaunches(0, 2, BuildSchedule::ByEntryLevel).empty());
}

TEST(BuildSchedule, EveryNodeOnceAndTheSameTree) {  // A3.2, A3.3
  RandomStream random(3);
  for (uint32_t t = 1; t <= 300; ++t) {
    const auto tree = makeTree(randomBoxes(random, t, 0.2), {.arity = 2});
    const OiLayout& layout = tree->layout();
    for (uint32_t g : {2u, 4u, 8u, 32u})
      for (const auto schedule : {BuildSchedule::ByInputLevel, BuildSchedule::ByEntryLevel}) {
        std::vector<Box3f> nodes(layout.nodeCount());
        for (uint32_t p = 0; p < t; ++p)
          nodes[layout.slot(layout.leafLevel(), p)] = tree->box(layout.leafLevel(), p);
        std::vector<uint32_t> writes(nodes.size(), 0);
        const auto launches = buildLaunches(t, g, schedule);
        for (const BuildLaunch& launch : launches) {
          ASSERT_EQ(launch.threads % launch.groupSize, 0u);
          ASSERT_GE(launch.threads, layout.levelSize(launch.entryLevel));
        }
        emulateBuild(layout, launches, nodes, writes, random);
        for (uint32_t l = 0; l < layout.levels(); ++l)
          for (uint32_t p = 0; p < layout.levelSize(l); ++p) {
            ASSERT_EQ(writes[layout.slot(l, p)], l < layout.leafLevel() ? 1u : 0u);
            ASSERT_EQ(nodes[layout.slot(l, p)], tree->box(l, p));
          }
      }
  }
}

TEST(TreeMemory, SavingsOfTheSource) {
  const struct {
    uint32_t leaves;
    uint64_t nodes;
    double saved;
  } table[] = {{92'000, 184'004, 0.298},      {19'000, 38'006, 0.420},   {142'000, 284'007, 0.458},
               {49'000, 98'003, 0.252},       {127'000, 254'007, 0.031}, {198'000, 396'007, 0.245},
               {1'087'716, 2'175'443, 0.4813}};
  for (const auto& row : table) {
    const TreeMemory memory = treeMemory(row.leaves);
    EXPECT_EQ(memory.implicitBytes, 24 * row.nodes);
    EXPECT_NEAR(memory.savedAgainstPadded(), row.saved, 0.0006);
    EXPECT_LT(memory.implicitBytes, memory.linkedBytes);
  }
  EXPECT_EQ(treeMemory(0).savedAgainstPadded(), 0);
  EXPECT_EQ(treeMemory(1024).savedAgainstPadded(), 0);
}

}  // namespace
}  // namespace sunder::published
