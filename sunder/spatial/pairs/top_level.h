// From bodies to tree pairs: which bodies are near enough to each other that their trees must be searched.
// One more ostensibly-implicit tree, over the bodies' boxes, finds them, so a world of thousands of bodies
// does not try all pairs of roots (46 360 for the source's 305 bodies). Bodies that may touch themselves, as
// cloth does, get a job of their own.
//
// Filters: two bodies meet when each one's category is in the other's mask and neither shares a group number
// other than 0, and the callback, when there is one, agrees. Guarantees: jobs ordered by (first, second)
// body, first <= second, none twice, whatever the number of threads. Empty trees meet nobody. Cost: O(n log
// n).
#pragma once

#include "sunder/spatial/pairs/overlap_pairs.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sunder::spatial {

struct TopLevelBody {
  const OiTree* tree = nullptr;  // in world space; each body has its own
  bool self = false;             // search it within itself
  uint32_t category = 1;
  uint32_t mask = 0xffffffffu;
  uint32_t group = 0;  // bodies of one group other than 0 do not meet
};

// Of two different bodies; not asked about a body with itself.
using BodyFilter = std::function<bool(uint32_t first, uint32_t second)>;

class TopLevel {
 public:
  // Throws Error (Usage) when a body has no tree, or two bodies have the same one.
  void update(std::span<const TopLevelBody> bodies, const BodyFilter& filter = {});

  std::span<const TreePair> jobs() const { return jobs_; }
  std::span<const PrimitivePair> bodies() const { return bodies_; }  // of each job; equal for a self job

  // Of the search among bodies; boxTests are whole vectors.
  const TraversalStatistics& statistics() const { return pairs_.statistics(); }

 private:
  OiTreeBuilder builder_;
  OiTree tree_;
  PairList pairs_;
  std::vector<Box3f> boxes_;
  std::vector<uint32_t> present_;
  std::vector<TreePair> jobs_;
  std::vector<PrimitivePair> bodies_;
};

}  // namespace sunder::spatial
