// A surface mesh seen through spans: what functions take that only read, whether the mesh is a PolygonSoup or
// a TriMesh (both convert). Faces are lists of corners; a corner also stands for the directed edge to the
// next corner of its face. The view must not outlive the mesh.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/geometry/rows.h"

namespace sunder::geometry {

struct MeshView {
  std::span<const Vec3> positions;
  std::span<const uint32_t> corners;  // a position's index per corner
  std::span<const uint32_t> offsets;  // face f has corners offsets[f] .. offsets[f+1]-1; empty: 3f .. 3f+2

  MeshView(const PolygonSoup& soup)  // NOLINT: meant to convert
      : positions(soup.positions), corners(soup.corners), offsets(soup.faceOffsets) {}
  MeshView(const TriMesh& mesh);  // NOLINT

  size_t faceCount() const { return offsets.empty() ? corners.size() / 3 : offsets.size() - 1; }
  uint32_t begin(size_t f) const { return offsets.empty() ? u32(3 * f) : offsets[f]; }
  uint32_t end(size_t f) const { return offsets.empty() ? u32(3 * f + 3) : offsets[f + 1]; }
  std::span<const uint32_t> face(size_t f) const { return corners.subspan(begin(f), end(f) - begin(f)); }
  const Vec3& at(size_t corner) const { return positions[corners[corner]]; }

  // The corner after and before `corner` in face f, around its end.
  uint32_t next(size_t f, uint32_t corner) const { return corner + 1 == end(f) ? begin(f) : corner + 1; }
  uint32_t previous(size_t f, uint32_t corner) const { return corner == begin(f) ? end(f) - 1 : corner - 1; }
};

// Throws Error (Geometry) naming the first face that refers to a vertex that is not there, or whose row is
// malformed; Error (Limit) when indices would not fit 32 bits. Every function that takes a MeshView calls
// this first.
void requireValid(const MeshView& mesh);

// The face of every corner.
std::vector<uint32_t> cornerFaces(const MeshView& mesh);

// Half the sum of the fan's cross products (the same as Newell's 1972 formula, taken about the first corner
// so that a mesh far from the origin loses no digits): its length is the area of a flat polygon, concave ones
// included, its direction the normal.
Vec3 vectorArea(const MeshView& mesh, size_t face);

// No area that double precision could tell from zero: fewer than three corners, corners on one line.
bool hasNoArea(const MeshView& mesh, size_t face);

// A vertex appears more than once among the face's corners.
bool repeatsVertex(const MeshView& mesh, size_t face);

// Sum of the faces' areas.
double surfaceArea(const MeshView& mesh);

}  // namespace sunder::geometry
