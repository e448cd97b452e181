#include "sunder/fluid/boundary/distance_bricks.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace sunder::fluid {

namespace {

constexpr int kSearchBlock = 4;  // points along the edge of the blocks that a brick is searched by

// From the centre of a cube of points to its corner.
double halfDiagonal(int edge, double step) { return 0.5 * (edge - 1) * step * std::sqrt(3.0); }

}  // namespace

DistanceBricks::DistanceBricks(const sdf::Field& field, const DistanceLattice& lattice) : lattice_(lattice) {
  for (size_t d = 0; d < 3; ++d) counts_[d] = (lattice.size[d] + kEdge - 1) / kEdge;
  number(field);
  values_.resize(places_.size() * kPoints);
  queries_ += parallelReduce(
      places_.size(), size_t(0),
      [&](size_t begin, size_t end) {
        size_t asked = 0;
        for (size_t b = begin; b < end; ++b) asked += fill(field, b);
        return asked;
      },
      [](size_t a, size_t b) { return a + b; }, 1);
}

void DistanceBricks::number(const sdf::Field& field) {
  const size_t count = size_t(counts_[0]) * size_t(counts_[1]) * size_t(counts_[2]);
  std::vector<Vec3> centres;
  centres.reserve(count);
  const Vec3 middle = Vec3::Constant(0.5 * (kEdge - 1) * lattice_.step);
  for (int k = 0; k < counts_[2]; ++k)
    for (int j = 0; j < counts_[1]; ++j)
      for (int i = 0; i < counts_[0]; ++i)
        centres.push_back(lattice_.position(kEdge * i, kEdge * j, kEdge * k) + middle);
  std::vector<double> distances(count);
  sdf::valuesOf(field, centres, distances);
  queries_ = count;
  const double slack = std::abs(lattice_.scale) * halfDiagonal(kEdge, lattice_.step);
  numbers_.resize(count);
  for (size_t b = 0; b < count; ++b) {
    const double value = lattice_.scale * distances[b];
    if (value - slack >= lattice_.high) {
      numbers_[b] = kAllHigh;
    } else if (value + slack <= lattice_.low) {
      numbers_[b] = kAllLow;
    } else {
      numbers_[b] = int32_t(places_.size());
      const size_t row = b / size_t(counts_[0]);
      places_.push_back(
          {int(b % size_t(counts_[0])), int(row % size_t(counts_[1])), int(row / size_t(counts_[1]))});
    }
  }
}

float DistanceBricks::bounded(double distance) const {
  const double value = lattice_.scale * distance;
  if (std::isnan(value))
    throw Error(ErrorKind::Numerical, "a distance field gave a value that is not a number")
        .hint("check the mesh or formula that the field is made of");
  return std::clamp(float(value), lattice_.low, lattice_.high);
}

size_t DistanceBricks::fill(const sdf::Field& field, size_t brick) {
  const Index3& place = places_[brick];
  const Index3 first{kEdge * place[0], kEdge * place[1], kEdge * place[2]};
  float* values = values_.data() + brick * kPoints;
  const double slack = std::abs(lattice_.scale) * halfDiagonal(kSearchBlock, lattice_.step);
  std::vector<Vec3> centres, points;
  std::vector<Index3> blocks;
  std::vector<double> distances;
  for (int k = 0; k < kEdge; k += kSearchBlock)
    for (int j = 0; j < kEdge; j += kSearchBlock)
      for (int i = 0; i < kEdge; i += kSearchBlock) {
        if (first[0] + i >= lattice_.size[0] || first[1] + j >= lattice_.size[1] ||
            first[2] + k >= lattice_.size[2])
          continue;
        blocks.push_back({i, j, k});
        centres.push_back(lattice_.position(first[0] + i, first[1] + j, first[2] + k) +
                          Vec3::Constant(0.5 * (kSearchBlock - 1) * lattice_.step));
      }
  std::fill_n(values, kPoints, lattice_.high);
  distances.resize(centres.size());
  field.values(centres, distances);
  std::vector<size_t> slots;
  for (size_t b = 0; b < blocks.size(); ++b) {
    const double value = lattice_.scale * distances[b];
    if (value - slack >= lattice_.high) continue;
    const bool low = value + slack <= lattice_.low;
    for (int k = blocks[b][2]; k < blocks[b][2] + kSearchBlock; ++k)
      for (int j = blocks[b][1]; j < blocks[b][1] + kSearchBlock; ++j)
        for (int i = blocks[b][0]; i < blocks[b][0] + kSearchBlock; ++i) {
          const int x = first[0] + i, y = first[1] + j, z = first[2] + k;
          if (low) {
            values[slot(i, j, k)] = lattice_.low;
          } else if (x < lattice_.size[0] && y < lattice_.size[1] && z < lattice_.size[2]) {
            slots.push_back(slot(i, j, k));
            points.push_back(lattice_.position(x, y, z));
          }
        }
  }
  distances.resize(points.size());
  field.values(points, distances);
  for (size_t n = 0; n < slots.size(); ++n) values[slots[n]] = bounded(distances[n]);
  return centres.size() + points.size();
}

template <class T>
void DistanceBricks::copy(const std::vector<T>& numbers, T low, T high, const Index3& first, int edge,
                          T* out) const {
  for (int z = 0; z < edge; ++z) {
    for (int y = 0; y < edge; ++y) {
      T* row = out + size_t(edge) * (size_t(y) + size_t(edge) * size_t(z));
      const int j = first[1] + y, k = first[2] + z;
      if (j < 0 || k < 0 || j >= lattice_.size[1] || k >= lattice_.size[2]) {
        std::fill_n(row, edge, high);
        continue;
      }
      // Piece by piece, one a brick.
      for (int x = 0; x < edge;) {
        const int i = first[0] + x;
        int next;
        if (i < 0 || i >= lattice_.size[0]) {
          next = i < 0 ? std::min(edge, -first[0]) : edge;
          std::fill(row + x, row + next, high);
        } else {
          next = std::min({edge, x + kEdge - i % kEdge, lattice_.size[0] - first[0]});
          const int32_t brick = brickOf(i, j, k);
          if (brick < 0)
            std::fill(row + x, row + next, brick == kAllHigh ? high : low);
          else
            std::copy_n(numbers.data() + size_t(brick) * kPoints + slot(i, j, k), next - x, row + x);
        }
        x = next;
      }
    }
  }
}

template void DistanceBricks::copy(const std::vector<float>&, float, float, const Index3&, int, float*) const;
template void DistanceBricks::copy(const std::vector<uint8_t>&, uint8_t, uint8_t, const Index3&, int,
                                   uint8_t*) const;

}  // namespace sunder::fluid
