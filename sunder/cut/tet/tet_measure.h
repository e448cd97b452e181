// Areas, volumes, centroids and second moments of the fragments of a tetrahedron, from the polygons that
// bound them. Used by tet_cutter.h.
#pragma once

#include "sunder/cut/tet/tet_cutter.h"

namespace sunder::cut {

// Fills in what fragments and pieces measure, by the divergence theorem about a corner of the tetrahedron. A
// reversed lid must come right after the same one not reversed.
void measure(const std::array<Vec3, 4>& tet, TetCut& cut);

}  // namespace sunder::cut
