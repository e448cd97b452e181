// The source's search for overlapping pairs of leaves: the tree of node pairs (the BVTT) is expanded breadth
// first, one pass over the whole frontier of all jobs together, no stack, nothing kept from frame to frame.
// Follows Chitalu et al. 2018 (I3D) and 2020 (CGF 39-2) with their errata. It exists to be measured and to be
// compared with: overlap_pairs.h is the fast path. Trees may have arity 2 (the source's), 4 or 8, also mixed.
//
// A pass takes each node pair down by a depth-step (mu) of its own on either side, at most to the leaves, so
// a shallow tree waits while a deep one goes on. Existing descendants are found by arithmetic; na of a
// node and nb of the other make na * nb new pairs. Within one tree pairs are ordered by position; a node
// against itself makes the triangle with its diagonal, without it when the descendants are leaves.
//
// Guarantees: the pair set does not depend on any setting, nor on the number of threads, which does not
// change the order either; no pair twice; within one tree the first has the smaller leaf position. Bounded
// memory: with a frontier limit, a pass takes at most so many node pairs, and finishes what they lead to
// before it takes more; then at most limit * (largest expansion) * (passes) node pairs exist at once. Cost:
// about 8 ns a box test, 8 bytes a node pair.
#pragma once

#include "sunder/base/array/growing_array.h"
#include "sunder/spatial/pairs/overlap_pairs.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sunder::published {
using namespace spatial;

enum class TestTime : uint8_t {
  OnPop,  // all new pairs enter the frontier and are tested when the next pass reads them: the source's order
  OnPush,  // pairs are tested before they are written: same tests, a frontier several times smaller
};

struct TraversalSettings {
  uint32_t step = 1;  // mu, the depth-step; at least 1
  std::vector<uint32_t> stepTable =
      {};                   // when given: the depth-step from level l is stepTable[l], the last goes on
  uint32_t entryLevel = 0;  // where each tree starts, at most its leaves
  TestTime test = TestTime::OnPush;
  size_t frontierLimit = 0;  // most node pairs a pass takes in; 0: all there are
};

struct VariantStatistics {
  uint64_t boxTests = 0;
  uint64_t passes = 0;         // over a frontier, or over a block of it when that is limited
  uint64_t peakFrontier = 0;   // most node pairs waiting at once
  uint64_t frontierBytes = 0;  // memory held for them
};

// Frontiers and their parts, kept from one search to the next.
struct TraversalMemory;

// Pairs of primitives, those of job j together.
struct VariantPairs {
  GrowingArray<PrimitivePair> data;
  std::vector<size_t> jobBegin = {};  // one more than there are jobs
  VariantStatistics statistics;
  std::shared_ptr<TraversalMemory> memory;  // made by the first search

  std::span<const PrimitivePair> pairs() const { return data.span(); }
  std::span<const PrimitivePair> pairs(size_t job) const {
    return pairs().subspan(jobBegin[job], jobBegin[job + 1] - jobBegin[job]);
  }
};

// Throws Error (Usage) for a depth-step of 0, or one that gives a node more than 512 descendants.
void traverse(std::span<const TreePair> jobs, const TraversalSettings& settings, VariantPairs& result);

// How many pairs replace one: `a` at (levelA, positionA) goes stepA levels down, `b` stepB. `self` says that
// both are the same node of the same tree.
uint64_t expansionSize(const OiLayout& a, OiLayout::Node nodeA, uint32_t stepA, const OiLayout& b,
                       OiLayout::Node nodeB, uint32_t stepB, bool self);

// How many passes two trees take that overlap down to their leaves.
uint32_t passCount(const OiLayout& a, const OiLayout& b, const TraversalSettings& settings);

}  // namespace sunder::published
