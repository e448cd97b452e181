// Overlapping pairs of leaves from a front that is kept from frame to frame: the method that rebuilding is
// compared with. The front is where the last search ended in the tree of node pairs: pairs of nodes that do
// not overlap, and pairs of leaves. In the next frame, after the trees' boxes are refitted, only the front is
// tested; pairs that now overlap are gone down from, and pairs whose parent does not overlap either are
// replaced by the parent, all siblings together (Klosowski et al. 1998; Tang et al. 2011; Wang et al. 2018).
//
// The parent of a pair is one level up on both sides; the shallower tree waits at its leaves. The front is
// kept in depth-first order, so siblings are neighbours. Guarantees: the same pair set as a search from the
// root; the order does not depend on the number of threads. Any rebuild or new order of leaves invalidates
// the front: reset() then. Cost: a test or two for each of the front's nodes, 16 bytes for each.
#pragma once

#include "bench/published/traversal.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::published {
using namespace spatial;

struct FrontStatistics {
  uint64_t boxTests = 0;
  uint64_t frontSize = 0;  // after the update
  uint64_t descended = 0;  // front nodes that were gone down from
  uint64_t ascended = 0;   // parents that replaced their children
  uint64_t bytes = 0;      // of the front and its working copies
};

class FrontTracker {
 public:
  // Starts from the roots. The trees must outlive the tracker; refit them, but do not rebuild them.
  void reset(std::span<const TreePair> jobs);

  // Pairs of the trees as they are now.
  void update(VariantPairs& result);

  const FrontStatistics& statistics() const { return statistics_; }

 private:
  struct Node {
    uint32_t job, a, b, depth;
  };
  struct Part {
    GrowingArray<Node> front;
    GrowingArray<PrimitivePair> pairs;
    std::vector<size_t> jobPairs;  // (job, pairs) of each stretch, flattened
    FrontStatistics statistics;
  };
  struct Work;

  void updateRuns(size_t begin, size_t end, Part& part) const;
  void descend(const Work& work, const Node& node, Part& part) const;

  std::vector<TreePair> jobs_;
  GrowingArray<Node> front_, next_;
  std::vector<Part> parts_;
  FrontStatistics statistics_;
};

}  // namespace sunder::published
