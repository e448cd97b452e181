// Parts of a solid that lie in one tetrahedron without being connected there, such as two fingers: each gets
// a copy of the tetrahedron to itself, so that the parts move, touch and tear apart independently (Molino,
// Bao and Fedkiw 2004, "A virtual node algorithm"). Tetrahedra share a vertex only where the same part of the
// solid goes on from one to the other through faces; two that hold different parts and only touch are
// separated too.
//
// Where two parts are joined in the next tetrahedron, as fingers are in a palm, both copies share one face
// with it: three tetrahedra have that face, and none of them is a neighbour of the others across it
// (Cage::neighbours).
//
// Parts are found exactly, by the contours of the surface on the faces and the segments of the edges that are
// inside (clip_triangle.h): no sampling. Copies of a tetrahedron follow each other, by ascending smallest
// triangle of their part.
#pragma once

#include "sunder/base/index.h"
#include "sunder/geometry/mesh.h"
#include "sunder/soft/cage/cage.h"

#include <cstdint>
#include <vector>

namespace sunder::soft {

struct PartsReport {
  uint32_t doubled = 0;          // tetrahedra with more than one copy
  uint32_t copies = 0;           // tetrahedra added
  uint32_t most = 1;             // copies of one tetrahedron
  uint32_t vertices = 0;         // vertices added
  uint32_t pieces = 1;           // parts of the cage that share no vertex
  std::vector<uint32_t> source;  // by new tetrahedron: the old one
};

// Throws Error (Geometry) where the cage does not hold the whole surface. Tetrahedra that hold nothing of the
// solid are left out.
Cage separateParts(const geometry::TriMesh& surface, Cage cage, PartsReport* report = nullptr);

}  // namespace sunder::soft
