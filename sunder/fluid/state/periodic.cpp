#include "sunder/fluid/state/periodic.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace sunder::fluid {

void requireLengths(const PeriodicSides& sides, double support) {
  for (int k = 0; k < 3; ++k) {
    const double length = sides.lengths[k];
    if (length == 0) continue;
    if (!(length >= 2 * support) || !std::isfinite(length) || !std::isfinite(sides.from[k]))
      throw Error(ErrorKind::Usage,
                  fmt::format("fluid: joined sides {:.4g} m apart along {}", length, "xyz"[k]))
          .hint(fmt::format("at least two supports, {:.4g} m, or 0 for sides that are not joined",
                            2 * support));
  }
}

void wrap(const PeriodicSides& sides, std::span<Vec3> positions) {
  for (int k = 0; k < 3; ++k) {
    const double length = sides.lengths[k], from = sides.from[k];
    if (!(length > 0)) continue;
    parallelFor(positions.size(), [&](size_t i) {
      double& x = positions[i][k];
      if (x >= from && x < from + length) return;
      x -= length * std::floor((x - from) / length);
      if (!(x < from + length)) x = from;  // rounding
    });
  }
}

void PeriodicSearch::neighbours(const PeriodicSides& sides, std::span<const Vec3> positions, double support,
                                spatial::PointGrid& grid, spatial::NeighbourRows& rows) {
  const size_t n = positions.size();
  points_.assign(positions.begin(), positions.end());
  original_.resize(n);
  for (size_t i = 0; i < n; ++i) original_[i] = uint32_t(i);
  // Axis by axis, copies of copies make edges and corners.
  const double reach = support * (1 + 1e-12);
  for (int k = 0; k < 3; ++k) {
    const double length = sides.lengths[k], from = sides.from[k];
    if (!(length > 0)) continue;
    const size_t count = points_.size();
    for (size_t i = 0; i < count; ++i) {
      const Vec3 p = points_[i];
      const bool low = p[k] < from + reach;
      if (!low && p[k] < from + length - reach) continue;
      points_.push_back(p + (low ? length : -length) * Vec3::Unit(k));
      original_.push_back(original_[i]);
    }
  }
  grid.build(points_, support);
  grid.neighbours(all_);
  uint32_t* counts = rows.begin(n);
  parallelFor(n, [&](size_t i) { counts[i] = uint32_t(all_.row(i).size()); });
  uint32_t* items = rows.allocate(spatial::kMostNeighbours);
  const std::span<const uint64_t> offsets = rows.offsets();
  parallelFor(n, [&](size_t i) {
    std::ranges::transform(all_.row(i), items + offsets[i], [&](uint32_t j) { return original_[j]; });
  });
}

}  // namespace sunder::fluid
