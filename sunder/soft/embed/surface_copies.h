// Which triangles of a surface lie in which tetrahedra of a cage. A triangle has one copy in each tetrahedron
// in which a part of it lies; what a tetrahedron holds of it is the clipped polygon, in barycentric
// coordinates of that tetrahedron, exact up to rounding and the same from both sides of a shared face.
#pragma once

#include "sunder/geometry/rows.h"
#include "sunder/soft/cage/cage.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::soft {

// A corner of the polygon that a tetrahedron cuts out of a triangle.
struct ClipCorner {
  Vec4 weights;       // barycentric in the tetrahedron; exactly zero on a face of it
  Vec3 inTriangle;    // barycentric in the triangle
  uint8_t faces = 0;  // bit k: on the face of the tetrahedron opposite to corner k
  uint8_t edges = 0;  // bit k: on the edge of the triangle opposite to its corner k
};

struct SurfaceCopies {
  geometry::Rows trianglesOf;             // by tetrahedron, ascending
  std::vector<uint32_t> polygonStart{0};  // by copy, in the order of trianglesOf
  std::vector<ClipCorner> polygons;       // corners, in the winding of the triangle
  std::vector<uint32_t> copiesOf;         // by triangle: how many copies it has

  size_t copies() const { return trianglesOf.items.size(); }
  std::span<const ClipCorner> polygon(size_t copy) const {
    return {polygons.data() + polygonStart[copy], polygonStart[copy + 1] - polygonStart[copy]};
  }
};

// A triangle that lies in a face of the cage goes to the tetrahedron on the inner side of the surface. Throws
// Error (Geometry) with the first triangle and the share of the surface that is outside the cage.
SurfaceCopies assignSurface(const geometry::TriMesh& surface, const Cage& cage);

}  // namespace sunder::soft
