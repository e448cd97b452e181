// Points by cells, for asking what is near: cells are as wide as the farthest that is asked for.
#pragma once

#include "sunder/base/math.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace sunder::fluid {

class NearPoints {
 public:
  NearPoints(const std::vector<Vec3>& points, double reach) : reach_(reach) {
    cells_.reserve(points.size());
    for (uint32_t i = 0; i < points.size(); ++i) cells_.emplace_back(cellOf(points[i]), i);
    std::sort(cells_.begin(), cells_.end());
  }
  // Whether `accept` takes one of the points within the reach of p, and perhaps of others a bit farther.
  template <class Accept>
  bool any(const Vec3& p, const Accept& accept) const {
    const Cell middle = cellOf(p);
    for (int64_t x = middle[0] - 1; x <= middle[0] + 1; ++x)
      for (int64_t y = middle[1] - 1; y <= middle[1] + 1; ++y) {
        const Cell first{x, y, middle[2] - 1}, last{x, y, middle[2] + 2};
        for (auto at = std::lower_bound(cells_.begin(), cells_.end(), std::pair(first, uint32_t(0)));
             at != cells_.end() && at->first < last; ++at)
          if (accept(at->second)) return true;
      }
    return false;
  }

 private:
  using Cell = std::array<int64_t, 3>;
  Cell cellOf(const Vec3& p) const {
    Cell cell;
    for (int k = 0; k < 3; ++k) cell[size_t(k)] = int64_t(std::floor(p[k] / reach_));
    return cell;
  }
  double reach_;
  std::vector<std::pair<Cell, uint32_t>> cells_;
};

}  // namespace sunder::fluid
