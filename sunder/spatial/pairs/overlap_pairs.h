// All pairs of leaves whose boxes overlap: between two trees, within one tree, or over a list of such jobs at
// once. Boxes that touch overlap. This is the production path; traversal.h has the source's variants with
// their parameters.
//
// The tree of node pairs is first expanded level by level, all jobs together, until there are enough node
// pairs to share out (the bulk-synchronous part, Chitalu et al. 2018); each share then goes down depth-first,
// so that its working set stays in the first-level cache instead of streaming frontiers through memory. A
// step tests a block of eight children against the eight of the other side, and writes only pairs that
// overlap.
//
// Guarantees: every overlapping pair once; within one tree unordered pairs come as (smaller, larger) by leaf
// position and a leaf never with itself; the order of the output does not depend on the number of threads.
// Cost: about 2 ns a box test; memory: 8 bytes a pair, 16 with more than one thread, and some thousand node
// pairs.
//
// Things in one place make every pair: 10^7 equal boxes 5 * 10^13 of them. So the number of pairs is limited.
// Beyond 2^24 they are counted before they are stored, and Error (Limit) is thrown as soon as there are more
// than the limit, without memory for them; that depends on the pairs alone, not on the threads.
#pragma once

#include "sunder/base/array/growing_array.h"
#include "sunder/base/array/reusable_array.h"
#include "sunder/spatial/tree/oi_tree.h"

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace sunder::spatial {

struct PrimitivePair {
  uint32_t a, b;
  auto operator<=>(const PrimitivePair&) const = default;
};

// One job: tree `a` against tree `b`, or `a` within itself when both are the same tree.
struct TreePair {
  const OiTree* a;
  const OiTree* b;
};

inline constexpr uint64_t kMostPairs = 250'000'000;  // 2 GB of pairs

struct TraversalStatistics {
  uint64_t boxTests = 0;      // single boxes, eight for each vector test
  uint64_t nodePairs = 0;     // overlapping node pairs that were expanded
  uint64_t peakFrontier = 0;  // most node pairs held at once
  uint64_t frontierBytes = 0;
};

using PairOutput = GrowingArray<PrimitivePair>;

// The pairs of all jobs, those of job j being pairs(j). Memory is kept for the next call.
class PairList {
 public:
  std::span<const PrimitivePair> pairs() const { return {data_, count_}; }
  std::span<const PrimitivePair> pairs(size_t job) const {
    return {data_ + jobBegin_[job], jobBegin_[job + 1] - jobBegin_[job]};
  }
  size_t size() const { return count_; }
  size_t bytes() const;  // held, working memory included
  const TraversalStatistics& statistics() const { return statistics_; }

 private:
  friend void overlapPairs(std::span<const TreePair> jobs, PairList& result, uint64_t most);
  std::vector<PairOutput> outputs_;
  ReusableArray<PrimitivePair> joinBuffer_;
  const PrimitivePair* data_ = nullptr;
  size_t count_ = 0;
  std::vector<size_t> jobBegin_;
  TraversalStatistics statistics_;
};

// Throw Error (Limit) when there are more than `most` pairs; the list is then empty.
void overlapPairs(std::span<const TreePair> jobs, PairList& result, uint64_t most = kMostPairs);
void overlapPairs(const OiTree& a, const OiTree& b, PairList& result, uint64_t most = kMostPairs);
void selfOverlapPairs(const OiTree& tree, PairList& result, uint64_t most = kMostPairs);

// How many pairs there are, without storing any; `most` + 1 when there are more than `most`, which is less
// than 2^64 - 1.
uint64_t countOverlapPairs(std::span<const TreePair> jobs, uint64_t most = kMostPairs);

}  // namespace sunder::spatial
