// The plain mesh containers that flow through the house. They hold numbers and promise nothing: a PolygonSoup
// may be open, non-manifold or worse. mesh_report.h tells what is wrong with one, mesh_clean.h mends it.
//
// Faces wind counter-clockwise seen from outside. Tetrahedra are positive: (b-a) x (c-a) . (d-a) > 0.
#pragma once

#include "sunder/base/box.h"
#include "sunder/base/index.h"
#include "sunder/base/math.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sunder::geometry {

using Triangle = std::array<uint32_t, 3>;
using Tetrahedron = std::array<uint32_t, 4>;

struct TriMesh {
  std::vector<Vec3> positions;
  std::vector<Triangle> triangles;
};

// Tetrahedra, each with the number of the region (material) it belongs to; `region` is empty or one per
// tetrahedron.
struct TetMesh {
  std::vector<Vec3> positions;
  std::vector<Tetrahedron> tets;
  std::vector<int32_t> region;
};

// Polygons as files have them: corners of face f are corners[faceOffsets[f]] .. corners[faceOffsets[f+1]-1].
// The optional arrays are empty or complete.
struct PolygonSoup {
  std::vector<Vec3> positions;
  std::vector<uint32_t> faceOffsets{0};
  std::vector<uint32_t> corners;    // a position's index per corner
  std::vector<uint32_t> faceGroup;  // optional, per face: index into groupNames
  std::vector<std::string> groupNames;
  std::vector<Vec3> cornerNormals;   // optional, per corner
  std::vector<Vec2> cornerUvs;       // optional, per corner
  std::vector<Vec4f> vertexColours;  // optional, per position: red, green, blue, alpha in 0..1

  size_t faceCount() const { return faceOffsets.size() - 1; }
  std::span<const uint32_t> face(size_t f) const {
    return {corners.data() + faceOffsets[f], faceOffsets[f + 1] - faceOffsets[f]};
  }
  // Adds a face with no attributes.
  void addFace(std::span<const uint32_t> vertices) {
    corners.insert(corners.end(), vertices.begin(), vertices.end());
    faceOffsets.push_back(static_cast<uint32_t>(corners.size()));
  }
};

// Same faces, one polygon per triangle.
PolygonSoup toSoup(const TriMesh& mesh);

// Triangles of a soup. Polygons with more corners are triangulated (triangulate.h), so concave ones come out
// right. `sourceFace`, when given, receives the soup's face of every triangle.
TriMesh toTriMesh(const PolygonSoup& soup, std::vector<uint32_t>* sourceFace = nullptr);

Box3 bounds(std::span<const Vec3> positions);

}  // namespace sunder::geometry
