// Where the points around a cell are: the 27 cells of its neighbourhood are nine runs of slots, since cells
// that follow each other in x follow each other in memory. Two ways to find them: a table of all cells, or a
// search in the sorted keys of the cells that have points. Private to the room.
//
// The first and last cells along each axis stay empty, so that a step to a neighbour never leaves the grid.
#pragma once

#include "sunder/spatial/points/point_grid_kernel.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sunder::spatial::kernels {

struct GridRun {
  size_t begin, end;
};

// Offsets of the nine rows of three cells, the cell's own row first.
inline constexpr int kRowOffsets[9][2] = {{0, 0}, {-1, -1}, {0, -1}, {1, -1}, {-1, 0},
                                          {1, 0}, {-1, 1},  {0, 1},  {1, 1}};

class DenseRuns {
 public:
  explicit DenseRuns(const GridView& view) : view_(view) {
    for (int r = 0; r < 9; ++r)
      step_[r] = kRowOffsets[r][0] * static_cast<int64_t>(view.rowStep) +
                 kRowOffsets[r][1] * static_cast<int64_t>(view.layerStep);
  }
  size_t cellEnd(size_t slot) const { return view_.starts[view_.cells[slot] + 1]; }
  size_t firstCellFrom(size_t slot) const {  // the first slot from here on that begins a cell
    return view_.starts[view_.cells[slot]] == slot ? slot : cellEnd(slot);
  }
  void around(size_t slot, GridRun* runs) const {
    const uint32_t* starts = view_.starts + view_.cells[slot];
    for (int r = 0; r < 9; ++r) runs[r] = {starts[step_[r] - 1], starts[step_[r] + 2]};
  }

 private:
  const GridView& view_;
  int64_t step_[9];
};

// Cells are visited in order, so each of the searched keys only grows: a search goes on from the last one's
// result, in steps that double.
class SortedRuns {
 public:
  explicit SortedRuns(const GridView& view) : view_(view) {}
  size_t cellEnd(size_t slot) const { return lowerBound(slot, view_.keys[slot] + 1); }
  size_t firstCellFrom(size_t slot) const {
    return slot > 0 && view_.keys[slot - 1] == view_.keys[slot] ? cellEnd(slot) : slot;
  }
  void around(size_t slot, GridRun* runs) {
    for (int r = 0; r < 9; ++r) {
      const uint64_t key = view_.keys[slot] + static_cast<uint64_t>(kRowOffsets[r][0]) * view_.rowStep +
                           static_cast<uint64_t>(kRowOffsets[r][1]) * view_.layerStep;
      cursors_[r].begin = lowerBound(cursors_[r].begin, key - 1);
      cursors_[r].end = lowerBound(std::max(cursors_[r].begin, cursors_[r].end), key + 2);
      runs[r] = cursors_[r];
    }
  }

 private:
  size_t lowerBound(size_t from, uint64_t key) const {
    size_t step = 1, below = from;
    while (below + step <= view_.count && view_.keys[below + step - 1] < key) {
      below += step;
      step *= 2;
    }
    return static_cast<size_t>(
        std::lower_bound(view_.keys + below, view_.keys + std::min(below + step - 1, view_.count), key) -
        view_.keys);
  }

  const GridView& view_;
  GridRun cursors_[9] = {};
};

}  // namespace sunder::spatial::kernels
