// What the tests of the traversal variants share: random boxes, the two loops that are always right, and
// trees.
#pragma once

#include "sunder/base/random.h"
#include "sunder/geometry/mesh.h"

#include "bench/published/traversal.h"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

namespace sunder::published {
using namespace spatial;

inline std::vector<Box3f> randomBoxes(RandomStream& random, size_t count, double size, double spread = 1) {
  std::vector<Box3f> boxes(count);
  for (Box3f& box : boxes) {
    for (int k = 0; k < 3; ++k) {
      // Multiples of 1/64: many boxes touch exactly.
      const double at = std::floor(64 * random.uniform(0, spread)) / 64;
      box.lower[k] = static_cast<float>(at);
      box.upper[k] = static_cast<float>(at + std::floor(64 * random.uniform(0, size)) / 64);
    }
  }
  return boxes;
}

inline std::vector<PrimitivePair> bruteForce(std::span<const Box3f> a, std::span<const Box3f> b) {
  std::vector<PrimitivePair> pairs;
  for (uint32_t i = 0; i < a.size(); ++i)
    for (uint32_t j = 0; j < b.size(); ++j)
      if (overlap(a[i], b[j])) pairs.push_back({i, j});
  return pairs;
}

inline std::vector<PrimitivePair> bruteForce(std::span<const Box3f> boxes) {
  std::vector<PrimitivePair> pairs;
  for (uint32_t i = 0; i < boxes.size(); ++i)
    for (uint32_t j = i + 1; j < boxes.size(); ++j)
      if (overlap(boxes[i], boxes[j])) pairs.push_back({i, j});
  return pairs;
}

// Sorted; with `unordered` the smaller index first. Duplicates stay.
inline std::vector<PrimitivePair> sortedPairs(std::span<const PrimitivePair> pairs, bool unordered) {
  std::vector<PrimitivePair> sorted(pairs.begin(), pairs.end());
  if (unordered)
    for (PrimitivePair& pair : sorted)
      if (pair.a > pair.b) std::swap(pair.a, pair.b);
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

inline std::unique_ptr<OiTree> makeTree(std::span<const Box3f> boxes, const TreeSettings& settings) {
  auto tree = std::make_unique<OiTree>();
  OiTreeBuilder().build(*tree, boxes, settings);
  return tree;
}

inline std::unique_ptr<OiTree> makeTree(const geometry::TriMesh& mesh, const TreeSettings& settings) {
  auto tree = std::make_unique<OiTree>();
  OiTreeBuilder().build(*tree, {mesh.positions, mesh.triangles}, settings);
  return tree;
}

// Vertices (u/n, v/n, height * f(u/n, v/n)), cells split from (u, v) to (u+1, v+1).
template <class Height>
geometry::TriMesh gridMesh(uint32_t n, Height&& height) {
  geometry::TriMesh mesh;
  for (uint32_t u = 0; u <= n; ++u)
    for (uint32_t v = 0; v <= n; ++v) {
      const double x = double(u) / n, y = double(v) / n;
      mesh.positions.emplace_back(x, y, height(x, y));
    }
  for (uint32_t u = 0; u < n; ++u)
    for (uint32_t v = 0; v < n; ++v) {
      const uint32_t a = u * (n + 1) + v, b = a + n + 1;
      mesh.triangles.push_back({a, b, b + 1});
      mesh.triangles.push_back({a, b + 1, a + 1});
    }
  return mesh;
}

}  // namespace sunder::published
