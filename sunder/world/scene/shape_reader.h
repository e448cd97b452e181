// Shapes of a scene document as values.
#pragma once

#include "sunder/world/scene/scene_node.h"
#include "sunder/world/scene/shape_values.h"

namespace sunder::world {

// Which of the kinds a description is, and that its keys go together; what the values are is not looked at.
// `name` is for messages, of a shape under "shapes". Throws Error (Format) with the place.
void requireShape(const SceneNode& node, const std::string& name);

// Throws Error (Format) with the place of a value that makes no sense.
ShapeValue readShape(const SceneNode& node);

// The planes of "cut". Throws Error with the place of a normal without direction.
std::vector<CutPlane> readCutPlanes(const SceneNode& list);

}  // namespace sunder::world
