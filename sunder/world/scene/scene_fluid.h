// Liquids of a scene document.
#pragma once

#include "sunder/world/scene/scene.h"
#include "sunder/world/scene/scene_node.h"

#include <functional>

namespace sunder::world {

// `material` and `body` look names up. Places of liquids among the bodies are not set.
using FindByName = std::function<uint32_t(const SceneNode&)>;
FluidSpec readFluid(const SceneNode& node, const Scene& scene, const FindByName& material,
                    const FindByName& body);

}  // namespace sunder::world
