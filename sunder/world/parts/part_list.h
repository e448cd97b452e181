// The parts of a scene: those that are there from the start, rigid bodies and liquids, and those that a
// program registered.
#pragma once

#include "sunder/world/part/part_kind.h"

#include <memory>
#include <vector>

namespace sunder::world {

// In the order in which they are called: by stage, then rigid bodies and liquids before registered ones, then
// by registration. Throws Error with the place in the scene.
std::vector<std::unique_ptr<Part>> buildParts(const Scene& scene, const std::vector<BuiltShape>& shapes,
                                              Ledger& ledger);

}  // namespace sunder::world
