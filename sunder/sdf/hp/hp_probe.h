// Random points with the exact values there, by which a field that is being made is measured. Private to the
// room: what hp_build.cpp stops by.
//
// The points of a cell are kept together, so that a cell that changes is measured anew by its own points
// alone and the error of the whole is known at every moment.
#pragma once

#include "sunder/sdf/field.h"
#include "sunder/sdf/hp/hp_build.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace sunder::sdf {

class HpProbe {
 public:
  // Points uniformly in boxes that do not overlap.
  HpProbe(const Field& source, std::span<const Box3> boxes, size_t count, uint64_t seed);

  std::span<const Vec3> points() const { return points_; }
  std::span<const double> exact() const { return exact_; }

  // Points of a cell: a range of the order in which they are kept.
  struct Range {
    uint32_t begin = 0, end = 0;
  };
  // Brings the points in the order of their cells, cellOf[i] < cells; returns the range of each cell.
  std::vector<Range> gather(std::span<const uint32_t> cellOf, size_t cells);
  // Brings the points of a cell in the order of its children, whose ranges it returns. The ranges of cells do
  // not overlap: different cells may be split at the same time.
  std::array<Range, 8> split(const Range& range, const Vec3& middle);

  // Sum of the squared errors of a polynomial on a box at the points of a range.
  double squaredError(const Range& range, const Box3& box, int degree, std::span<const double> c) const;

 private:
  std::vector<Vec3> points_;
  std::vector<double> exact_;
  std::vector<uint32_t> order_;
};

// Error of a whole forest.
HpError errorAt(const HpForest& forest, const HpProbe& probe, double near);

}  // namespace sunder::sdf
