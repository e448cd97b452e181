// The parts of a world that tests look into.
#pragma once

#include "sunder/world/parts/liquids.h"
#include "sunder/world/parts/rigid_part.h"
#include "sunder/world/world.h"

namespace sunder::world {

inline const rigid::Simulation& simulationOf(const World& world) {
  return world.find<RigidPart>()->simulation();
}
inline const Breakage& breakageOf(const World& world) { return world.find<RigidPart>()->breakage(); }
inline const Liquids& liquidsOf(const World& world) { return *world.find<Liquids>(); }

}  // namespace sunder::world
