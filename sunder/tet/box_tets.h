// A box filled with tetrahedra exactly: equal cells as near to cubes of the wanted edge as the sides allow,
// each of six tetrahedra around its diagonal (Kuhn). All faces of the box are flat and all its edges
// straight, whatever the edge length.
#pragma once

#include "sunder/base/box.h"
#include "sunder/geometry/mesh.h"

namespace sunder::tet {

// Throws Error (Usage) for a box without volume, an edge that is not positive, or more than `mostTets`.
geometry::TetMesh boxTets(const Box3& box, double edge, size_t mostTets = 100'000'000);

}  // namespace sunder::tet
