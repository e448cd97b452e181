// Whether rounding made new crossings. The topology of a cut is exact, its new positions are doubles: thin
// pieces can fold over by an ulp, and their faces then cross. This finds such faces, exactly: pairs of one
// fragment, one of them with a rounded vertex, where an edge of one passes through the inside of the other.
// Touching is no crossing; polygons are looked at as triangles.
//
// Positions have the resolution of doubles already, a finer grid is not to be had; a mesh far from the origin
// gets one by moving it there before the cut. What can be had is another of the nearby positions:
// mendCrossings() moves rounded vertices of such faces by a few units of the last place, in a fixed order of
// tries, as long as that leaves fewer crossings. Vertices in one place move together.
//
// Cost: a box tree over the faces and a few exact signs for each overlapping pair of boxes; to mend, a pass
// over the faces and up to some hundred tries with the faces nearby for each vertex.
#pragma once

#include "sunder/cut/kernel/types.h"

namespace sunder::cut {

// Pairs of faces of the result, ascending. Throws Error (Limit) where more than `most` would have to be
// looked at.
std::vector<std::array<uint32_t, 2>> crossingFaces(const CutResult& result, uint64_t most = kMostCandidates);

// Does an edge of one triangle pass through the inside of the other? Exact.
bool trianglesCross(const std::array<const Vec3*, 3>& a, const std::array<const Vec3*, 3>& b);

// What the options ask for.
void lookForCrossings(const CutOptions& options, CutResult& result);

// Moves vertices, and seam points with them; returns what still crosses.
std::vector<std::array<uint32_t, 2>> mendCrossings(CutResult& result, uint64_t most = kMostCandidates);

}  // namespace sunder::cut
