// All leaves of a radix tree (radix_tree.h) whose boxes overlap a box, in five ways that find the same leaves
// in the same order: with a stack; without one by a trail of bits, one a level, that says where the sibling
// is still to be visited (Afra and Szirmay-Kalos 2014) or where a level is finished (Barringer and
// Akenine-Moeller 2013); each from the root, or, for a box around one of the leaves, from that leaf upwards,
// which saves the tests of its ancestors. Left comes before right.
//
// A trail has 64 levels. In trees that are higher the trails fall back to the stack, which holds any tree.
// Cost for 216,000 spheres with 4 contacts each, one Zen 3 core: 1.0 microseconds a sphere with the stack,
// which stays in the first-level cache, 1.2 with a trail, which climbs through parents. Starting at the leaf
// makes 20 % fewer tests (75 instead of 94) in the same time. The trails are here for comparison and for
// machines without cheap stacks.
//
// radixNeighbours gives the rows for a set of spheres by these means, about as fast as sphere_neighbours.h
// does, whose tree is made in less time and memory.
#pragma once

#include "sunder/spatial/points/neighbour_rows.h"
#include "sunder/spatial/points/sphere_set.h"
#include "sunder/spatial/tree/radix_tree.h"

#include <array>
#include <cstdint>
#include <span>

namespace sunder::spatial {

enum class RadixWalk : uint8_t { Stack, SiblingTrail, LevelTrail };
enum class RadixStart : uint8_t { Root, Leaf };

struct RadixCount {
  uint64_t boxTests = 0, leaves = 0;
};

namespace detail {

// How a walk remembers where to go on. enter(both, right) goes down a level, to one child or to both in turn;
// next(tree, root, node) moves `node` to the next subtree, or says that there is none.
struct NodeStack {
  std::array<uint32_t, 96> nodes;  // an entry a level at most: 45 levels of codes, 32 of equal codes
  size_t top = 0;

  void enter(bool both, uint32_t right) {
    if (both) nodes[top++] = right;
  }
  bool next(const RadixTree&, uint32_t, uint32_t& node) {
    if (top == 0) return false;
    node = nodes[--top];
    return true;
  }
};

// A bit set: the sibling on that level is still to be visited.
struct SiblingTrail {
  uint64_t trail = 0;

  void enter(bool both, uint32_t) { trail = trail << 1 | both; }
  bool next(const RadixTree& tree, uint32_t, uint32_t& node) {
    if (trail == 0) return false;
    for (; (trail & 1) == 0; trail >>= 1) node = tree.parent(node);
    node = tree.sibling(node);
    trail ^= 1;
    return true;
  }
};

// A bit set: that level is finished. Adding one carries over the finished levels.
struct LevelTrail {
  uint64_t trail = 0;

  void enter(bool both, uint32_t) { trail = trail << 1 | !both; }
  bool next(const RadixTree& tree, uint32_t root, uint32_t& node) {
    for (++trail; (trail & 1) == 0; trail >>= 1) node = tree.parent(node);
    if (node == root) return false;
    node = tree.sibling(node);
    return true;
  }
};

template <class Memory, class Pass, class Leaf>
void walk(const RadixTree& tree, uint32_t root, Pass&& pass, Leaf&& leaf) {
  Memory memory;
  if (!pass(root)) return;
  for (uint32_t node = root;;) {
    if (tree.isLeaf(node)) {
      leaf(node);
    } else {
      const uint32_t left = tree.left(node), right = tree.right(node);
      const bool inLeft = pass(left), inRight = pass(right);
      if (inLeft || inRight) {
        memory.enter(inLeft && inRight, right);
        node = inLeft ? left : right;
        continue;
      }
    }
    if (!memory.next(tree, root, node)) return;
  }
}

// The level trail needs a bit above its levels to stop at.
inline RadixWalk usableWalk(const RadixTree& tree, RadixWalk walk) {
  const uint32_t most = walk == RadixWalk::SiblingTrail ? 64 : 63;
  return tree.height() > most ? RadixWalk::Stack : walk;
}

template <class Pass, class Leaf>
void walkFrom(const RadixTree& tree, uint32_t root, RadixWalk how, Pass&& pass, Leaf&& leaf) {
  switch (how) {
    case RadixWalk::Stack:
      walk<NodeStack>(tree, root, pass, leaf);
      break;
    case RadixWalk::SiblingTrail:
      walk<SiblingTrail>(tree, root, pass, leaf);
      break;
    case RadixWalk::LevelTrail:
      walk<LevelTrail>(tree, root, pass, leaf);
      break;
  }
}

}  // namespace detail

// visit(leaf) for each leaf whose box overlaps; leaves that only touch do too.
template <class Visit>
void forOverlaps(const RadixTree& tree, const Box3f& box, RadixWalk walk, RadixCount& count, Visit&& visit) {
  if (tree.empty()) return;
  detail::walkFrom(
      tree, 0, detail::usableWalk(tree, walk),
      [&](uint32_t node) {
        ++count.boxTests;
        return overlap(tree.box(node), box);
      },
      [&](uint32_t node) {
        ++count.leaves;
        visit(tree.leafOfNode(node));
      });
}

// The same for a box that overlaps the box of `leaf`, from there upwards: `leaf` itself is not visited.
// Subtrees to the side of the climb are visited from the bottom to the top. With a phase of 0 or more, nodes
// all of that phase are left out.
template <class Visit>
void forOverlapsFrom(const RadixTree& tree, uint32_t leaf, const Box3f& box, RadixWalk walk,
                     RadixCount& count, Visit&& visit, int32_t phase = RadixTree::kMixed) {
  const RadixWalk usable = detail::usableWalk(tree, walk);
  const bool cull = phase >= 0 && tree.hasPhases();
  for (uint32_t node = tree.leafNode(leaf); node != 0; node = tree.parent(node)) {
    detail::walkFrom(
        tree, tree.sibling(node), usable,
        [&](uint32_t candidate) {
          if (cull && tree.phase(candidate) == phase) return false;
          ++count.boxTests;
          return overlap(tree.box(candidate), box);
        },
        [&](uint32_t found) {
          ++count.leaves;
          visit(tree.leafOfNode(found));
        });
  }
}

struct RadixQuery {
  RadixWalk walk = RadixWalk::Stack;
  RadixStart start = RadixStart::Leaf;
  bool cullPhases = false;  // spheres of one phase are no neighbours; from the leaf only
  uint64_t mostNeighbours = kMostNeighbours;
};

// Neighbours of all spheres by a tree over their boxes (sphereBoxes of sphere_set.h, in their order). Rows by
// ascending index; the rule is that of SphereSet.
RadixCount radixNeighbours(const RadixTree& tree, const SphereSet& spheres, NeighbourRows& rows,
                           const RadixQuery& query = {});

}  // namespace sunder::spatial
