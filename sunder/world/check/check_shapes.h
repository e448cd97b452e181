// Shapes that a person would wonder about, found by samples of their fields, before anything is built: parts
// that lie far apart, containers that would not hold their liquid. Private to check_numbers.cpp.
#pragma once

#include "sunder/world/build/cost_shapes.h"
#include "sunder/world/check/check.h"

#include <span>

namespace sunder::world {

// Fields whose parts fill only a small part of a side of their box: one of them was misplaced, and the others
// get cells that are too large for them.
void findScatteredParts(const Scene& scene, std::span<const ShapeSize> sizes, CheckReport& report);

// Liquids that are poured into bodies with an opening below their level. Looks at some 30,000 places of each
// container; an opening of less than two of their distances is left to be found while the world is built, and
// what holds is never called leaking. O(places) distances to the mesh or field of the container.
void findLeaks(const Scene& scene, std::span<const ShapeSize> sizes, CheckReport& report);

}  // namespace sunder::world
