// For every set of eight lanes, the lanes in it, first ones first: what a vector needs to move the chosen
// lanes to its front. Highway's own Compress makes GCC copy its table to the stack in every call. Private to
// the room.
#pragma once

#include <cstdint>

namespace sunder::spatial::kernels {

struct LaneTable {
  alignas(64) uint8_t lanes[256][8];
};

constexpr LaneTable makeLaneTable() {
  LaneTable table{};
  for (uint32_t set = 0; set < 256; ++set)
    for (uint32_t lane = 0, next = 0; lane < 8; ++lane)
      if (set >> lane & 1) table.lanes[set][next++] = static_cast<uint8_t>(lane);
  return table;
}
inline constexpr LaneTable kLaneTable = makeLaneTable();

}  // namespace sunder::spatial::kernels
