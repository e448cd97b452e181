// Which triangles of a surface lie in which tetrahedra of a cage. A triangle has one copy in each tetrahedron
// in which a part of it lies; what a tetrahedron holds of it is the clipped polygon, in barycentric
// coordinates of that tetrahedron, exact up to rounding and the same from both sides of a shared face.
#pragma once

#include "sunder/geometry/rows.h"
#include "sunder/soft/cage/cage.h"
#include "sunder/soft/cage/clip_triangle.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::soft {

struct SurfaceCopies {
  geometry::Rows trianglesOf;             // by tetrahedron, ascending
  std::vector<uint32_t> polygonStart{0};  // by copy, in the order of trianglesOf
  std::vector<ClipCorner> polygons;       // corners, in the winding of the triangle
  std::vector<uint32_t> copiesOf;         // by triangle: how many copies it has, dust left out

  size_t copies() const { return trianglesOf.items.size(); }  // dust (clip_triangle.h) included
  std::span<const ClipCorner> polygon(size_t copy) const {
    return {polygons.data() + polygonStart[copy], polygonStart[copy + 1] - polygonStart[copy]};
  }
};

// A triangle that lies in a face of the cage goes to the tetrahedron on the inner side of the surface. Of
// tetrahedra in the same place (cage_parts.h) each gets the triangles of its own part. Throws Error
// (Geometry) with the first triangle and the share of the surface that is outside the cage.
SurfaceCopies assignSurface(const geometry::TriMesh& surface, const Cage& cage);

// How many triangles have one copy, two, ...: the table of the source. Dust is left out.
struct CopyStatistics {
  size_t triangles = 0, copies = 0;
  std::vector<size_t> times;    // times[k]: triangles with k copies
  size_t clippedTriangles = 0;  // of all polygons
  double perTriangle() const { return triangles ? double(copies) / double(triangles) : 0; }
};
CopyStatistics copyStatistics(const SurfaceCopies& copies);

// What a tetrahedron holds: a part of the surface, or none and then all solid or nothing at all. Those
// without surface are told by the winding number of their middle.
enum class TetContent : uint8_t { Outside, Surface, Inside };
std::vector<TetContent> tetContents(const geometry::TriMesh& surface, const Cage& cage,
                                    const SurfaceCopies& copies);

}  // namespace sunder::soft
