// A cage: the coarse tetrahedra that carry a fine surface, at rest. What is made from it (assignment, walls,
// spheres, masses) refers to its tetrahedra by number; tears give corners of tetrahedra to new vertices and
// change neither their number nor their shape at rest.
//
// Two tetrahedra may lie in the same place: one that holds two separate parts of the solid is doubled, and
// the copies have different vertices where their neighbours differ.
#pragma once

#include "sunder/geometry/mesh.h"

#include <array>
#include <cstdint>
#include <vector>

namespace sunder::soft {

struct Cage {
  geometry::TetMesh rest;  // positive tetrahedra
  std::vector<std::array<uint32_t, 4>> neighbours =
      {};  // across the face opposite to each corner; kNoIndex: none
};

// Finds the neighbours. Throws Error (Geometry) that names the first tetrahedron which is inverted, whose
// volume is below 1e-12 of the cube of its longest edge, or that has a corner which is not there, and for a
// mesh without tetrahedra.
Cage makeCage(geometry::TetMesh rest);

// Corner of a tetrahedron that holds a vertex, or -1.
inline int cornerOf(const geometry::Tetrahedron& tet, uint32_t vertex) {
  for (int k = 0; k < 4; ++k)
    if (tet[k] == vertex) return k;
  return -1;
}

}  // namespace sunder::soft
