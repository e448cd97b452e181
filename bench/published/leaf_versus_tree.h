// Overlapping pairs of leaves by walking one tree once for each leaf of the other: nothing is shared between
// leaves, so it needs no frontier and no balancing, and it makes about ten times the tests of going down both
// trees at once. The comparison that ImplicitBVH.jl publishes. Within one tree a leaf looks only at leaves
// behind it.
//
// Guarantees: every pair once, in the order of a's leaves, whatever the number of threads. Cost: O(n log n)
// tests and more where boxes are large; memory: the output and 256 stack entries a thread.
#pragma once

#include "bench/published/traversal.h"

namespace sunder::published {
using namespace spatial;

// Fills all of `result` but its frontier statistics.
void leafVersusTree(std::span<const TreePair> jobs, VariantPairs& result);

}  // namespace sunder::published
