// The part of the lathe that the shapes share: no check of the profile. Private to the room.
#pragma once

#include "sunder/shapes/lathe.h"

#include <span>
#include <vector>

namespace sunder::shapes {

// n points of the unit circle from (1, 0), counter-clockwise.
std::vector<Vec2> unitPolygon(int n);

// As loft(), for one that is known to be good.
geometry::TriMesh loftUnchecked(const Loft& loft);

}  // namespace sunder::shapes
