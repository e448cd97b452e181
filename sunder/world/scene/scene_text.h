// A scene as a document: what reads as the same values again. Recordings hold it of scenes that programs put
// together, so that their runs resume and replay as others do.
//
// Numbers are SI and keep all their digits; what has its default is left out; bodies of arrays stand one by
// one. Reading the text gives bodies, joints, forces and liquids of equal values in the same order; shapes
// and materials may have other indices. Cost: some 300 bytes and microseconds a body.
#pragma once

#include "sunder/world/scene/scene.h"

#include <string>

namespace sunder::world {

// Throws Error (Usage) that names the body, joint or liquid whose shape, material or body does not exist, and
// (Unsupported) for a scene that is sampled, or cut already.
std::string sceneText(const Scene& scene);

// A shape in one spelling that follows from its values alone: equal for equal shapes, pieces included.
std::string shapeText(const ShapeValue& shape);

}  // namespace sunder::world
