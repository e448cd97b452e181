#include "sunder/tet/stuffing_octree.h"

#include "sunder/base/parallel.h"

#include <atomic>

namespace sunder::tet {

namespace {

void mark(uint8_t& byte) { std::atomic_ref<uint8_t>(byte).store(1, std::memory_order_relaxed); }

constexpr uint64_t kOctant = 0x0000000000330033u;  // cells of the first level-1 cell of a brick

uint64_t octant(uint32_t child) {
  return kOctant << (2 * (child & 1) + 8 * (child >> 1 & 1) + 32 * (child >> 2));
}

}  // namespace

StuffingOctree::StuffingOctree(const StuffingLattice& lattice, int levels)
    : levels_(levels), bricks_(lattice.bricks()) {
  if (levels == 0) return;
  split_.resize(size_t(levels));
  for (int k = 1; k <= levels; ++k) {
    const Cell n = size(std::max(k, 2));
    split_[size_t(k - 1)].assign(size_t(n[0]) * size_t(n[1]) * size_t(n[2]), 0);
  }
  splitAroundSurface(lattice);
  for (int k = 2; k <= levels; ++k) balance(k);
}

void StuffingOctree::splitAroundSurface(const StuffingLattice& lattice) {
  std::vector<uint8_t> look(lattice.brickCount(), 0);
  const auto touches = [](const Brick& b, size_t which) { return b.touched[which] | b.surface[which]; };
  parallelFor(
      lattice.stored().size(),
      [&](size_t s) {
        const Brick& brick = lattice.stored()[s];
        if ((touches(brick, 0) | touches(brick, 1)) == 0) return;
        const Cell b = lattice.brickAt(brick.place);
        for (int32_t k = 0; k < 27; ++k) {
          const Cell n{b[0] + k % 3 - 1, b[1] + k / 3 % 3 - 1, b[2] + k / 9 - 1};
          if (lattice.inBox(n)) mark(look[lattice.placeOf(n)]);
        }
      },
      64);
  parallelFor(
      look.size(),
      [&](size_t place) {
        if (look[place] == 0) return;
        const auto around = lattice.slotsAround(lattice.brickAt(uint32_t(place)));
        MaskCube cubes[2];
        for (size_t which = 0; which < 2; ++which)
          for (size_t k = 0; k < 27; ++k)
            if (around[k] != kNoIndex) cubes[which].at[k] = touches(lattice.stored()[around[k]], which);
        // Cells with a touched corner, a touched centre or a neighbour with one: all tetrahedra of a touched
        // point lie between cells of the finest level then.
        uint64_t need = cubes[1].at[13];
        for (int axis = 0; axis < 3; ++axis)
          for (const int step : {-1, 1})
            need |= cubes[1].shifted(axis == 0 ? step : 0, axis == 1 ? step : 0, axis == 2 ? step : 0);
        for (int corner = 0; corner < 8; ++corner)
          need |= cubes[0].shifted(corner & 1, corner >> 1 & 1, corner >> 2);
        uint8_t bits = 0;
        for (uint32_t child = 0; child < 8; ++child)
          if ((need & octant(child)) != 0) bits = uint8_t(bits | 1u << child);
        split_[0][place] = bits;
      },
      256);
}

// A cell is split where a cell of the level below, its own or one that shares a face or an edge with it, is.
void StuffingOctree::balance(int level) {
  const Cell n = size(level);
  std::vector<uint8_t>& out = split_[size_t(level - 1)];
  parallelFor(
      out.size(),
      [&](size_t place) {
        const Cell c{int32_t(place % size_t(n[0])), int32_t(place / size_t(n[0]) % size_t(n[1])),
                     int32_t(place / size_t(n[0]) / size_t(n[1]))};
        for (int32_t k = 0; k < 64; ++k) {
          const int32_t d[3] = {k % 4 - 1, k / 4 % 4 - 1, k / 16 - 1};
          const auto rim = [](int32_t i) { return i == -1 || i == 2; };
          if (rim(d[0]) && rim(d[1]) && rim(d[2])) continue;
          if (!split(level - 1, {2 * c[0] + d[0], 2 * c[1] + d[1], 2 * c[2] + d[2]})) continue;
          out[place] = 1;
          return;
        }
      },
      256);
}

uint64_t StuffingOctree::fine(uint32_t place) const {
  if (levels_ == 0) return kAll;
  uint64_t mask = 0;
  for (uint32_t child = 0; child < 8; ++child)
    if (split_[0][place] >> child & 1) mask |= octant(child);
  return mask;
}

std::vector<uint8_t> StuffingOctree::bricksInUse(const StuffingLattice& lattice) const {
  std::vector<uint8_t> used(lattice.brickCount(), 0);
  const auto use = [&](const Cell& b) {
    if (lattice.inBox(b)) mark(used[lattice.placeOf(b)]);
  };
  parallelFor(
      used.size(),
      [&](size_t place) {
        if (lattice.kind(uint32_t(place)) == BrickKind::Outside) return;
        const Cell b = lattice.brickAt(uint32_t(place));
        // Leaves wider than a brick are marked by the brick that holds their centre.
        int level = std::min(levels_, 2);
        while (level < levels_ &&
               !exists(level, {b[0] >> (level - 2), b[1] >> (level - 2), b[2] >> (level - 2)}))
          ++level;
        if (level <= 2) {
          for (int32_t k = 0; k < 8; ++k) use({b[0] + (k & 1), b[1] + (k >> 1 & 1), b[2] + (k >> 2)});
          return;
        }
        const int32_t width = 1 << (level - 2), middle = width / 2;
        const Cell low{b[0] & ~(width - 1), b[1] & ~(width - 1), b[2] & ~(width - 1)};
        if (b[0] - low[0] != middle || b[1] - low[1] != middle || b[2] - low[2] != middle) return;
        use(b);
        for (int32_t k = 0; k < 8; ++k)
          use({low[0] + width * (k & 1), low[1] + width * (k >> 1 & 1), low[2] + width * (k >> 2)});
      },
      1024);
  return used;
}

}  // namespace sunder::tet
