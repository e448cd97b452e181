#include "bench/published/leaf_versus_tree.h"

#include "sunder/base/parallel.h"

#include "bench/published/box_pair_tests.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace sunder::published {
using namespace spatial;

namespace {

constexpr size_t kLeafChunk = 512;
constexpr size_t kLeafChunksAtOnce = 128;

// Leaves of `tree` from `from` on whose boxes overlap `box`, in order; returns the number of tests.
template <class Found>
uint64_t walk(const OiTree& tree, const FlatBox& box, uint32_t from, Found&& found) {
  const OiLayout& layout = tree.layout();
  uint64_t tests = 1;
  if (!overlapFlat(box, flatBox(tree, 0, 0))) return tests;
  if (layout.leafLevel() == 0) {
    if (from == 0) found(0);
    return tests;
  }
  struct Node {
    uint32_t level, position;
  };
  std::array<Node, 256> stack;
  uint32_t size = 0;
  stack[size++] = {0, 0};
  while (size > 0) {
    const Node node = stack[--size];
    const uint32_t level = node.level + 1, first = node.position * layout.arity();
    const uint32_t last = first + layout.childCount(node.level, node.position);
    if (level == layout.leafLevel()) {
      for (uint32_t p = std::max(first, from); p < last; ++p) {
        ++tests;
        if (overlapFlat(box, flatBox(tree, level, p))) found(p);
      }
      continue;
    }
    for (uint32_t p = last; p-- > first;) {  // the first child comes off the stack first
      if (layout.leavesBelow(level, p).end <= from) break;
      ++tests;
      if (!overlapFlat(box, flatBox(tree, level, p))) continue;
      assert(size < stack.size());
      stack[size++] = {level, p};
    }
  }
  return tests;
}

uint64_t walkLeaves(const TreePair& job, size_t begin, size_t end, GrowingArray<PrimitivePair>& out) {
  uint64_t tests = 0;
  const uint32_t leafLevel = job.a->layout().leafLevel();
  for (auto leaf = static_cast<uint32_t>(begin); leaf < end; ++leaf)
    tests +=
        walk(*job.b, flatBox(*job.a, leafLevel, leaf), job.a == job.b ? leaf + 1 : 0, [&](uint32_t other) {
          out.push({job.a->primitive(leaf), job.b->primitive(other)});
        });
  return tests;
}

}  // namespace

void leafVersusTree(std::span<const TreePair> jobs, VariantPairs& result) {
  result.data.clear();
  result.statistics = {};
  result.jobBegin.assign(1, 0);
  std::vector<GrowingArray<PrimitivePair>> parts(kLeafChunksAtOnce);
  for (const TreePair& job : jobs) {
    const size_t leaves = job.b->empty() ? 0 : job.a->leafCount();
    for (size_t first = 0; first < leaves; first += kLeafChunk * kLeafChunksAtOnce) {
      const size_t count = std::min(leaves - first, kLeafChunk * kLeafChunksAtOnce);
      result.statistics.boxTests += parallelReduce(
          count, uint64_t(0),
          [&](size_t b, size_t e) {
            parts[b / kLeafChunk].clear();
            return walkLeaves(job, first + b, first + e, parts[b / kLeafChunk]);
          },
          [](uint64_t x, uint64_t y) { return x + y; }, kLeafChunk);
      for (size_t c = 0; c * kLeafChunk < count; ++c) {
        std::copy_n(parts[c].data(), parts[c].size(), result.data.room(parts[c].size()));
        result.data.advance(parts[c].size());
      }
    }
    result.jobBegin.push_back(result.data.size());
  }
  result.statistics.passes = 1;
}

}  // namespace sunder::published
