// Whether rounding made new crossings. The topology of a cut is exact, its new positions are doubles: thin
// pieces can fold over by an ulp, and their faces then cross. This finds such faces, exactly: pairs of one
// fragment, one of them with a rounded vertex, where an edge of one passes through the inside of the other.
// Touching is no crossing; polygons are looked at as triangles.
//
// Positions have the resolution of doubles already, a finer grid is not to be had; a mesh far from the origin
// gets one by moving it there before the cut.
//
// Cost: a box tree over the faces and a few exact signs for each overlapping pair of boxes.
#pragma once

#include "sunder/cut/cut.h"

namespace sunder::cut {

// Pairs of faces of the result, ascending.
std::vector<std::array<uint32_t, 2>> crossingFaces(const CutResult& result);

}  // namespace sunder::cut
