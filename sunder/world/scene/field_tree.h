// The `field` of a shape or a block of liquid, from a scene document.
#pragma once

#include "sunder/world/scene/field_values.h"
#include "sunder/world/scene/scene_node.h"

#include <array>
#include <string_view>

namespace sunder::world {

// What the schema calls the kinds of fields, in the order of FieldKind.
inline constexpr std::array<std::string_view, 15> kFieldNames{
    "sphere",       "box",        "cylinder",    "capsule", "torus", "ellipsoid", "plane", "union",
    "intersection", "difference", "smoothUnion", "offset",  "shell", "transform", "noise"};

struct ReadField {
  FieldValue value;
  sdf::FieldPtr field;
};

// Throws Error with the place in the scene for sizes that make no sense.
ReadField readField(const SceneNode& node);

}  // namespace sunder::world
