// From what a scene says of a joint to the joints that hold bodies.
#pragma once

#include "sunder/world/scene/scene.h"

#include <span>
#include <string>

namespace sunder::world {

// Adds the joints that words stand for, one for each of `bodies`, between it and `a`. Throws Error (Format)
// with the place where they hold a body to itself, or nothing that moves.
void addJoints(Scene& scene, const JointSpec& said, rigid::BodyIndex a, std::span<const uint32_t> bodies);

// At the place of a name that no body has.
Error noSuchBody(const Scene& scene, const std::string& pointer, const std::string& id);
Error noBodyLike(const Scene& scene, const std::string& pointer, const std::string& pattern);

inline bool isPattern(const std::string& text) { return text.find('*') != std::string::npos; }

}  // namespace sunder::world
