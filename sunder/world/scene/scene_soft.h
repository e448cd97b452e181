// Soft bodies of a scene document. Private to this folder.
#pragma once

#include "sunder/world/scene/key_frames.h"
#include "sunder/world/scene/scene_node.h"
#include "sunder/world/scene/soft_values.h"

#include <vector>

namespace sunder::world {

// The block "soft", without the bodies that it names and the key frames of its pins. Throws Error (Format)
// with the place of what makes no sense.
SoftSpec readSoft(const SceneNode& node);

// What a key does not say is that of the one before, the first one's that of `start`. Throws Error (Format)
// where times do not grow.
std::vector<KeyFrame> readKeyFrames(const SceneNode& list, const rigid::Pose& start);

}  // namespace sunder::world
