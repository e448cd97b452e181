// Checks of the radix tree (spec 04, 10.8): Karras's example, structure, heights of the worst cases, boxes,
// and both builds giving the same bytes.
#include "sunder/spatial/tree/radix_tree.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/spatial/tree/oi_tree.h"

#include "spatial/particle_cases.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::spatial {
namespace {

std::vector<Box3f> randomLeafBoxes(size_t n, double size, uint64_t seed = 1) {
  std::vector<Box3f> boxes;
  for (const Vec3& p : randomPoints(n, cube(0, 1), seed)) boxes.push_back(boxAround(p, size));
  return boxes;
}

struct Range {
  uint32_t first, last;
};

// Walks the whole tree from the root: children partition the parent's leaves, parents and siblings fit,
// boxes are unions, every node is met once. Returns the height.
uint32_t validate(const RadixTree& tree) {
  if (tree.empty()) return 0;
  std::vector<Range> ranges(tree.nodeCount());
  std::vector<uint32_t> heights(tree.nodeCount(), 0), order, stack{0};
  std::vector<bool> met(tree.nodeCount(), false);
  while (!stack.empty()) {
    const uint32_t node = stack.back();
    stack.pop_back();
    EXPECT_FALSE(met[node]);
    met[node] = true;
    order.push_back(node);
    if (tree.isLeaf(node)) continue;
    const uint32_t l = tree.left(node), r = tree.right(node);
    EXPECT_EQ(tree.parent(l), node);
    EXPECT_EQ(tree.parent(r), node);
    EXPECT_EQ(tree.sibling(l), r);
    EXPECT_EQ(tree.sibling(r), l);
    stack.push_back(l);
    stack.push_back(r);
  }
  EXPECT_EQ(order.size(), tree.nodeCount());
  for (size_t k = order.size(); k-- > 0;) {
    const uint32_t node = order[k];
    if (tree.isLeaf(node)) {
      ranges[node] = {tree.leafOfNode(node), tree.leafOfNode(node)};
      continue;
    }
    const uint32_t l = tree.left(node), r = tree.right(node);
    EXPECT_EQ(ranges[l].last + 1, ranges[r].first);
    ranges[node] = {ranges[l].first, ranges[r].last};
    heights[node] = 1 + std::max(heights[l], heights[r]);
    Box3f both = tree.box(l);
    both.grow(tree.box(r));
    EXPECT_TRUE(tree.box(node) == both);
  }
  EXPECT_EQ(ranges[0].first, 0u);
  EXPECT_EQ(ranges[0].last, tree.leafCount() - 1);
  EXPECT_EQ(tree.sibling(0), 0u);
  std::vector<uint32_t> primitives(tree.primitives().begin(), tree.primitives().end());
  std::sort(primitives.begin(), primitives.end());
  for (uint32_t i = 0; i < primitives.size(); ++i) EXPECT_EQ(primitives[i], i);
  EXPECT_EQ(tree.height(), heights[0]);
  return heights[0];
}

bool same(const RadixTree& a, const RadixTree& b) {
  if (a.leafCount() != b.leafCount() || a.height() != b.height()) return false;
  for (uint32_t i = 0; i < a.innerCount(); ++i)
    if (a.left(i) != b.left(i) || a.right(i) != b.right(i)) return false;
  for (uint32_t i = 0; i < a.nodeCount(); ++i)
    if (a.parent(i) != b.parent(i) || !(a.box(i) == b.box(i))) return false;
  return std::equal(a.primitives().begin(), a.primitives().end(), b.primitives().begin());
}

TEST(RadixTree, ExampleOfKarras) {
  const std::vector<uint64_t> codes{0b00001, 0b00010, 0b00100, 0b00101, 0b10011, 0b11000, 0b11001, 0b11110};
  RadixTree tree;
  buildRadixTree(tree, codes, randomLeafBoxes(8, 0.1));
  validate(tree);
  EXPECT_EQ(tree.left(0), 3u);  // the root splits after key 3
  EXPECT_EQ(tree.right(0), 4u);
  EXPECT_EQ(tree.left(3), 1u);  // node 3 covers [0, 3] and splits after key 1
  EXPECT_EQ(tree.right(3), 2u);
  EXPECT_EQ(tree.left(1), tree.leafNode(0));
  EXPECT_EQ(tree.right(2), tree.leafNode(3));
  EXPECT_EQ(tree.left(4), tree.leafNode(4));
  EXPECT_EQ(tree.right(4), 5u);
  EXPECT_EQ(tree.left(5), 6u);
  EXPECT_EQ(tree.right(5), tree.leafNode(7));
  EXPECT_EQ(tree.height(), 4u);
}

TEST(RadixTree, MortonCodesInterleave) {
  EXPECT_EQ(mortonCode(1, 0, 0), 1u);
  EXPECT_EQ(mortonCode(0, 1, 0), 2u);
  EXPECT_EQ(mortonCode(0, 0, 1), 4u);
  EXPECT_EQ(mortonCode(0x7fff, 0x7fff, 0x7fff), (uint64_t(1) << 45) - 1);
  RandomStream random(2);
  for (int i = 0; i < 1000; ++i) {
    const uint32_t v[3] = {random.below(1 << 15), random.below(1 << 15), random.below(1 << 15)};
    uint64_t expected = 0;
    for (unsigned bit = 0; bit < 15; ++bit)
      for (unsigned axis = 0; axis < 3; ++axis) expected |= uint64_t(v[axis] >> bit & 1) << (3 * bit + axis);
    ASSERT_EQ(mortonCode(v[0], v[1], v[2]), expected);
  }
}

TEST(RadixTree, BothBuildsGiveTheSameValidTree) {
  RadixTree a, b;
  for (size_t n : {0, 1, 2, 3, 4, 5, 7, 8, 33, 1000, 20'000}) {
    const std::vector<Box3f> boxes = randomLeafBoxes(n, 0.01, n);
    for (unsigned threads : {1u, 2u, 4u}) {
      const ThreadLimit limit(threads);
      buildRadixTree(a, boxes, {.build = RadixBuild::TopDown});
      buildRadixTree(b, boxes, {.build = RadixBuild::BottomUp});
      EXPECT_TRUE(same(a, b)) << n;
      if (threads == 1) validate(a);
    }
    EXPECT_EQ(a.nodeCount(), n == 0 ? 0 : 2 * n - 1);
    EXPECT_EQ(a.bytes(), n == 0 ? 0 : 4 * (17 * n - 9));
  }
}

TEST(RadixTree, EqualCodes) {
  for (size_t n : {2, 3, 64, 1000}) {
    const std::vector<Box3f> boxes(n, boxAround(Vec3(1, 2, 3), 0.5));
    RadixTree a, b;
    buildRadixTree(a, boxes);
    buildRadixTree(b, boxes, {.build = RadixBuild::BottomUp});
    EXPECT_TRUE(same(a, b));
    EXPECT_EQ(validate(a), uint32_t(std::bit_width(n - 1)));  // told apart by the bits of the index: balanced
  }
}

// E20: one code a level and many duplicates of the last.
std::vector<uint64_t> comb(size_t duplicates) {
  std::vector<uint64_t> codes(duplicates, 0);
  for (unsigned bit = 0; bit < 45; ++bit) codes.push_back(uint64_t(1) << bit);
  return codes;
}

TEST(RadixTree, HeightOfTheComb) {
  const auto height = [](size_t duplicates, size_t n, RadixBuild how) {
    const std::vector<uint64_t> codes = comb(duplicates);
    EXPECT_EQ(codes.size(), n);
    RadixTree tree;
    buildRadixTree(tree, codes, std::vector<Box3f>(n, boxAround(Vec3::Zero(), 1)), how);
    return tree.height();
  };
  for (RadixBuild how : {RadixBuild::TopDown, RadixBuild::BottomUp}) {
    EXPECT_EQ(height(1024, 1069, how), 55u);
    EXPECT_EQ(height(262'144, 262'189, how), 63u);
    EXPECT_EQ(height(1'048'576, 1'048'621, how), 65u);
  }
}

TEST(RadixTree, RootIsTheScene) {
  const std::vector<Box3f> boxes = randomLeafBoxes(500, 0.05);
  Box3f all;
  for (const Box3f& box : boxes) all.grow(box);
  RadixTree tree;
  buildRadixTree(tree, boxes);
  EXPECT_TRUE(tree.box(0) == all);
}

TEST(RadixTree, CellsOfOwnSizeAndHugeExtents) {
  const std::vector<Box3f> boxes = randomLeafBoxes(500, 0.05);
  RadixTree tree;
  for (double cell : {1e-30, 1e-3, 0.1, 1e30}) {
    buildRadixTree(tree, boxes, {.cell = cell});
    validate(tree);
  }
  std::vector<Box3f> far;
  for (double x : {-1e38, -1e30, 0.0, 1e-30, 1.0, 1e38}) far.push_back(boxAround(Vec3(x, -x, x), 1));
  buildRadixTree(tree, far);
  validate(tree);
}

TEST(RadixTree, RefusesByName) {
  RadixTree tree;
  std::vector<Box3f> boxes = randomLeafBoxes(100, 0.05);
  boxes[31] = Box3f{};
  try {
    buildRadixTree(tree, boxes);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("box 31 "), std::string::npos);
  }
  EXPECT_THROW(buildRadixTree(tree, randomLeafBoxes(5, 0.1), {.cell = -1}), Error);
}

TEST(RadixTree, PhasesGoUp) {
  RadixTree tree;
  const std::vector<Box3f> boxes = randomLeafBoxes(300, 0.05);
  buildRadixTree(tree, boxes);
  std::vector<int32_t> phases(300);
  for (size_t i = 0; i < 300; ++i) phases[i] = boxes[i].lower.x() < 0.5f;
  tree.setPhases(phases);
  EXPECT_EQ(tree.bytes(), 4 * (19 * 300 - 10));
  size_t uniform = 0;
  for (uint32_t node = 0; node < tree.nodeCount(); ++node) {
    if (tree.isLeaf(node)) {
      EXPECT_EQ(tree.phase(node), phases[tree.primitive(tree.leafOfNode(node))]);
    } else {
      const int32_t l = tree.phase(tree.left(node)), r = tree.phase(tree.right(node));
      EXPECT_EQ(tree.phase(node), l == r ? l : RadixTree::kMixed);
      uniform += l == r && l >= 0;
    }
  }
  EXPECT_EQ(tree.phase(0), RadixTree::kMixed);
  EXPECT_GT(uniform, 50u);
}

// By hand for two boxes, and against the implicit tree of the same arity: the same order of size.
TEST(RadixTree, SurfaceAreaCost) {
  RadixTree tree;
  const std::vector<Box3f> two{{Vec3f(0, 0, 0), Vec3f(1, 1, 1)}, {Vec3f(2, 0, 0), Vec3f(3, 1, 1)}};
  buildRadixTree(tree, two);
  EXPECT_DOUBLE_EQ(surfaceAreaCost(tree), 1.2 + (6.0 + 6.0) / 14.0);
  const std::vector<Box3f> boxes = randomLeafBoxes(20'000, 0.01);
  buildRadixTree(tree, boxes);
  OiTree implicit;
  OiTreeBuilder().build(implicit, boxes, {.arity = 2});
  const double radix = surfaceAreaCost(tree), oi = surfaceAreaCost(implicit);
  EXPECT_GT(radix, 0.5 * oi);
  EXPECT_LT(radix, 1.1 * oi);  // splits between cells, not in the middle of the order
}

}  // namespace
}  // namespace sunder::spatial
