// Bricks of 4 x 4 x 4 lattice cells as 64-bit masks, one bit a cell: bit x + 4 y + 16 z. Private to the room.
//
// Each cell stands for two points of the body-centred lattice, its lower corner and its centre. Edges of the
// lattice belong to one of their ends: a corner has the three long ones upwards; a centre the three long ones
// upwards and the eight short ones to its cell's corners. That makes 14 masks of edges a brick.
#pragma once

#include "sunder/base/math.h"

#include <array>
#include <cstdint>

namespace sunder::tet {

inline constexpr uint32_t kBrickSide = 4, kBrickCells = 64, kBrickPoints = 128, kEdgeTypes = 14;
inline constexpr uint64_t kAll = ~uint64_t(0);

using Cell = std::array<int32_t, 3>;

inline uint32_t bitOf(uint32_t x, uint32_t y, uint32_t z) { return x + 4 * y + 16 * z; }

// The mask of cells whose neighbour one step along `axis` (step -1, 0 or 1) is set, where `here` is the
// brick's mask and `there` that of the next brick in the direction of the step.
inline uint64_t stepMask(uint64_t here, uint64_t there, int axis, int step) {
  if (step == 0) return here;
  constexpr uint64_t kLast[3] = {0x8888888888888888u, 0xf000f000f000f000u, 0xffff000000000000u};
  constexpr uint64_t kFirst[3] = {0x1111111111111111u, 0x000f000f000f000fu, 0x000000000000ffffu};
  const int s = axis == 0 ? 1 : axis == 1 ? 4 : 16;
  if (step > 0) return ((here >> s) & ~kLast[axis]) | ((there << (3 * s)) & kLast[axis]);
  return ((here << s) & ~kFirst[axis]) | ((there >> (3 * s)) & kFirst[axis]);
}

// Masks of a brick and the 26 around it; entry (dx + 1) + 3 (dy + 1) + 9 (dz + 1).
struct MaskCube {
  std::array<uint64_t, 27> at{};

  // Bit of a cell: is the cell at (dx, dy, dz) from it set?
  uint64_t shifted(int dx, int dy, int dz) const {
    const auto rowOf = [&](int y, int z) {
      const size_t base = size_t(1 + 3 * (y + 1) + 9 * (z + 1));
      return dx == 0 ? at[base] : stepMask(at[base], at[size_t(int(base) + dx)], 0, dx);
    };
    const auto layerOf = [&](int z) {
      return dy == 0 ? rowOf(0, z) : stepMask(rowOf(0, z), rowOf(dy, z), 1, dy);
    };
    return dz == 0 ? layerOf(0) : stepMask(layerOf(0), layerOf(dz), 2, dz);
  }
};

// One of the 14 kinds of edges: from a point of kind `from` (0 corner, 1 centre) of a cell to one of kind
// `to` of the cell at `step`.
struct EdgeType {
  int from, to;
  std::array<int, 3> step;
  bool isLong;
};
inline constexpr std::array<EdgeType, kEdgeTypes> kEdges{{{0, 0, {1, 0, 0}, true},
                                                          {0, 0, {0, 1, 0}, true},
                                                          {0, 0, {0, 0, 1}, true},
                                                          {1, 1, {1, 0, 0}, true},
                                                          {1, 1, {0, 1, 0}, true},
                                                          {1, 1, {0, 0, 1}, true},
                                                          {1, 0, {0, 0, 0}, false},
                                                          {1, 0, {1, 0, 0}, false},
                                                          {1, 0, {0, 1, 0}, false},
                                                          {1, 0, {1, 1, 0}, false},
                                                          {1, 0, {0, 0, 1}, false},
                                                          {1, 0, {1, 0, 1}, false},
                                                          {1, 0, {0, 1, 1}, false},
                                                          {1, 0, {1, 1, 1}, false}}};
inline constexpr uint32_t kShortEdges = 6;  // first of the short types; then bits x, y, z of the corner

}  // namespace sunder::tet
