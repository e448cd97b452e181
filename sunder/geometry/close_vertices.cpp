#include "sunder/base/disjoint_sets.h"
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/duplicates.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace sunder::geometry {

namespace {

using Cell = std::array<int64_t, 3>;

struct CellPoint {
  Cell cell;
  uint32_t point;
  bool operator<(const CellPoint& o) const { return cell != o.cell ? cell < o.cell : point < o.point; }
};

// Points of one cell are close without a test when the cell's diagonal is below the distance: 0.57 < 1 /
// sqrt(3). Points within the distance then are at most two cells apart along each axis, as 1 / 0.57 < 2.
constexpr double kCellPerDistance = 0.57;
constexpr int64_t kReach = 2;
// More cells than this along an axis and rounding would reach the margins of the two statements above.
constexpr double kMaxCells = 0x1p40;

struct Grid {
  std::vector<CellPoint> points;    // sorted by cell, then index
  std::vector<uint32_t> cellStart;  // first of each occupied cell, and the end
  bool cellMeansClose = true;

  size_t cellCount() const { return cellStart.size() - 1; }
  const Cell& cell(size_t i) const { return points[cellStart[i]].cell; }
  std::span<const CellPoint> members(size_t i) const {
    return {points.data() + cellStart[i], cellStart[i + 1] - cellStart[i]};
  }
};

Grid makeGrid(std::span<const Vec3> positions, double distance) {
  Grid grid;
  Box3 box;
  grid.points.reserve(positions.size());
  for (uint32_t i = 0; i < positions.size(); ++i) {
    if (!positions[i].allFinite()) continue;
    box.grow(positions[i]);
    grid.points.push_back({{}, i});
  }
  const double extent = box.empty() ? 0.0 : box.extent().maxCoeff();
  if (!std::isfinite(extent))
    throw Error(ErrorKind::Geometry, "the positions span more than numbers can express");
  const double size = std::max(kCellPerDistance * distance, extent / kMaxCells);
  grid.cellMeansClose = size <= kCellPerDistance * distance;
  parallelFor(grid.points.size(), [&](size_t i) {
    const Vec3 p = (positions[grid.points[i].point] - box.lower) / size;
    for (int axis = 0; axis < 3; ++axis) {
      grid.points[i].cell[static_cast<size_t>(axis)] = static_cast<int64_t>(std::floor(p[axis]));
    }
  });
  std::sort(grid.points.begin(), grid.points.end());
  for (uint32_t i = 0; i < grid.points.size(); ++i) {
    if (i == 0 || grid.points[i].cell != grid.points[i - 1].cell) grid.cellStart.push_back(i);
  }
  grid.cellStart.push_back(u32(grid.points.size()));
  return grid;
}

class PairFinder {
 public:
  PairFinder(std::span<const Vec3> positions, const Grid& grid, double distance)
      : positions_(positions), grid_(grid), distance_(distance) {}

  // Pairs that suffice to connect what belongs together, between cells `begin` .. `end`-1 and all later ones.
  std::vector<std::array<uint32_t, 2>> pairs(size_t begin, size_t end) {
    // The cells within reach of one cell lie in 13 runs of the sorted list, one for each step in x and y;
    // each run's start moves forward as the cell does.
    std::vector<Run> runs;
    for (int64_t dx = 0; dx <= kReach; ++dx) {
      for (int64_t dy = dx == 0 ? 0 : -kReach; dy <= kReach; ++dy) runs.push_back({dx, dy, kUnset});
    }
    std::vector<std::array<uint32_t, 2>> found;
    for (size_t i = begin; i < end; ++i) {
      withinCell(i, found);
      for (Run& run : runs) {
        const Cell base = grid_.cell(i);
        const Cell low{base[0] + run.dx, base[1] + run.dy, base[2] - kReach};
        if (run.start == kUnset) run.start = firstNotBelow(low);
        while (run.start < grid_.cellCount() && grid_.cell(run.start) < low) ++run.start;
        for (size_t j = std::max(run.start, i + 1); j < grid_.cellCount(); ++j) {
          const Cell& other = grid_.cell(j);
          if (other[0] != low[0] || other[1] != low[1] || other[2] > base[2] + kReach) break;
          betweenCells(i, j, found);
        }
      }
    }
    return found;
  }

 private:
  static constexpr size_t kUnset = ~size_t(0);
  struct Run {
    int64_t dx, dy;
    size_t start;
  };

  size_t firstNotBelow(const Cell& cell) const {
    size_t low = 0, high = grid_.cellCount();
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (grid_.cell(middle) < cell) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  bool close(uint32_t a, uint32_t b) const {
    return (positions_[a] - positions_[b]).squaredNorm() <= distance_ * distance_;
  }

  void withinCell(size_t i, std::vector<std::array<uint32_t, 2>>& found) const {
    const auto members = grid_.members(i);
    for (size_t a = 1; a < members.size(); ++a) {
      if (grid_.cellMeansClose) {
        found.push_back({members[a - 1].point, members[a].point});
        continue;
      }
      for (size_t b = 0; b < a; ++b) {
        if (close(members[a].point, members[b].point)) found.push_back({members[b].point, members[a].point});
      }
    }
  }

  void betweenCells(size_t i, size_t j, std::vector<std::array<uint32_t, 2>>& found) const {
    const auto first = grid_.members(i), second = grid_.members(j);
    // In a crowded cell most points are too far from all of the other cell; its box tells without looking at
    // each.
    Box3 box;
    for (const CellPoint& p : second) box.grow(positions_[p.point]);
    for (const CellPoint& a : first) {
      const Vec3& p = positions_[a.point];
      const Vec3 nearest = p.cwiseMax(box.lower).cwiseMin(box.upper);
      if ((p - nearest).squaredNorm() > distance_ * distance_) continue;
      for (const CellPoint& b : second) {
        if (!close(a.point, b.point)) continue;
        found.push_back({a.point, b.point});
        if (grid_.cellMeansClose) return;  // the rest of both cells follows
      }
    }
  }

  std::span<const Vec3> positions_;
  const Grid& grid_;
  double distance_;
};

}  // namespace

std::vector<uint32_t> closeVertices(std::span<const Vec3> positions, double distance) {
  if (!(distance >= 0) || !std::isfinite(distance)) {
    throw Error(ErrorKind::Usage, fmt::format("{} is not a distance", distance));
  }
  if (distance == 0) return coincidentVertices(positions);
  const Grid grid = makeGrid(positions, distance);
  constexpr size_t kCellsPerBlock = 4096;
  std::vector<std::vector<std::array<uint32_t, 2>>> pairs((grid.cellCount() + kCellsPerBlock - 1) /
                                                          kCellsPerBlock);
  parallelBlocks(grid.cellCount(), kCellsPerBlock, [&](size_t begin, size_t end) {
    pairs[begin / kCellsPerBlock] = PairFinder(positions, grid, distance).pairs(begin, end);
  });
  DisjointSets sets(positions.size());
  for (const auto& block : pairs) {
    for (const auto& pair : block) sets.unite(pair[0], pair[1]);
  }
  std::vector<uint32_t> result(positions.size());
  for (uint32_t i = 0; i < result.size(); ++i) result[i] = sets.find(i);
  return result;
}

}  // namespace sunder::geometry
