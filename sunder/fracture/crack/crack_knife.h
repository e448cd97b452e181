// The surface that parts a piece off: a crack sheet that goes on beyond its rim, in its own direction, until
// it has left the mesh that it is to cut.
#pragma once

#include "sunder/fracture/crack/crack_sheets.h"
#include "sunder/geometry/mesh.h"

namespace sunder::fracture {

struct KnifeSettings {
  double margin;    // how far it ends outside of the mesh
  double farthest;  // how far a rim goes on at most
  double straight;  // how much it keeps the sheet's direction; 0: the shortest way out
};

// The sheet's triangles come first. `mesh` is closed and outward; only its triangles within `farthest` of the
// box around the rim count.
geometry::TriMesh crackKnife(const CrackSheet& sheet, const geometry::TriMesh& mesh,
                             const KnifeSettings& settings);

}  // namespace sunder::fracture
