// Checks A3.1, A3.2, A3.5 and A3.6 of the specification: what a built tree must be, and how good it is next
// to a linear BVH.
#include "sunder/base/parallel.h"
#include "sunder/base/simd.h"
#include "sunder/spatial/tree/oi_tree.h"
#include "sunder/spatial/tree/radix_tree.h"

#include "published/variant_scenes.h"

#include <bit>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace sunder::spatial {
using namespace published;
namespace {

// Every inner box is the union of the leaves below it, bit for bit; level by level from the leaves.
void expectUnions(const OiTree& tree) {
  const OiLayout& layout = tree.layout();
  for (uint32_t l = 0; l < layout.leafLevel(); ++l)
    for (uint32_t p = 0; p < layout.levelSize(l); ++p) {
      Box3f box;
      const auto range = layout.leavesBelow(l, p);
      for (uint32_t leaf = range.begin; leaf < range.end; ++leaf)
        box.grow(tree.box(layout.leafLevel(), leaf));
      ASSERT_EQ(tree.box(l, p), box) << "level " << l << ", position " << p;
    }
}

// Vector code reads whole blocks: lanes after the end of a level hold boxes that overlap nothing.
void expectEmptyLanes(const OiTree& tree) {
  for (uint32_t l = 0; l < tree.layout().levels(); ++l) {
    const uint32_t size = tree.layout().levelSize(l);
    for (uint32_t p = size; p % kBlockLanes != 0; ++p) {
      const Box3f box = tree.box(l, p);
      for (int axis = 0; axis < 3; ++axis) {
        ASSERT_EQ(box.lower[axis], Box3f::kInfinity) << "level " << l << ", lane " << p;
        ASSERT_EQ(box.upper[axis], -Box3f::kInfinity) << "level " << l << ", lane " << p;
      }
    }
  }
}

TEST(BuildAcceptance, UnionsAreExactForEveryNumberOfLeaves) {  // A3.1, A3.3
  RandomStream random(31);
  for (uint32_t arity : {2u, 4u, 8u}) {
    // One tree for all: what an earlier build left in its memory must not show.
    OiTree tree;
    OiTreeBuilder builder;
    for (uint32_t t = 300; t >= 1; --t) {
      auto boxes = randomBoxes(random, t, 0.2, double(t));
      builder.build(tree, boxes, {.arity = arity});
      expectUnions(tree);
      expectEmptyLanes(tree);
      std::vector<bool> seen(t, false);
      for (uint32_t primitive : tree.primitives()) {
        ASSERT_LT(primitive, t);
        ASSERT_FALSE(seen[primitive]);
        seen[primitive] = true;
      }
      for (uint32_t leaf = 0; leaf < t; ++leaf)
        ASSERT_EQ(tree.box(tree.layout().leafLevel(), leaf), boxes[tree.primitive(leaf)]);
      for (Box3f& box : boxes) {
        box.lower.x() -= 100;
        box.upper.x() -= 99;
      }
      builder.refit(tree, boxes);
      expectUnions(tree);
      expectEmptyLanes(tree);
      builder.refitInner(tree);
      expectUnions(tree);
      ASSERT_LT(tree.bounds().upper.x(), float(t) + 2);
      if (HasFatalFailure()) return;
    }
  }
}

bool sameBytes(const OiTree& a, const OiTree& b) {
  if (a.leafCount() != b.leafCount() ||
      !std::equal(a.primitives().begin(), a.primitives().end(), b.primitives().begin()))
    return false;
  for (uint32_t l = 0; l < a.layout().levels(); ++l)
    for (uint32_t p = 0; p < a.layout().levelSize(l); ++p)
      if (!(a.box(l, p) == b.box(l, p))) return false;
  return true;
}

void checkLarge(uint32_t t) {
  RandomStream random(32);
  std::vector<Box3f> boxes(t);
  for (Box3f& box : boxes) {
    const Vec3f at = random.unitVector().cast<float>();
    box.lower = at;
    box.upper = at + Vec3f::Constant(0.002f);
  }
  for (uint32_t arity : {2u, 4u, 8u}) {
    OiTree first;
    {
      const ThreadLimit one(1);
      OiTreeBuilder().build(first, boxes, {.arity = arity});
    }
    expectUnions(first);
    for (unsigned threads : {2u, 3u}) {
      const ThreadLimit limit(threads);
      OiTree tree;
      OiTreeBuilder().build(tree, boxes, {.arity = arity});
      EXPECT_TRUE(sameBytes(first, tree));
    }
  }
}

TEST(BuildAcceptance, EveryVectorTargetMakesTheSameTree) {
  RandomStream random(33);
  for (const uint32_t t : {1u, 7u, 9u, 33u, 5000u}) {
    const auto boxes = randomBoxes(random, t, 0.2, double(t));
    for (const uint32_t arity : {2u, 4u, 8u}) {
      OiTree first;
      OiTreeBuilder().build(first, boxes, {.arity = arity});
      for (const std::string& target : simdTargets()) {
        SCOPED_TRACE(target);
        const SimdTargetOverride use(target);
        OiTree tree;
        OiTreeBuilder().build(tree, boxes, {.arity = arity});
        EXPECT_TRUE(sameBytes(first, tree));
        expectUnions(tree);
        expectEmptyLanes(tree);
      }
    }
  }
}

TEST(BuildAcceptance, LargerTreesAndThreads) { checkLarge(40'003); }          // A3.1, A3.2
TEST(BuildAcceptanceFull, MoreThanAMillionLeaves) { checkLarge(1'087'716); }  // A3.1, A3.2

// A second radix tree, over 63-bit codes and by recursion (Lauterbach et al. 2009): a range is split where
// the highest bit changes. Sums the areas of inner nodes and of leaves.
double boxArea(const Box3f& box) {
  const Vec3 e = box.extent().cast<double>();
  return 2 * (e.x() * e.y() + e.y() * e.z() + e.z() * e.x());
}

struct RadixSums {
  const std::vector<uint64_t>& keys;
  const std::vector<Box3f>& boxes;  // sorted along with the keys
  double inner = 0, leaves = 0;

  Box3f visit(size_t begin, size_t end) {
    if (end - begin == 1) {
      leaves += boxArea(boxes[begin]);
      return boxes[begin];
    }
    // Equal codes are told apart by their rank, as in Karras 2012.
    const uint64_t first = keys[begin], last = keys[end - 1];
    size_t middle = (begin + end) / 2;
    if (first != last) {
      const auto bit = static_cast<unsigned>(std::bit_width(first ^ last) - 1);
      const uint64_t pivot = (last >> bit) << bit;
      middle = static_cast<size_t>(
          std::lower_bound(keys.begin() + std::ptrdiff_t(begin), keys.begin() + std::ptrdiff_t(end), pivot) -
          keys.begin());
    }
    Box3f box = visit(begin, middle);
    box.grow(visit(middle, end));
    inner += boxArea(box);
    return box;
  }
};

double recursiveRadixCost(const std::vector<Box3f>& boxes) {
  Box3f bounds;
  for (const Box3f& box : boxes) bounds.grow(box);
  const double cell = double(bounds.extent().maxCoeff()) / (1 << 20);
  std::vector<std::pair<uint64_t, uint32_t>> order(boxes.size());
  for (uint32_t i = 0; i < boxes.size(); ++i) {
    const Vec3 at = (boxes[i].center() - bounds.lower).cast<double>() / cell;
    uint64_t code = 0;
    for (int k = 0; k < 3; ++k) {
      const auto x = static_cast<uint64_t>(at[k]);
      for (int b = 0; b < 21; ++b) code |= (x >> b & 1) << (3 * b + 2 - k);
    }
    order[i] = {code, i};
  }
  std::sort(order.begin(), order.end());
  std::vector<uint64_t> keys;
  std::vector<Box3f> sorted;
  for (const auto& [code, i] : order) {
    keys.push_back(code);
    sorted.push_back(boxes[i]);
  }
  RadixSums sums{keys, sorted};
  const Box3f root = sums.visit(0, sorted.size());
  return (1.2 * sums.inner + sums.leaves) / boxArea(root);
}

// A bumpy ellipsoid of about `count` triangles, as boxes; one more box so many diagonals away along a normal.
std::vector<Box3f> bumpyEllipsoid(uint32_t count, double outlier) {
  const auto rows = static_cast<uint32_t>(std::sqrt(count / 4.0));
  const uint32_t columns = 2 * rows;
  const auto point = [&](uint32_t i, uint32_t j) {
    const double polar = kPi * i / rows, angle = 2 * kPi * j / columns;
    const double r =
        1 + 0.08 * std::sin(9 * polar) * std::cos(7 * angle) + 0.03 * std::sin(23 * angle + 17 * polar);
    return Vec3f(Vec3(r * std::sin(polar) * std::cos(angle), 1.6 * r * std::cos(polar),
                      0.7 * r * std::sin(polar) * std::sin(angle))
                     .cast<float>());
  };
  std::vector<Box3f> boxes;
  for (uint32_t i = 0; i < rows; ++i)
    for (uint32_t j = 0; j < columns; ++j) {
      const Vec3f a = point(i, j), b = point(i + 1, j), c = point(i + 1, j + 1), d = point(i, j + 1);
      Box3f one, two;
      for (const Vec3f& p : {a, b, c}) one.grow(p);
      for (const Vec3f& p : {a, c, d}) two.grow(p);
      boxes.push_back(one);
      boxes.push_back(two);
    }
  Box3f bounds;
  for (const Box3f& box : boxes) bounds.grow(box);
  // The triangle furthest along x, whose normal is nearly that axis: the root's box grows in one direction.
  Box3f& moved = *std::max_element(boxes.begin(), boxes.end(),
                                   [](const Box3f& a, const Box3f& b) { return a.upper.x() < b.upper.x(); });
  const Vec3f away(static_cast<float>(outlier) * bounds.diagonal(), 0, 0);
  moved.lower += away;
  moved.upper += away;
  return boxes;
}

struct Ratios {
  double morton, selection;
};

Ratios costRatios(uint32_t count, double outlier) {
  const std::vector<Box3f> boxes = bumpyEllipsoid(count, outlier);
  RadixTree radixTree;
  buildRadixTree(radixTree, boxes);
  const double radix = surfaceAreaCost(radixTree);
  EXPECT_NEAR(radix, recursiveRadixCost(boxes), 0.05 * radix);
  const auto morton = makeTree(boxes, {.arity = 2, .longCodes = true});
  const auto selection = makeTree(boxes, {.arity = 2, .order = LeafOrder::Selection});
  const Ratios ratios{surfaceAreaCost(*morton) / radix, surfaceAreaCost(*selection) / radix};
  std::printf("  %7u triangles, outlier %4.1f: Morton %.3f, selection %.3f of the radix tree's cost\n", count,
              outlier, ratios.morton, ratios.selection);
  return ratios;
}

TEST(BuildAcceptance, OutlierHurtsMortonOrderMore) {  // A3.6
  const Ratios none = costRatios(40'000, 0), one = costRatios(40'000, 1), ten = costRatios(40'000, 10);
  EXPECT_GT(one.morton, none.morton);
  EXPECT_GT(ten.morton, one.morton);
  EXPECT_GT(none.morton, 1.4);
  EXPECT_LT(none.selection, 1.1);
  EXPECT_LT(ten.selection, ten.morton);
}

TEST(BuildAcceptanceFull, CostNextToARadixTree) {  // A3.5
  const Ratios ratios = costRatios(1'087'716, 0);
  EXPECT_GT(ratios.morton, 1.6);
  EXPECT_LT(ratios.morton, 2.7);
  EXPECT_LE(ratios.selection, 1.1);
}

}  // namespace
}  // namespace sunder::spatial
