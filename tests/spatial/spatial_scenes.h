// Random meshes for the tests of the room, and the brute force they are compared with.
#pragma once

#include "sunder/base/random.h"
#include "sunder/geometry/mesh.h"
#include "sunder/spatial/pairs/overlap_pairs.h"
#include "sunder/spatial/tree/oi_tree.h"

#include <algorithm>
#include <vector>

namespace sunder::spatial {

// Triangles of about `size` scattered in the unit cube; every third shares vertices with an earlier one.
inline geometry::TriMesh randomTriangles(RandomStream& random, size_t count, double size) {
  geometry::TriMesh mesh;
  const Box3 cube{Vec3::Zero(), Vec3::Ones()};
  for (size_t t = 0; t < count; ++t) {
    const Vec3 centre = random.pointIn(cube);
    geometry::Triangle triangle;
    for (uint32_t& v : triangle) {
      if (t > 0 && t % 3 == 0 && random.below(2) == 0) {
        v = random.below(static_cast<uint32_t>(mesh.positions.size()));
        continue;
      }
      v = static_cast<uint32_t>(mesh.positions.size());
      mesh.positions.push_back(centre + size * (random.pointIn(cube) - Vec3::Constant(0.5)));
    }
    mesh.triangles.push_back(triangle);
  }
  return mesh;
}

inline std::vector<Box3f> boxesOf(const geometry::TriMesh& mesh) {
  std::vector<Box3f> boxes;
  for (const geometry::Triangle& t : mesh.triangles) {
    Box3f box;
    for (uint32_t v : t) box.grow(Vec3f(mesh.positions[v].cast<float>()));
    boxes.push_back(box);
  }
  return boxes;
}

inline std::vector<PrimitivePair> bruteForcePairs(const std::vector<Box3f>& a, const std::vector<Box3f>& b) {
  std::vector<PrimitivePair> pairs;
  for (uint32_t i = 0; i < a.size(); ++i)
    for (uint32_t j = 0; j < b.size(); ++j)
      if (overlap(a[i], b[j])) pairs.push_back({i, j});
  return pairs;
}

inline std::vector<PrimitivePair> bruteForceSelfPairs(const std::vector<Box3f>& a) {
  std::vector<PrimitivePair> pairs;
  for (uint32_t i = 0; i < a.size(); ++i)
    for (uint32_t j = i + 1; j < a.size(); ++j)
      if (overlap(a[i], a[j])) pairs.push_back({i, j});
  return pairs;
}

// Pairs in a canonical order; pairs of one mesh with the smaller index first.
inline std::vector<PrimitivePair> canonical(std::span<const PrimitivePair> pairs, bool self = false) {
  std::vector<PrimitivePair> sorted(pairs.begin(), pairs.end());
  if (self)
    for (PrimitivePair& p : sorted)
      if (p.a > p.b) std::swap(p.a, p.b);
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace sunder::spatial
