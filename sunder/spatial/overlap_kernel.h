// The inner loop of overlap_pairs.h: one step down from a pair of nodes, in vector form. Private to the room.
#pragma once

#include "sunder/spatial/overlap_pairs.h"

#include <algorithm>
#include <cstdint>

namespace sunder::spatial::kernels {

struct Positions {
  uint32_t a, b;
};

// A pair of nodes on the way down: `depth` levels below the roots, the shallower tree waiting at its leaves.
struct NodePair {
  uint32_t a, b, job, depth;
};

// A vector may write a full row behind the last pair: arrays for one step hold a row more than its 64 pairs.
inline constexpr size_t kTilePairs = kBlockLanes * kBlockLanes + kBlockLanes;

struct PairWork {
  explicit PairWork(const TreePair& job)
      : a(*job.a),
        b(*job.b),
        leafA(a.layout().leafLevel()),
        leafB(b.layout().leafLevel()),
        self(job.a == job.b) {}

  uint32_t levelA(uint32_t depth) const { return std::min(depth, leafA); }
  uint32_t levelB(uint32_t depth) const { return std::min(depth, leafB); }
  bool areLeaves(uint32_t depth) const { return depth >= leafA && depth >= leafB; }
  bool childrenAreLeaves(uint32_t depth) const { return areLeaves(depth + 1); }

  const OiTree& a;
  const OiTree& b;
  uint32_t leafA, leafB;
  bool self;
};

struct WorkCount {
  uint64_t boxTests = 0, nodePairs = 0;
};

// The overlapping pairs of children of one pair of nodes that are not both leaves; returns how many. `out`
// has room for kTilePairs.
size_t expand(const PairWork& work, const NodePair& pair, Positions* out, uint64_t& boxTests);

// All overlapping pairs of leaves below a pair of nodes.
void descend(const PairWork& work, const NodePair& pair, PairOutput& output, WorkCount& count);

}  // namespace sunder::spatial::kernels
