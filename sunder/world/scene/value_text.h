// The values of a scene as JSON, each part by itself; references to other parts are left to scene_text.cpp.
// Private to this folder.
#pragma once

#include "sunder/base/json.h"
#include "sunder/world/scene/scene.h"

#include <vector>

namespace sunder::world {

Json vectorJson(const Vec3& v);
Json boxJson(const Box3& box);
Json rotationJson(const Quat& q);
Json cutJson(const std::vector<CutPlane>& planes);

Json fieldJson(const FieldValue& field);
Json shapeJson(const ShapeValue& shape);

Json worldJson(const WorldSettings& world);
Json keyFramesJson(const std::vector<KeyFrame>& keys);
Json bodyJson(const BodySpec& body);          // without shape and material
Json softJson(const SoftSpec& soft);          // without bodies that pins and glue hold to, but for pieces
Json softBodyJson(const SoftBodySpec& body);  // the same, without shape and material
Json jointJson(const JointSpec& joint);       // without bodies, where it has no words
Json forceJson(const ForceSpec& force);       // without bodies
Json fluidJson(const FluidSpec& fluid);       // without liquids
Json liquidJson(const LiquidSpec& liquid);    // without material and blocks
Json blockJson(const BlockSpec& block);       // without its container, where it has no name

}  // namespace sunder::world
