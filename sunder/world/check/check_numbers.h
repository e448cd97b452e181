// What a person would say of a scene on reading it: from its numbers, without building it.
#pragma once

#include "sunder/world/build/cost_shapes.h"
#include "sunder/world/check/check.h"

#include <span>

namespace sunder::world {

// Adds warnings. `sizes`: of the scene's shapes.
void checkNumbers(const Scene& scene, std::span<const ShapeSize> sizes, CheckReport& report);

}  // namespace sunder::world
