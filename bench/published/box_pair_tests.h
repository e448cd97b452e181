// One box against another as the variants do it: plain scalar code on boxes gathered out of their blocks.
// Private to the room.
#pragma once

#include "sunder/spatial/tree/oi_tree.h"

#include <cstdint>

namespace sunder::published {
using namespace spatial;

struct FlatBox {
  float lower[3], upper[3];
};

inline FlatBox flatBox(const BoxBlock& block, uint32_t lane) {
  return {{block.lower[0][lane], block.lower[1][lane], block.lower[2][lane]},
          {block.upper[0][lane], block.upper[1][lane], block.upper[2][lane]}};
}

inline FlatBox flatBox(const OiTree& tree, uint32_t level, uint32_t position) {
  return flatBox(tree.level(level)[position / kBlockLanes], position % kBlockLanes);
}

// Without branches: whether two boxes overlap is hard to foresee.
inline bool overlapFlat(const FlatBox& a, const FlatBox& b) {
  return (a.lower[0] <= b.upper[0]) & (b.lower[0] <= a.upper[0]) & (a.lower[1] <= b.upper[1]) &
         (b.lower[1] <= a.upper[1]) & (a.lower[2] <= b.upper[2]) & (b.lower[2] <= a.upper[2]);
}

}  // namespace sunder::published
