// Point clouds and the brute force that the neighbour searches are compared with.
#pragma once

#include "sunder/base/hash.h"
#include "sunder/base/random.h"
#include "sunder/spatial/points/neighbour_rows.h"
#include "sunder/spatial/points/sphere_set.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sunder::spatial {

using RowLists = std::vector<std::vector<uint32_t>>;

inline std::vector<Vec3> randomPoints(size_t n, const Box3& box, uint64_t seed = 1) {
  RandomStream random(seed);
  std::vector<Vec3> points(n);
  for (Vec3& p : points) p = random.pointIn(box);
  return points;
}
inline Box3 cube(double low, double high) { return {Vec3::Constant(low), Vec3::Constant(high)}; }

// So that each point of n in a unit cube has `count` neighbours on average, borders aside.
inline double radiusFor(size_t n, double count) {
  return std::cbrt(count / static_cast<double>(n) / (4.0 / 3.0 * kPi));
}

inline RowLists bruteForce(std::span<const Vec3> points, double radius) {
  RowLists rows(points.size());
  for (uint32_t i = 0; i < points.size(); ++i)
    for (uint32_t j = 0; j < points.size(); ++j) {
      const Vec3 d = points[i] - points[j];
      if (i != j && (d.x() * d.x() + d.y() * d.y()) + d.z() * d.z() <= radius * radius) rows[i].push_back(j);
    }
  return rows;
}

inline RowLists bruteForce(const SphereSet& spheres) {
  RowLists rows(spheres.size());
  for (uint32_t i = 0; i < spheres.size(); ++i)
    for (uint32_t j = 0; j < spheres.size(); ++j) {
      const Vec3 d = spheres.centres[i] - spheres.centres[j];
      const double reach = spheres.radii[i] + spheres.radii[j] + spheres.margin;
      if (i != j && (d.x() * d.x() + d.y() * d.y()) + d.z() * d.z() <= reach * reach) rows[i].push_back(j);
    }
  return rows;
}

inline RowLists listsOf(const NeighbourRows& rows, bool sort = false) {
  RowLists lists(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    lists[i].assign(rows.row(i).begin(), rows.row(i).end());
    if (sort) std::sort(lists[i].begin(), lists[i].end());
  }
  return lists;
}

inline uint64_t bytesHash(const NeighbourRows& rows) {
  Hasher hasher;
  hasher.updateSized(rows.offsets());
  hasher.updateSized(rows.items());
  return hasher.digest();
}

inline size_t countOf(const RowLists& rows) {
  size_t sum = 0;
  for (const auto& row : rows) sum += row.size();
  return sum;
}

}  // namespace sunder::spatial
