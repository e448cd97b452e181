// The inner loops of point_grid.h in vector form. Private to the room.
//
// A cell's points share their candidates: the points of the 27 cells around, less those farther than the
// radius from the box of the cell's own points, are packed into a short list once, and every point of the
// cell runs over that list. Tests are made in float on coordinates in units of the cell edge; `low` and
// `high` bound the float result where rounding could decide, and what falls between is decided in double on
// the points as they were given. So the result is that of double arithmetic, on every target.
#pragma once

#include "sunder/base/array/growing_array.h"
#include "sunder/base/math.h"

#include <cstddef>
#include <cstdint>

namespace sunder::spatial::kernels {

// Points in the order of their cells. Arrays by slot have kGridSlack entries more than there are points.
inline constexpr size_t kGridSlack = 16;

struct GridView {
  const Vec3* points = nullptr;  // by index, as given
  size_t count = 0;
  const uint32_t* ids = nullptr;  // index by slot
  // Coordinates by slot: float where few cells make them precise enough, double otherwise.
  const float *x = nullptr, *y = nullptr, *z = nullptr;
  const double *wideX = nullptr, *wideY = nullptr, *wideZ = nullptr;
  // Cells by slot: numbers into `starts` (first slot of each cell, and one more), or sorted keys alone.
  const uint32_t* cells = nullptr;
  const uint32_t* starts = nullptr;
  const uint64_t* keys = nullptr;
  uint64_t rowStep = 0, layerStep = 0;  // from a cell to the next in y and z; 1 in x
  float low = 0, high = 0;              // squared distance: surely within, perhaps within
  double radiusSquared = 0;
};

// The rows of the slots [first, last), one after the other.
struct RowBuffer {
  size_t first = 0, last = 0;
  GrowingArray<uint32_t> items;
};

// The rows of the cells that begin in slots [begin, end), and their lengths by index.
void findNeighbours(const GridView& view, size_t begin, size_t end, RowBuffer& rows, uint32_t* counts);

// Takes the rows to where the offsets (by index) say, each by ascending index if `sorted`.
void placeRows(const GridView& view, const RowBuffer& rows, const uint64_t* offsets, bool sorted,
               uint32_t* items);

}  // namespace sunder::spatial::kernels
