#include "sunder/spatial/points/point_cells.h"

#include "sunder/base/parallel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace sunder::spatial {

void PointCells::assign(std::span<const Vec3> points, const Box3& bounds, double edge) {
  points_ = points;
  origin_ = bounds.lower;
  perEdge_ = 1 / edge;
  const Vec3 top = (bounds.upper - bounds.lower) * perEdge_;
  compressed_ = !(top.maxCoeff() < (1 << kAxisBits) - 4);  // infinite where the extent overflows
  largest_ = 0;
  RadixScratch scratch;
  for (int axis = 0; axis < 3; ++axis) {
    const double most = compressed_ ? compress(axis, edge, scratch) : top[axis];
    largest_ = std::max(largest_, most);
    shift_[axis] = 0;
    while (most / std::ldexp(1.0, static_cast<int>(shift_[axis])) >= (1 << kAxisBits) - 4) ++shift_[axis];
    dims_[axis] = cell(most, axis) + 2;
  }
}

// Coordinates with the gaps taken out; returns the largest.
double PointCells::compress(int axis, double edge, RadixScratch& scratch) {
  const size_t n = points_.size();
  std::vector<uint64_t> keys(n);
  std::vector<uint32_t> order(n);
  parallelFor(n, [&](size_t i) {
    // Bits that sort as the numbers do.
    const uint64_t bits = std::bit_cast<uint64_t>(points_[i][axis]);
    keys[i] = bits ^ (bits >> 63 ? ~uint64_t(0) : uint64_t(1) << 63);
  });
  radixSortPermutation(std::span<const uint64_t>(keys), std::span(order), scratch);
  double* out = coordinates_[axis].reserve(n);
  double previous = points_[order[0]][axis], start = previous, first = 0, coordinate = 0;
  for (size_t k = 0; k < n; ++k) {
    const double value = points_[order[k]][axis];
    if (value - previous > edge) {
      first = std::floor(coordinate) + 2;
      start = value;
    }
    coordinate = first + (value - start) * perEdge_;
    out[order[k]] = coordinate;
    previous = value;
  }
  return coordinate;
}

}  // namespace sunder::spatial
