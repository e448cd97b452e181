// Which cell of a grid each point lies in, for cells of a given edge anywhere between 1e-150 and 1e150 and
// points anywhere. Private to the room.
//
// A point has coordinates in units of the edge, and its cell is the integer part of them. Where the points
// spread over more than 2^21 cells along an axis, gaps without points are taken out of that axis: points are
// sorted along it, and a gap wider than the edge becomes an empty cell. So the extent does not matter, only
// how many points there are.
//
// Guarantee: two points whose distance along an axis, as computed, is at most edge * (1 - 2^-17) lie in the
// same or in adjoining cells of that axis, and their coordinates differ by their distance up to
// coordinateError. Points farther apart along an axis than the edge have coordinates that differ by 1 or
// more, unless that is what they are.
#pragma once

#include "sunder/base/array/reusable_array.h"
#include "sunder/base/box.h"
#include "sunder/base/radix_sort.h"

#include <cstdint>
#include <span>

namespace sunder::spatial {

class PointCells {
 public:
  static constexpr unsigned kAxisBits = 21;

  void assign(std::span<const Vec3> points, const Box3& bounds, double edge);

  bool compressed() const { return compressed_; }
  uint32_t dims(int axis) const { return dims_[axis]; }  // cells, an empty one at either end included
  double largestCoordinate() const { return largest_; }
  double coordinateError() const { return largest_ * 0x1p-50; }
  // Cells of an axis are 2^shift units wide where 2^21 cells of one unit do not suffice.
  unsigned shift(int axis) const { return shift_[axis]; }

  double coordinate(size_t point, int axis) const {
    return compressed_ ? coordinates_[axis].data()[point] : (points_[point][axis] - origin_[axis]) * perEdge_;
  }
  uint32_t cell(double coordinate, int axis) const {
    return (static_cast<uint32_t>(static_cast<int64_t>(coordinate) >> shift_[axis])) + 1;
  }

 private:
  double compress(int axis, double edge, RadixScratch& scratch);

  std::span<const Vec3> points_;
  bool compressed_ = false;
  Vec3 origin_ = Vec3::Zero();
  double perEdge_ = 1, largest_ = 0;
  uint32_t dims_[3] = {};
  unsigned shift_[3] = {};
  ReusableArray<double> coordinates_[3];
};

}  // namespace sunder::spatial
