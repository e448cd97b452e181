// Which parts of the four faces of a tetrahedron are solid, from the contours on them. Used by walls.h.
//
// Contours cross the outline of a face into the solid and out of it in turn. Crossings at the same place, to
// rounding, may come in any order; so they do not say what is solid beside them. A face with none but such
// crossings takes it from the face beside it, and a tetrahedron with none at all from its surface alone,
// where that is closed, or from who asks.
#pragma once

#include "sunder/soft/walls/contour.h"

#include <functional>

namespace sunder::soft {

struct FaceSection {
  std::vector<std::vector<uint32_t>> loops;  // of the contours' points: outer ones counter-clockwise
  double share = 0;                          // of the face's area that is solid
  bool crossed = false;                      // crossings did not alternate
};

// `middleInside`: whether the middle of the tetrahedron is solid; called where nothing else tells.
std::array<FaceSection, 4> sectionsOf(const TetContours& contours, const std::function<bool()>& middleInside);

// Twice the area of a loop over that of the whole face's, counter-clockwise positive.
double shareOfFace(const TetContours& contours, std::span<const uint32_t> loop, int face);

}  // namespace sunder::soft
