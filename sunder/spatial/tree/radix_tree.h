// A binary bounding volume tree over Morton codes, one primitive a leaf, with pointers both ways: the linear
// BVH of Karras 2012 (Maximizing parallelism in the construction of BVHs, octrees and k-d trees), every inner
// node found by itself from the sorted codes. It is the baseline that the implicit tree (oi_tree.h) is
// measured against, and what traversals that climb (radix_traversal.h) run on.
//
// Codes have 15 bits an axis, x in the lowest; equal codes are told apart by their place in the order, so any
// input makes a valid tree. Inner nodes are 0 .. n-2 with the root at 0, leaf i is node n-1+i, leaves being
// in the order of their codes. buildRadixTree can also work bottom-up in a single pass (Apetrei 2014: Fast
// and simple agglomerative LBVH construction); the result is the same, byte for byte.
//
// The height is not bounded by the logarithm of n: 45 + log2 of the most leaves with one code, in edges. It
// is stored; height() tells. Boxes are float. Guarantees: every inner box is bit for bit the union of its
// children; bytes do not depend on the number of threads. Cost: O(n log n) code comparisons at worst, 68
// bytes a primitive.
#pragma once

#include "sunder/base/array/reusable_array.h"
#include "sunder/base/box.h"

#include <cstdint>
#include <span>

namespace sunder::spatial {

enum class RadixBuild : uint8_t {
  TopDown,   // Karras 2012: ranges by search, then boxes from the leaves up
  BottomUp,  // Apetrei 2014: ranges and boxes in one climb
};

struct RadixSettings {
  RadixBuild build = RadixBuild::TopDown;
  double cell = 0;  // edge of a Morton cell; 0: the largest extent divided by 2^15
};

class RadixTree {
 public:
  static constexpr int32_t kMixed = -1;

  uint32_t leafCount() const { return leafCount_; }
  uint32_t nodeCount() const { return leafCount_ == 0 ? 0 : 2 * leafCount_ - 1; }
  uint32_t innerCount() const { return leafCount_ == 0 ? 0 : leafCount_ - 1; }
  uint32_t height() const { return height_; }  // edges from the root to the deepest leaf
  bool empty() const { return leafCount_ == 0; }

  bool isLeaf(uint32_t node) const { return node >= leafCount_ - 1; }
  uint32_t leafNode(uint32_t leaf) const { return leafCount_ - 1 + leaf; }
  uint32_t leafOfNode(uint32_t node) const { return node - (leafCount_ - 1); }
  uint32_t primitive(uint32_t leaf) const { return primitives_.data()[leaf]; }
  std::span<const uint32_t> primitives() const { return {primitives_.data(), leafCount_}; }

  uint32_t left(uint32_t inner) const { return children_.data()[inner].left; }
  uint32_t right(uint32_t inner) const { return children_.data()[inner].right; }
  uint32_t parent(uint32_t node) const { return parents_.data()[node]; }  // the root is its own parent
  uint32_t sibling(uint32_t node) const {                                 // and its own sibling
    if (node == 0) return 0;
    const Children& c = children_.data()[parent(node)];
    return c.left ^ c.right ^ node;
  }
  const Box3f& box(uint32_t node) const { return boxes_.data()[node]; }

  // Phases (bodies) of the primitives, taken up to the nodes: a node's phase is that of all leaves below it,
  // or kMixed. Phases are 0 or larger; none are set after a build.
  void setPhases(std::span<const int32_t> phaseOfPrimitive);
  bool hasPhases() const { return hasPhases_; }
  int32_t phase(uint32_t node) const { return phases_.data()[node]; }

  size_t bytes() const;  // of the tree itself: 17 n - 9 words, and 2 n - 1 more with phases

 private:
  friend class RadixTreeBuilder;
  struct Children {
    uint32_t left, right;
  };
  uint32_t leafCount_ = 0, height_ = 0;
  bool hasPhases_ = false;
  ReusableArray<uint32_t> primitives_, parents_;
  ReusableArray<Children> children_;
  ReusableArray<Box3f> boxes_;
  ReusableArray<int32_t> phases_;
};

// Throws Error (Geometry) naming the first box that is empty or not finite.
void buildRadixTree(RadixTree& tree, std::span<const Box3f> boxes, const RadixSettings& settings = {});

// Over given codes, ascending, code i being that of boxes[i].
void buildRadixTree(RadixTree& tree, std::span<const uint64_t> sortedCodes, std::span<const Box3f> boxes,
                    RadixBuild build = RadixBuild::TopDown);

// Bits 0 to 14 of x, y and z in turn, x lowest.
uint64_t mortonCode(uint32_t x, uint32_t y, uint32_t z);

// Surface area heuristic as for OiTree (oi_tree.h): lower is better.
double surfaceAreaCost(const RadixTree& tree, double innerCost = 1.2, double leafCost = 1.0);

}  // namespace sunder::spatial
