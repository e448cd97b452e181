// The kinds of parts that worlds are made of. Each says whether a scene has such a part, and builds it; so
// the world names none of them. Rigid bodies and liquids are there from the start; a program registers more
// before it reads a scene.
#pragma once

#include "sunder/world/build/shape_library.h"
#include "sunder/world/part/part.h"
#include "sunder/world/scene/part_block.h"
#include "sunder/world/scene/scene.h"

#include <memory>
#include <vector>

namespace sunder::world {

struct PartKind {
  const char* name = "";
  // The block of the scene that describes such a part (part_block.h); without a name: none, as the scene has
  // its own values for it.
  BlockKind block;
  // The part of a scene, or nullptr where the scene has none.
  std::unique_ptr<Part> (*build)(const Scene& scene, const std::vector<BuiltShape>& shapes,
                                 Ledger& ledger) = nullptr;
};

// Throws Error (Usage) for a name or key that is taken. Not while other threads read scenes or build worlds.
void registerPart(const PartKind& kind);
// In the order of registration. Parts of one stage are called in it, behind those that are there from the
// start (parts/part_list.h).
const std::vector<PartKind>& registeredParts();

}  // namespace sunder::world
