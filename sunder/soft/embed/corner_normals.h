// Normals of the corners of a surface: smooth where it is round, different on both sides of an edge that is
// sharper than the crease angle. Corners at a vertex share a normal if a fan of triangles without a sharp
// edge connects them; it is the mean of their triangles' normals, weighed by angle (normals.h of the room
// geometry).
#pragma once

#include "sunder/geometry/mesh.h"

#include <cstdint>
#include <vector>

namespace sunder::soft {

struct CornerNormals {
  std::vector<uint32_t> ofCorner;  // three a triangle: number of its normal
  std::vector<Vec3> normal;        // unit, or zero where there is none
  std::vector<uint32_t> vertex;    // of the surface, by normal
};

// `crease` in degrees, 0 to 180.
CornerNormals cornerNormals(const geometry::TriMesh& surface, double crease);

}  // namespace sunder::soft
