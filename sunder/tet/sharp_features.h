// Moves boundary vertices of a stuffed mesh onto the sharp edges and corners of the field. Private to the
// room; stuffing.h says what it guarantees.
//
// The planes of the field's gradients at a vertex and its neighbours on the boundary are met as well as
// possible by one point, in the least squares sense of dual contouring (Ju et al. 2002; directions in which
// the planes say little are left out). Vertices are tried by how far they have to go, each is moved if the
// tetrahedra around it stay good, in one thread.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/tet/stuffing.h"

namespace sunder::tet {

void moveToFeatures(const sdf::Field& field, const FillSettings& settings, double edge,
                    geometry::TetMesh& mesh, FillReport& report);

}  // namespace sunder::tet
