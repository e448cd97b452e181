// Writes the tetrahedra of a sampled lattice and its octree. Private to the room; stuffing.h has the story.
//
// Vertices are raw: points of stored bricks (StuffingLattice::rawId), then, from `cutOffset` on, cut points.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/tet/stuffing_lattice.h"
#include "sunder/tet/stuffing_octree.h"

#include <vector>

namespace sunder::tet {

struct EmittedTets {
  std::vector<geometry::Tetrahedron> tets;  // in the order of bricks, positive
  std::vector<uint8_t> special;             // 0: a tetrahedron of the undistorted uniform lattice
};

// Fills `report.leaves` as it goes.
EmittedTets emitTetrahedra(const StuffingLattice& lattice, const StuffingOctree& octree, uint32_t cutOffset,
                           FillReport& report);

}  // namespace sunder::tet
