// What a check says of the liquids of a scene.
#pragma once

#include "sunder/world/check/check.h"

namespace sunder::world {

// Adds findings. For a world that has not moved yet.
void checkLiquids(const World& world, CheckReport& report);

}  // namespace sunder::world
