// Overlapping pairs of leaves by depth-first search with an explicit stack: the plain single-threaded method,
// as a yardstick of tests and time for the others, and for callers that have no memory to spare. Node pairs
// go down together, one level at a time, the shallower tree waiting at its leaves; pairs are tested before
// they are stacked.
//
// Guarantees: every pair once, within one tree the smaller leaf position first. Cost: about 10 ns a box test;
// memory: a stack of at most 1024 node pairs.
#pragma once

#include "sunder/spatial/pairs/overlap_pairs.h"

#include "bench/published/box_pair_tests.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>

namespace sunder::published {
using namespace spatial;

struct DepthFirstStatistics {
  uint64_t boxTests = 0;
  uint32_t deepestStack = 0;
};

// Calls emit(primitiveOfA, primitiveOfB) for each pair.
template <class Emit>
DepthFirstStatistics depthFirstPairs(const TreePair& job, Emit&& emit) {
  DepthFirstStatistics statistics;
  const OiTree &a = *job.a, &b = *job.b;
  if (a.empty() || b.empty()) return statistics;
  const OiLayout &layoutA = a.layout(), &layoutB = b.layout();
  const bool self = job.a == job.b;

  struct Node {
    uint32_t a, b, depth;
  };
  std::array<Node, 1024> stack;
  uint32_t size = 0;
  const uint32_t lastDepth = std::max(layoutA.leafLevel(), layoutB.leafLevel());
  const auto take = [&](const Node& node) {
    if (node.depth == lastDepth) {
      emit(a.primitive(node.a), b.primitive(node.b));
      return;
    }
    assert(size < stack.size());
    stack[size++] = node;
    statistics.deepestStack = std::max(statistics.deepestStack, size);
  };

  ++statistics.boxTests;
  if (self ? lastDepth > 0 : overlap(a.bounds(), b.bounds())) take({0, 0, 0});
  while (size > 0) {
    const Node node = stack[--size];
    const uint32_t levelA = std::min(node.depth + 1, layoutA.leafLevel());
    const uint32_t levelB = std::min(node.depth + 1, layoutB.leafLevel());
    uint32_t firstA = node.a, countA = 1, firstB = node.b, countB = 1;
    if (node.depth < layoutA.leafLevel()) {
      countA = layoutA.childCount(node.depth, node.a);
      firstA = node.a * layoutA.arity();
    }
    if (node.depth < layoutB.leafLevel()) {
      countB = layoutB.childCount(node.depth, node.b);
      firstB = node.b * layoutB.arity();
    }
    const bool triangle = self && node.a == node.b;
    const uint32_t offDiagonal = node.depth + 1 == lastDepth ? 1 : 0;
    FlatBox columns[kBlockLanes];
    for (uint32_t y = 0; y < countB; ++y) columns[y] = flatBox(b, levelB, firstB + y);
    for (uint32_t x = 0; x < countA; ++x) {
      const FlatBox row = flatBox(a, levelA, firstA + x);
      for (uint32_t y = triangle ? x + offDiagonal : 0; y < countB; ++y) {
        ++statistics.boxTests;
        if (overlapFlat(row, columns[y])) take({firstA + x, firstB + y, node.depth + 1});
      }
    }
  }
  return statistics;
}

}  // namespace sunder::published
