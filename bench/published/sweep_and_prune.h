// Overlapping pairs of boxes without any tree: the boxes are sorted by their lower ends along one axis, and
// each is tested against those that begin before it ends. The non-hierarchical reference for tests and for
// comparisons (Baraff 1992, sorted anew each time). The axis is the one along which the centres vary most.
//
// Guarantees: every pair once, boxes that touch included; the order does not depend on the number of threads.
// Cost: O(n log n) and a test for every two boxes whose intervals on the axis overlap, O(n^(5/3)) for even
// fills of space. Boxes must be finite (Error Geometry).
#pragma once

#include "sunder/base/box.h"

#include "bench/published/traversal.h"

#include <span>

namespace sunder::published {
using namespace spatial;

// Pairs within one set, as (smaller, larger) index; or of the first set with the second.
void sweepAndPrune(std::span<const Box3f> boxes, VariantPairs& result);
void sweepAndPrune(std::span<const Box3f> first, std::span<const Box3f> second, VariantPairs& result);

}  // namespace sunder::published
