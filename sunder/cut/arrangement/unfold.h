// Seams of meshes that fold over by rounding. Where a closed mesh was cut before, its vertices are rounded
// and thin pieces or the two lids of an incision can cross by an ulp. An edge of the other mesh that passes
// there meets their faces in an order that makes no sense: out of the solid twice, then in twice. Here such
// points change places until the edge goes in and out by turns, from the side that its first end is on.
// Points move by rounding only; a mesh that crosses itself by more keeps its order, and is refused for it
// later.
//
// Cost: O(n), and a winding number for each set of vertices that edges without points join. Meant for seams
// whose sides were found to contradict each other.
#pragma once

#include "sunder/cut/arrangement/seam.h"

namespace sunder::cut {

// How far points may change places, in sizes of the box of both meshes.
inline constexpr double kFoldReach = 1e-9;

// True where points changed places: regions and parts are to be found again.
bool unfoldSeam(const KernelMesh& mesh, const KernelMesh& cutter, Seam& seam);

}  // namespace sunder::cut
