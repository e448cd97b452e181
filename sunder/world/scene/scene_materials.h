// Materials of a scene document.
//
// A material takes over all values of the one that it is `like`; without `like`, those of the preset of its
// own name or of "default"'s struct. Of toughness and surface energy the one that is not given follows from
// the other (material.h); where neither is given but the elastic values are, the surface energy stays and the
// toughness follows.
#pragma once

#include "sunder/material/material.h"
#include "sunder/world/scene/scene_node.h"

#include <span>
#include <vector>

namespace sunder {
class Json;
}

namespace sunder::world {

// Puts into `materials` the presets, then the materials of the block "materials" that are not presets; those
// that are replace them. The presets are there after an error too. Throws Error (Format) with file and line
// for a value outside its range, a name that does not exist, and materials that are like each other in a
// circle.
void readMaterials(const SceneNode& root, std::vector<material::Material>& materials);

// The index of the material that the node names. Throws Error (Format) with the nearest name.
uint32_t materialIndex(const SceneNode& node, std::span<const material::Material> materials);

// All values as a scene states them: readMaterials() of it gives the same bits, whatever the presets are.
Json materialJson(const material::Material& material);

}  // namespace sunder::world
