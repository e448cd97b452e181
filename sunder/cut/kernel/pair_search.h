// Pairs of faces whose boxes overlap, with a budget: things in one place make every pair, and the time and
// the memory of a cut are those of its pairs.
#pragma once

#include "sunder/spatial/pairs/overlap_pairs.h"

#include <string>

namespace sunder::cut {

// Throws Error (Limit) where there are more than `most` pairs, with their number, which is the budget that
// would do. `what` follows "pairs of faces": "of the mesh". Both trees may be the same one.
void searchPairs(const spatial::OiTree& a, const spatial::OiTree& b, uint64_t most, const std::string& what,
                 spatial::PairList& list);

}  // namespace sunder::cut
