// Makes the boundary of a tetrahedral mesh a closed manifold, by doubling vertices: where two parts of the
// solid, or two parts of the outside, meet in a vertex or an edge only.
//
// The tetrahedra around such a vertex are parted into groups whose far faces form a disc or a sphere, grown
// greedily from the lowest number; each group but the first gets a vertex of its own at the same place. In
// two dimensions a greedy growth never gets stuck before it has all of a disc (Danaraj and Klee 1978), so
// good vertices are left alone. Where parts of the solid touch, they come apart; where parts of the outside
// touch through a wall without thickness, the wall gets a slit. A slit may make its ends worse, so this is
// repeated until nothing is left to do; it ends, since a mesh has at most four vertices a tetrahedron.
//
// Guarantee: afterwards every edge of the boundary has two faces and every vertex one fan of them;
// tetrahedra keep their numbers, places and shapes. Same bits for any number of threads.
// Cost: O(tetrahedra at the boundary) and some microseconds a doubled vertex.
#pragma once

#include "sunder/geometry/mesh.h"

#include <vector>

namespace sunder::tet {

struct ManifoldReport {
  size_t doubled = 0;  // vertices made
  size_t rounds = 0;   // in which some were made
};

// `outer`, per vertex: may it be on the boundary? Empty: any may. Faces must have at most two tetrahedra.
ManifoldReport makeManifold(geometry::TetMesh& mesh, std::vector<uint8_t> outer = {});

}  // namespace sunder::tet
