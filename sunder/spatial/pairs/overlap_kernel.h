// The inner loop of overlap_pairs.h: one step down from a pair of nodes, in vector form. Private to the room.
#pragma once

#include "sunder/spatial/pairs/overlap_pairs.h"

#include <algorithm>
#include <atomic>
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

// How many pairs a search may find, counted by all its threads together; beyond that it stops soon. Whether
// it is exceeded depends on the pairs alone, not on who finds them first.
class PairBudget {
 public:
  explicit PairBudget(uint64_t most) : most_(most) {}
  bool spend(uint64_t pairs) { return found_.fetch_add(pairs, std::memory_order_relaxed) + pairs <= most_; }
  bool exceeded() const { return found_.load(std::memory_order_relaxed) > most_; }

 private:
  uint64_t most_;
  std::atomic<uint64_t> found_{0};
};

// The overlapping pairs of children of one pair of nodes that are not both leaves; returns how many. `out`
// has room for kTilePairs.
size_t expand(const PairWork& work, const NodePair& pair, Positions* out, uint64_t& boxTests);

// All overlapping pairs of leaves below a pair of nodes, or how many there are; not all of them when the
// budget is exceeded.
void descend(const PairWork& work, const NodePair& pair, PairOutput& output, WorkCount& count,
             PairBudget& budget);
uint64_t countBelow(const PairWork& work, const NodePair& pair, PairBudget& budget);

}  // namespace sunder::spatial::kernels
