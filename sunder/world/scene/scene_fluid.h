// Liquids of a scene document.
#pragma once

#include "sunder/world/scene/scene.h"
#include "sunder/world/scene/scene_node.h"

#include <functional>

namespace sunder::world {

// `material` and `body` look names up; `body` gives none for the name of a piece that is not cut yet. Places
// of liquids among the bodies are not set.
using FindByName = std::function<uint32_t(const SceneNode&)>;
using FindBody = std::function<std::optional<uint32_t>(const SceneNode&)>;
FluidSpec readFluid(const SceneNode& node, const Scene& scene, const FindByName& material,
                    const FindBody& body);

// A liquid of a material, without blocks and emitters.
LiquidSpec liquidOf(const Scene& scene, std::string id, uint32_t material);

}  // namespace sunder::world
