// Patterns: where the bodies of an array stand. Index i always stands in the same place, whatever the number
// of threads; random parts come from stream i of the seed and the array's id.
#pragma once

#include "sunder/rigid/pose.h"
#include "sunder/world/scene_node.h"

#include <string>
#include <vector>

namespace sunder::world {

struct ArrayItem {
  rigid::Pose pose;
  char letter = 0;  // of a text
};

struct LetterSettings {
  std::string text;
  double height = 0, depth = 0;
};

// How many items an array block asks for, and the pattern's name. Costs nothing.
double arrayCount(const SceneNode& array, std::string* pattern = nullptr);

// The items of an array block. Throws Error (Format) with the place where a pattern has no room.
std::vector<ArrayItem> arrayItems(const SceneNode& array, uint64_t seed, LetterSettings& letters);

}  // namespace sunder::world
