// Finds the lattice whose tetrahedra hold a solid with about the wished count and cut its surface into few
// copies. Trials count with samples of surface and inside; the best few are counted exactly.
#pragma once

#include "sunder/soft/cage/clip_triangle.h"
#include "sunder/soft/cage/lattice.h"
#include "sunder/soft/cage/solid.h"

#include <cstdint>
#include <vector>

namespace sunder::soft {

// The tetrahedra of a lattice that hold a part of the solid.
struct LatticeCage {
  geometry::TetMesh mesh;
  uint32_t inside = 0;  // of them without surface
  size_t copies = 0;    // of triangles
};
LatticeCage cageOf(const Lattice& lattice, const ClipSurface& surface, const Solid& solid);

struct LatticeChoice {
  Lattice lattice;
  LatticeCage cage;
  uint32_t trials = 0;
};
LatticeChoice chooseLattice(const ClipSurface& surface, const Solid& solid, uint32_t tets);

}  // namespace sunder::soft
