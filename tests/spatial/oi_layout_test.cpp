// Checks A1.* and A2.* of the specification: index algebra and ostensibly-implicit layout.
#include "sunder/spatial/tree/oi_layout.h"

#include "bench/published/index_algebra.h"

#include <algorithm>
#include <bit>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::spatial {
using namespace published;
namespace {

template <uint32_t kArity>
void checkInverse() {
  using A = IndexAlgebra<kArity>;
  for (uint64_t i = 0; i < 10'000; ++i) {
    for (uint32_t n = 0; n <= 6; ++n) {
      const uint64_t count = A::power(n);
      // All descendants for small fans, the ends and a stride in between for large ones.
      for (uint64_t k = 0; k < count; k += std::max<uint64_t>(1, count / 64)) {
        ASSERT_EQ(A::ancestor(A::descendant(i, n, k), n), i);
        ASSERT_TRUE(A::isDescendant(A::descendant(i, n, k), i));
      }
      ASSERT_EQ(A::ancestor(A::descendant(i, n, count - 1), n), i);
    }
  }
}

TEST(IndexAlgebra, AncestorUndoesDescendant) {  // A1.1
  checkInverse<2>();
  checkInverse<3>();
  checkInverse<4>();
  checkInverse<8>();
}

template <uint32_t kArity>
void checkSteps() {
  using A = IndexAlgebra<kArity>;
  for (uint64_t i : {0, 1, 5, 77, 1234}) {
    for (uint64_t k = 0; k < A::power(4); ++k) {
      uint64_t label = i;
      for (uint32_t digit = 4; digit-- > 0;)
        label = A::child(label, static_cast<uint32_t>(k / A::power(digit) % kArity));
      ASSERT_EQ(label, A::descendant(i, 4, k));
    }
  }
}

TEST(IndexAlgebra, StepsEqualOneJump) {  // A1.2
  checkSteps<2>();
  checkSteps<3>();
  checkSteps<4>();
  checkSteps<8>();
}

template <uint32_t kArity>
void checkLevels(uint32_t levels) {
  using A = IndexAlgebra<kArity>;
  for (uint32_t l = 1; l < levels; ++l) {
    const uint64_t first = A::firstOfLevel(l);
    ASSERT_EQ(A::level(first - 1), l - 1);
    ASSERT_EQ(A::level(first), l);
    ASSERT_EQ(A::level(first + 1), l);
    ASSERT_EQ(A::label(l, A::position(first + 1)), first + 1);
  }
}

TEST(IndexAlgebra, LevelIsExactAtTheEnds) {  // A1.3
  checkLevels<2>(62);
  checkLevels<3>(39);
  checkLevels<8>(20);
  EXPECT_EQ(BinaryIndex::level(0), 0u);
}

TEST(IndexAlgebra, ExampleOfTheSource) {  // A1.4
  EXPECT_EQ(BinaryIndex::descendant(9, 2, 0), 39u);
  EXPECT_EQ(sibling(1), 2u);
  EXPECT_EQ(sibling(2), 1u);
}

TEST(OiLayout, IsABijectionWithTheRightCounts) {  // A2.1, A2.3
  for (uint32_t arity : {2u, 3u, 4u, 5u, 8u, 16u}) {
    for (uint32_t t = 1; t <= 300; ++t) {
      const OiLayout layout(t, arity);
      uint32_t slot = 0;
      for (uint32_t l = 0; l < layout.levels(); ++l) {
        for (uint32_t p = 0; p < layout.levelSize(l); ++p, ++slot) {
          ASSERT_EQ(layout.slot(l, p), slot);
          ASSERT_EQ(layout.nodeAt(slot), (OiLayout::Node{l, p}));
          ASSERT_EQ(layout.slotOfLabel(layout.labelOfSlot(slot)), slot);
          ASSERT_TRUE(layout.exists(l, p));
          if (l > 0) {
            ASSERT_TRUE(layout.exists(l - 1, p / arity));
          }
          const auto leaves = layout.leavesBelow(l, p);
          ASSERT_LT(leaves.begin, leaves.end);
          ASSERT_EQ(leaves.end - leaves.begin, layout.descendantCount(l, p, layout.leafLevel() - l));
          if (l < layout.leafLevel()) {
            ASSERT_GE(layout.childCount(l, p), 1u);
            ASSERT_LE(layout.childCount(l, p), arity);
          }
        }
        ASSERT_FALSE(layout.exists(l, layout.levelSize(l)));
      }
      ASSERT_EQ(slot, layout.nodeCount());
      ASSERT_EQ(layout.levelSize(layout.leafLevel()), t);
    }
  }
}

struct Worked {
  uint32_t arity, t, h, virtualLeaves, perfect, nodes;
  std::vector<uint32_t> sizes, offsets;
};

TEST(OiLayout, WorkedValues) {
  const std::vector<Worked> table{
      {2, 1, 0, 0, 1, 1, {1}, {0}},
      {2, 2, 1, 0, 3, 3, {1, 2}, {0, 1}},
      {2, 3, 2, 1, 7, 6, {1, 2, 3}, {0, 1, 3}},
      {2, 5, 3, 3, 15, 11, {1, 2, 3, 5}, {0, 1, 3, 6}},
      {2, 6, 3, 2, 15, 12, {1, 2, 3, 6}, {0, 1, 3, 6}},
      {2, 7, 3, 1, 15, 14, {1, 2, 4, 7}, {0, 1, 3, 7}},
      {2, 11, 4, 5, 31, 23, {1, 2, 3, 6, 11}, {0, 1, 3, 6, 12}},
      {2, 17, 5, 15, 63, 37, {1, 2, 3, 5, 9, 17}, {0, 1, 3, 6, 11, 20}},
      {2, 100, 7, 28, 255, 202, {1, 2, 4, 7, 13, 25, 50, 100}, {0, 1, 3, 7, 14, 27, 52, 102}},
      {3, 11, 3, 16, 40, 18, {1, 2, 4, 11}, {0, 1, 3, 7}},
      {4, 21, 3, 43, 85, 30, {1, 2, 6, 21}, {0, 1, 3, 9}},
      {4, 100, 4, 156, 341, 135, {1, 2, 7, 25, 100}, {0, 1, 3, 10, 35}},
      {8, 100, 3, 412, 585, 116, {1, 2, 13, 100}, {0, 1, 3, 16}},
      {8,
       92000,
       6,
       170144,
       299593,
       105145,
       {1, 3, 23, 180, 1438, 11500, 92000},
       {0, 1, 4, 27, 207, 1645, 13145}},
  };
  for (const Worked& w : table) {
    const OiLayout layout(w.t, w.arity);
    EXPECT_EQ(layout.leafLevel(), w.h);
    EXPECT_EQ(layout.virtualLeaves(), w.virtualLeaves);
    EXPECT_EQ(layout.perfectNodeCount(), w.perfect);
    EXPECT_EQ(layout.nodeCount(), w.nodes);
    for (uint32_t l = 0; l <= w.h; ++l) {
      EXPECT_EQ(layout.levelSize(l), w.sizes[l]);
      EXPECT_EQ(layout.levelOffset(l), w.offsets[l]);
    }
  }
}

TEST(OiLayout, ClosedNodeCount) {  // A2.2
  uint64_t state = 1;
  for (int i = 0; i < 1'000'000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto t = static_cast<uint32_t>(state >> 34) + 1;
    const OiLayout layout(t);
    ASSERT_EQ(layout.nodeCount(), 2 * t - 1 + static_cast<uint32_t>(std::popcount(layout.virtualLeaves())));
  }
}

TEST(OiLayout, SavingAgainstThePaddedTree) {  // A2.4
  const auto saving = [](uint32_t t) {
    const OiLayout layout(t);
    return 1.0 - static_cast<double>(layout.nodeCount()) / static_cast<double>(layout.perfectNodeCount());
  };
  EXPECT_GE(saving(1'087'716), 0.481);
  for (uint32_t t = 1; t <= 1u << 20; t *= 2) EXPECT_EQ(saving(t), 0.0);
  for (uint32_t t = 1; t < 100'000; t += 7) ASSERT_LT(saving(t), 0.5);
}

TEST(OiLayout, FullLevelsAndSingleChildren) {
  for (uint32_t t = 2; t < 2000; ++t) {
    const OiLayout layout(t);
    EXPECT_TRUE(layout.levelFull(0) && layout.levelFull(1));
    uint32_t single = 0;
    for (uint32_t l = 0; l < layout.leafLevel(); ++l) {
      ASSERT_EQ(layout.levelFull(l), (layout.virtualLeaves() >> (layout.leafLevel() - l)) == 0);
      for (uint32_t p = 0; p < layout.levelSize(l); ++p) single += layout.childCount(l, p) == 1;
    }
    ASSERT_EQ(single, static_cast<uint32_t>(std::popcount(layout.virtualLeaves())));
  }
}

TEST(OiLayout, NoLeavesMeansNoNodes) {
  const OiLayout layout(0);
  EXPECT_EQ(layout.levels(), 0u);
  EXPECT_EQ(layout.nodeCount(), 0u);
  EXPECT_EQ(layout.perfectNodeCount(), 0u);
}

TEST(OiLayout, LargestCounts) {
  for (uint32_t t : {(1u << 30) - 1, 1u << 30, (1u << 30) + 1, (1u << 31) - 20}) {
    const OiLayout layout(t);
    const uint64_t expected = 2ull * t - 1 + static_cast<uint64_t>(std::popcount(layout.virtualLeaves()));
    EXPECT_EQ(uint64_t(layout.nodeCount()), expected);
  }
}

}  // namespace
}  // namespace sunder::spatial
