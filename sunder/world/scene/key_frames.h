// Prescribed motion: where something is at certain times, and between them.
#pragma once

#include "sunder/rigid/shape/pose.h"

#include <span>

namespace sunder::world {

struct KeyFrame {
  double time = 0;
  rigid::Pose pose;
};

// Straight from key to key, turning at an even speed; before the first key and after the last one where those
// are. `repeat`: after the last key the first one follows. `keys` have ascending times and are not empty.
rigid::Pose poseAt(std::span<const KeyFrame> keys, bool repeat, double time);

}  // namespace sunder::world
