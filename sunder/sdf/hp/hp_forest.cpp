#include "sunder/sdf/hp/hp_forest.h"

#include <algorithm>
#include <cmath>

namespace sunder::sdf {

HpCell childOf(const HpCell& parent, uint32_t which, int32_t node) {
  return {
      {2 * parent.at[0] + (which & 1), 2 * parent.at[1] + (which >> 1 & 1), 2 * parent.at[2] + (which >> 2)},
      parent.level + 1,
      node};
}

std::vector<HpCell> leafCells(const HpForest& forest) {
  std::vector<HpCell> cells(forest.leafCount());
  std::vector<HpCell> stack;
  int32_t node = 0;
  for (uint32_t k = 0; k < forest.base[2]; ++k)
    for (uint32_t j = 0; j < forest.base[1]; ++j)
      for (uint32_t i = 0; i < forest.base[0]; ++i) {
        stack.push_back({{i, j, k}, 0, node++});
        while (!stack.empty()) {
          const HpCell cell = stack.back();
          stack.pop_back();
          const int32_t first = forest.child[static_cast<size_t>(cell.node)];
          if (first < 0) {
            cells[static_cast<size_t>(-1 - first)] = cell;
            continue;
          }
          for (uint32_t c = 0; c < 8; ++c) stack.push_back(childOf(cell, c, first + static_cast<int32_t>(c)));
        }
      }
  return cells;
}

Box3 cellBox(const HpForest& forest, const HpCell& cell) {
  const Vec3 size = forest.baseSize() * std::ldexp(1.0, -static_cast<int>(cell.level));
  Box3 box;
  for (int d = 0; d < 3; ++d) {
    box.lower[d] = forest.domain.lower[d] + cell.at[size_t(d)] * size[d];
    box.upper[d] = forest.domain.lower[d] + (cell.at[size_t(d)] + 1.0) * size[d];
  }
  return box;
}

HpPlace locate(const HpForest& forest, const Vec3& point) {
  HpPlace place;
  place.size = forest.baseSize();
  size_t index[3];
  for (int d = 0; d < 3; ++d) {
    const double u = (point[d] - forest.domain.lower[d]) / place.size[d];
    const double cell = std::clamp(std::floor(u), 0.0, forest.base[size_t(d)] - 1.0);
    index[d] = static_cast<size_t>(cell);
    place.local[d] = std::clamp(2 * (u - cell) - 1, -1.0, 1.0);
  }
  size_t node = index[0] + forest.base[0] * (index[1] + forest.base[1] * index[2]);
  while (forest.child[node] >= 0) {
    size_t which = 0;
    for (int d = 0; d < 3; ++d) {
      const bool upper = place.local[d] >= 0;
      which |= size_t(upper) << d;
      place.local[d] = 2 * place.local[d] - (upper ? 1 : -1);
    }
    place.size *= 0.5;
    node = static_cast<size_t>(forest.child[node]) + which;
  }
  place.leaf = static_cast<uint32_t>(-1 - forest.child[node]);
  return place;
}

namespace {

double evaluateLocal(const Vec3& local, const Vec3& size, int degree, std::span<const double> c) {
  double basis[3][kLargestDegree + 1];
  for (int d = 0; d < 3; ++d) {
    legendre(local[d], degree, basis[d]);
    for (int n = 0; n <= degree; ++n) basis[d][n] *= std::sqrt((2 * n + 1) / size[d]);
  }
  const std::span<const MultiIndex> indices = multiIndices();
  double sum = 0;
  for (size_t i = 0; i < c.size(); ++i)
    sum += c[i] * basis[0][indices[i][0]] * basis[1][indices[i][1]] * basis[2][indices[i][2]];
  return sum;
}

}  // namespace

double evaluate(const HpForest& forest, const Vec3& point) {
  const HpPlace place = locate(forest, point);
  return evaluateLocal(place.local, place.size, forest.degree[place.leaf], forest.of(place.leaf));
}

double evaluate(const Box3& box, int degree, std::span<const double> coefficients, const Vec3& point) {
  Vec3 local;
  for (int d = 0; d < 3; ++d)
    local[d] = std::clamp(2 * (point[d] - box.lower[d]) / (box.upper[d] - box.lower[d]) - 1, -1.0, 1.0);
  return evaluateLocal(local, box.extent(), degree, coefficients);
}

}  // namespace sunder::sdf
