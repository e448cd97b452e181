// Liquids of a scene document.
#pragma once

#include "sunder/world/scene.h"
#include "sunder/world/scene_node.h"

#include <functional>

namespace sunder::world {

// `material` looks names up. Places among the bodies are not set.
FluidSpec readFluid(const SceneNode& node, const Scene& scene,
                    const std::function<uint32_t(const SceneNode&)>& material);

}  // namespace sunder::world
