// A mesh as the cutting kernel wants it: triangles with the opposite half-edge of every half-edge. Half-edge
// 3f + k runs from corner k of triangle f to the next. Polygons are cut into triangles once, by exact ear
// clipping; the diagonals are marked, so that polygons come back afterwards.
//
// What is refused, with Error (Geometry) naming edge and faces: indices that are out of range, coordinates
// that are not finite or beyond 1e37, an edge of more than two faces or of two that run the same way, a
// triangle that repeats a vertex. Allowed: borders, several components, triangles without area, polygons with
// bridges to holes. A vertex whose faces fall into several fans is split, one vertex a fan.
//
// Cost: O(corners), about 50 ns a triangle on one core; 12 bytes a corner, and no copy of a TriMesh.
#pragma once

#include "sunder/base/index.h"
#include "sunder/geometry/mesh_view.h"

#include <span>
#include <string>
#include <vector>

namespace sunder::cut {

using geometry::MeshView;
using geometry::Triangle;
using geometry::u32;

struct KernelMesh {
  std::span<const Vec3> positions;
  std::span<const Triangle> triangles;
  std::vector<uint32_t> twin;    // per half-edge; kNoIndex on the border
  std::vector<uint32_t> source;  // per triangle: the face of the input; empty: the same number
  // Per half-edge: 1 inside a flat polygon of the input, 2 inside one that is not flat, which stays in
  // triangles where it is cut; empty: none.
  std::vector<uint8_t> diagonal;
  std::vector<uint32_t> splitOf;  // per vertex after `inputVertices`: the one it was split from
  uint32_t inputVertices = 0;
  uint32_t borderEdge = kNoIndex;  // the first half-edge without a twin
  Box3 bounds;

  bool doubled = false;  // some diagonal has the ends of another edge

  bool closed() const { return borderEdge == kNoIndex; }
  uint32_t sourceOf(uint32_t triangle) const { return source.empty() ? triangle : source[triangle]; }
  uint32_t sourceVertex(uint32_t v) const { return v < inputVertices ? v : splitOf[v - inputVertices]; }
  uint32_t origin(uint32_t h) const { return triangles[h / 3][h % 3]; }
  uint32_t target(uint32_t h) const { return triangles[h / 3][h % 3 == 2 ? 0 : h % 3 + 1]; }
  const Vec3& at(uint32_t triangle, uint32_t corner) const { return positions[triangles[triangle][corner]]; }
  bool isDiagonal(uint32_t h) const { return !diagonal.empty() && diagonal[h] != 0; }
  bool isFlatDiagonal(uint32_t h) const { return !diagonal.empty() && diagonal[h] == 1; }

  std::vector<Vec3> ownPositions;
  std::vector<Triangle> ownTriangles;
};

inline uint32_t nextOf(uint32_t h) { return h % 3 == 2 ? h - 2 : h + 1; }
inline uint32_t previousOf(uint32_t h) { return h % 3 == 0 ? h + 2 : h - 1; }

// `name` is what errors call the mesh: "mesh" or "cutter". The input must outlive the result.
KernelMesh makeKernelMesh(const MeshView& mesh, const std::string& name);

}  // namespace sunder::cut
