// Solids by formulas, from the `field` of a shape: the analytic fields of room sdf and their combinations.
#pragma once

#include "sunder/sdf/analytic_field.h"
#include "sunder/world/scene/scene_node.h"

namespace sunder::world {

// Throws Error with the place in the scene for sizes that make no sense.
sdf::FieldPtr makeField(const SceneNode& node);

// Formulas that the field consists of; noise counts as as many as it costs.
double fieldLeaves(const SceneNode& node);

}  // namespace sunder::world
