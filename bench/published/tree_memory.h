// What a tree of n leaves takes in memory in the layouts that compete: the ostensibly-implicit one, the
// perfect tree that pads the leaves to a power of the arity (Chitalu et al. 2018), and binary nodes with two
// links. Boxes are 24 bytes.
//
// The implicit tree never takes more than the padded one: just above a power of two it saves almost half, at
// a power nothing. Against linked nodes it has at most log2 n nodes more, and no links. Cost: O(levels).
#pragma once

#include "sunder/spatial/tree/oi_layout.h"

#include <cstdint>

namespace sunder::published {
using namespace spatial;

struct TreeMemory {
  uint64_t implicitBytes = 0;  // 24 bytes for every existing node
  uint64_t paddedBytes = 0;    // 24 bytes for every node of the perfect tree
  uint64_t linkedBytes = 0;    // 32 bytes for every node of a binary tree without single children

  double savedAgainstPadded() const {
    return paddedBytes == 0 ? 0 : 1 - static_cast<double>(implicitBytes) / static_cast<double>(paddedBytes);
  }
};

inline TreeMemory treeMemory(uint32_t leafCount, uint32_t arity = 2) {
  const OiLayout layout(leafCount, arity);
  const uint64_t linkedNodes = leafCount == 0 ? 0 : 2 * uint64_t(leafCount) - 1;
  return {24 * uint64_t(layout.nodeCount()), 24 * layout.perfectNodeCount(), 32 * linkedNodes};
}

}  // namespace sunder::published
