// Patterns: where the bodies of an array stand. Index i always stands in the same place, whatever the number
// of threads; random parts come from stream i of the seed and the array's id.
#pragma once

#include "sunder/rigid/shape/pose.h"
#include "sunder/world/scene/scene_node.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sunder::world {

struct ArrayItem {
  rigid::Pose pose;
  uint64_t index = 0;  // in the array
  char letter = 0;     // of a text
};

struct LetterSettings {
  std::string text;
  double height = 0, depth = 0;
  uint64_t count = 0;  // without spaces
};

// How many items an array block asks for, and the pattern's name. Costs nothing.
double arrayCount(const SceneNode& array, std::string* pattern = nullptr);

// The items of an array block, ascending by index. Where there are more than `most`, about as many of them
// that stand together: a block at the corner of a grid, the first ones of other patterns. Costs time and
// memory for those only. Throws Error (Format) with the place where a pattern has no room.
std::vector<ArrayItem> arrayItems(const SceneNode& array, uint64_t seed, LetterSettings& letters,
                                  uint64_t most = UINT64_MAX);

}  // namespace sunder::world
