// Neighbours of points within one radius, by a grid of cells as wide as the radius: the points are sorted by
// cell, and each looks only into the 27 cells around it. The method of Green 2008 (Particle simulation using
// CUDA) in its sorted form. Where cells number at most a few times the points, a table says where each cell
// begins; where they do not (clusters far apart), the sorted keys of the cells are searched instead, and gaps
// without points are taken out of the axes first, so that neither extent nor memory has a limit.
//
// The rule: j is a neighbour of i when (dx*dx + dy*dy) + dz*dz <= radius * radius as double computes it, j !=
// i. The bound itself counts. Every decision is that of double arithmetic although most tests are made in
// float (point_grid_kernel.h). Points in the same place are neighbours at every radius, 0 too.
//
// A row lists its neighbours cell by cell, in an order that depends on the points alone, or by ascending
// index when settings.sorted is set. The bytes do not depend on the number of threads, nor on the vector
// instructions.
//
// Cost for a million random points with 28 neighbours each, one Zen 3 core, per point: 28 ns to build, 135 ns
// to search (a fifth of that to take the rows to their places), 65 ns more to sort the rows. Memory: 40 bytes
// a point, 52 where the points spread over more than 4096 cells along an axis, and 4 bytes a neighbour
// besides the rows.
#pragma once

#include "sunder/base/radix_sort.h"
#include "sunder/spatial/points/neighbour_rows.h"
#include "sunder/spatial/points/point_cells.h"
#include "sunder/spatial/points/point_grid_kernel.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::spatial {

struct NeighbourSettings {
  bool sorted = false;  // each row by ascending index
  uint64_t mostNeighbours = kMostNeighbours;
};

class PointGrid {
 public:
  // The points are looked at again by neighbours(): they must stay. Throws Error (Geometry) naming the first
  // point that is not finite, Error (Usage) for a radius that is negative, not finite or above 1e150, and
  // Error (Limit) for 2^31 points or more.
  void build(std::span<const Vec3> points, double radius);

  // Throws Error (Limit) with the number needed, before allocating, when there are more neighbours than the
  // settings allow.
  void neighbours(NeighbourRows& rows, const NeighbourSettings& settings = {});

  size_t size() const { return view_.count; }
  bool dense() const { return view_.starts != nullptr; }  // a table of all cells, not a search
  std::span<const uint32_t> order() const { return {ids_.data(), view_.count}; }  // points by cell
  size_t bytes() const;                                                           // of all memory,
  size_t listBytes() const;  // of which rows on their way to their places

 private:
  void sortByTable(size_t cells);
  void sortByKey();
  void copyCoordinates();
  void refuseCrowds(uint64_t most) const;

  kernels::GridView view_;
  PointCells cells_;
  RadixScratch sort_;
  ReusableArray<uint64_t> words_;  // cell and point, or keys
  ReusableArray<uint32_t> ids_, cellOfSlot_, starts_;
  ReusableArray<float> narrow_[3];
  ReusableArray<double> wide_[3];
  std::vector<kernels::RowBuffer> buffers_;
};

// Both steps at once.
void pointNeighbours(std::span<const Vec3> points, double radius, NeighbourRows& rows,
                     const NeighbourSettings& settings = {});

}  // namespace sunder::spatial
