// Which cells of the graded lattice exist: a balanced octree whose cells around crossed lattice points are
// all at the finest level. Private to the room; stuffing.h has the story.
//
// A cell of level k is 2^k lattice cells wide; it is a leaf when its parent is split and it is not. Cells
// that share a face or an edge differ by one level at most, so an edge of a leaf has at most one vertex in
// its middle and a face at most one.
#pragma once

#include "sunder/tet/stuffing_lattice.h"

#include <vector>

namespace sunder::tet {

class StuffingOctree {
 public:
  // After the lattice's cuts are found.
  StuffingOctree(const StuffingLattice& lattice, int levels);

  int levels() const { return levels_; }
  Cell size(int level) const {  // cells of that level along each axis
    const Cell& b = bricks_;
    const auto scaled = [level](int32_t n) { return level <= 2 ? n << (2 - level) : n >> (level - 2); };
    return {scaled(b[0]), scaled(b[1]), scaled(b[2])};
  }
  bool inBox(int level, const Cell& c) const {
    const Cell n = size(level);
    return c[0] >= 0 && c[1] >= 0 && c[2] >= 0 && c[0] < n[0] && c[1] < n[1] && c[2] < n[2];
  }
  bool split(int level, const Cell& c) const {
    if (level == 0 || !inBox(level, c)) return false;
    if (level == 1) {
      const uint32_t child = uint32_t((c[0] & 1) | (c[1] & 1) << 1 | (c[2] & 1) << 2);
      return split_[0][placeIn(2, {c[0] >> 1, c[1] >> 1, c[2] >> 1})] >> child & 1;
    }
    return split_[size_t(level - 1)][placeIn(level, c)] != 0;
  }
  bool exists(int level, const Cell& c) const {
    return level == levels_ || split(level + 1, {c[0] >> 1, c[1] >> 1, c[2] >> 1});
  }
  bool leaf(int level, const Cell& c) const { return exists(level, c) && !split(level, c); }

  // Cells of the finest level in a brick, as a mask.
  uint64_t fine(uint32_t place) const;

  // Bricks that hold a vertex of a leaf that lies inside.
  std::vector<uint8_t> bricksInUse(const StuffingLattice& lattice) const;

 private:
  size_t placeIn(int level, const Cell& c) const {
    const Cell n = size(level);
    return size_t(c[0]) + size_t(n[0]) * (size_t(c[1]) + size_t(n[1]) * size_t(c[2]));
  }
  void splitAroundSurface(const StuffingLattice& lattice);
  void balance(int level);

  int levels_;
  Cell bricks_;
  // Entry 0: a byte a brick, a bit each of its level-1 cells; entry k - 1: a byte each cell of level k.
  std::vector<std::vector<uint8_t>> split_;
};

}  // namespace sunder::tet
