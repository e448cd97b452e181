#include "sunder/spatial/points/k_nearest_shells.h"

#include "sunder/base/bounds.h"
#include "sunder/base/parallel.h"
#include "sunder/base/radix_sort.h"

#include <bit>
#include <cmath>

namespace sunder::spatial::detail {

int64_t ShellGrid::cellAlong(double coordinate, int axis) const {
  const double cell = (coordinate - lower_[axis]) * perEdge_[axis];
  return static_cast<int64_t>(std::clamp(cell, 0.0, double(dims_[axis] - 1)));
}

void ShellGrid::build(std::span<const Vec3> points) {
  const size_t n = points.size();
  const Box3 box = boundsOf(points);
  lower_ = box.lower;
  const Vec3 extent = box.extent();
  slack_ = box.lower.cwiseAbs().cwiseMax(box.upper.cwiseAbs()).maxCoeff() * 0x1p-44;
  // Axes along which the points spread less than a cell have one cell, and the others share the cells out.
  bool active[3] = {extent[0] > 0, extent[1] > 0, extent[2] > 0};
  double edge = 0;
  for (bool again = true; again;) {
    again = false;
    double logVolume = 0;
    int axes = 0;
    for (int k = 0; k < 3; ++k) {
      if (!active[k]) continue;
      logVolume += std::log(extent[k]);
      ++axes;
    }
    if (axes == 0) break;
    edge = std::exp((logVolume - std::log(std::max(1.0, double(n) / 2))) / axes);
    for (int k = 0; k < 3; ++k) {
      if (!active[k] || extent[k] >= edge) continue;
      active[k] = false;
      again = true;
    }
  }
  for (int k = 0; k < 3; ++k) {
    dims_[k] = active[k] ? std::max<int64_t>(1, static_cast<int64_t>(extent[k] / edge)) : 1;
    edge_[k] = active[k] ? extent[k] / double(dims_[k]) : 0;
    perEdge_[k] = active[k] && edge_[k] > 0 ? 1 / edge_[k] : 0;
    if (!std::isfinite(perEdge_[k])) {
      perEdge_[k] = 0;
      dims_[k] = 1;
    }
  }
  const auto cells = static_cast<size_t>(dims_[0] * dims_[1] * dims_[2]);

  std::vector<uint64_t> words(n);
  parallelFor(n, [&](size_t i) {
    const int64_t cell = (cellAlong(points[i][2], 2) * dims_[1] + cellAlong(points[i][1], 1)) * dims_[0] +
                         cellAlong(points[i][0], 0);
    words[i] = static_cast<uint64_t>(cell) << 32 | i;
  });
  RadixScratch scratch;
  const auto bits = std::max(1u, static_cast<unsigned>(std::bit_width(cells - 1)));
  const std::span<const uint64_t> sorted = radixSortWords(words, 32, bits, scratch);
  ids_.resize(n);
  points_.resize(n);
  starts_.assign(cells + 1, static_cast<uint32_t>(n));
  parallelFor(n, [&](size_t s) {
    const size_t cell = sorted[s] >> 32;
    ids_[s] = static_cast<uint32_t>(sorted[s]);
    points_[s] = points[ids_[s]];
    for (size_t c = s == 0 ? 0 : (sorted[s - 1] >> 32) + 1; c <= cell; ++c)
      starts_[c] = static_cast<uint32_t>(s);
  });
  double squares = 0;
  for (size_t c = 0; c < cells; ++c) {
    const double count = starts_[c + 1] - starts_[c];
    squares += count * count;
  }
  crowding_ = n == 0 ? 0 : squares / double(n);
}

void ShellGrid::search(const Vec3& query, uint32_t skip, NearestHeap& best) const {
  const int64_t cx = cellAlong(query[0], 0), cy = cellAlong(query[1], 1), cz = cellAlong(query[2], 2);
  const int64_t centre[3] = {cx, cy, cz};
  const auto look = [&](int64_t x0, int64_t x1, int64_t y, int64_t z) {
    const int64_t row = (z * dims_[1] + y) * dims_[0];
    const uint32_t end = starts_[static_cast<size_t>(row + x1 + 1)];
    for (uint32_t s = starts_[static_cast<size_t>(row + x0)]; s < end; ++s)
      if (ids_[s] != skip) best.offer(squaredDistance(points_[s], query), ids_[s]);
  };
  for (int64_t shell = 0;; ++shell) {
    const int64_t x0 = cx - shell, x1 = cx + shell;
    const int64_t left = std::max<int64_t>(x0, 0), right = std::min(x1, dims_[0] - 1);
    for (int64_t z = std::max<int64_t>(cz - shell, 0); z <= std::min(cz + shell, dims_[2] - 1); ++z) {
      for (int64_t y = std::max<int64_t>(cy - shell, 0); y <= std::min(cy + shell, dims_[1] - 1); ++y) {
        if (std::max(std::abs(z - cz), std::abs(y - cy)) == shell) {
          look(left, right, y, z);
        } else {
          if (x0 >= 0) look(x0, x0, y, z);
          if (x1 < dims_[0]) look(x1, x1, y, z);
        }
      }
    }
    // What was not looked at lies beyond one of the sides of the cells that were.
    double nearest = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 3; ++k) {
      if (centre[k] - shell > 0)
        nearest = std::min(nearest, query[k] - (lower_[k] + double(centre[k] - shell) * edge_[k]));
      if (centre[k] + shell + 1 < dims_[k])
        nearest = std::min(nearest, lower_[k] + double(centre[k] + shell + 1) * edge_[k] - query[k]);
    }
    if (nearest == std::numeric_limits<double>::infinity()) return;  // everything was
    nearest -= slack_ + std::abs(nearest) * 0x1p-40;
    if (nearest > 0 && best.worst() < nearest * nearest) return;
  }
}

}  // namespace sunder::spatial::detail
