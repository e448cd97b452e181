// Orders of the leaves of a tree, besides the 30-bit Morton order that the build makes in passing. Private to
// the room.
#pragma once

#include "sunder/spatial/tree/oi_tree.h"

#include <cstdint>
#include <span>

namespace sunder::spatial {

// Order by 63-bit Morton codes (21 bits an axis), equal codes by index. `keys` is working memory of the same
// size.
void sortByLongCodes(std::span<const PaddedBox> boxes, const PaddedBox& bounds, bool commonScale,
                     std::span<uint64_t> keys, std::span<uint32_t> order, RadixScratch& scratch);

// Recursive selection: a run of n leaves is split after the largest power of two below n, which is where the
// implicit tree splits it whatever its arity, at the leaf of that rank along the longest axis of the centres;
// ties by index. `order` holds the leaves in any order, a Morton order being the fastest to start from. O(n
// log n).
void orderBySelection(std::span<const PaddedBox> boxes, std::span<uint32_t> order);

}  // namespace sunder::spatial
