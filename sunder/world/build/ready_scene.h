// From what a scene says to what a world takes: bodies with a cut become their pieces, names of pieces become
// indices, shapes get what they are compared by, and a scene that a program put together gets the document
// that its recording will hold, by which its values are checked.
//
// Guarantees: pieces stand where their body stood, in the order of the cut, with the ids "id.0", "id.1", ...;
// their shapes where that of the body was asked for first. A scene that is ready comes back as it is.
// Cost: that of reading and cutting the meshes (build/shape_library.h), some 50 microseconds a body for
// scenes of programs, else nothing.
#pragma once

#include "sunder/base/memory_limit.h"
#include "sunder/world/scene/scene.h"

namespace sunder::world {

// Throws Error with the place in the scene: of mesh files and shapes that cannot be cut, all of them in one
// report; of names that no piece has; of values of programs that make no sense; (Limit) where the pieces are
// more than `memory` bytes, before anything is cut.
Scene readyScene(Scene scene, uint64_t memory = memoryLimit());

// For estimates: nothing is cut, the pieces are those of sizeOfPieces() (Scene::uncut). Scenes that name a
// piece which is not among those are cut.
Scene estimatedScene(Scene scene, uint64_t memory = memoryLimit());

// What a state of the world must agree with to be loaded: the bodies by id and shape, soft ones by their cage
// too, the number of joints, the liquids by id, and blocks of registered kinds.
uint64_t identityOfScene(const Scene& scene);

}  // namespace sunder::world
