// A scene that shows every block and every key with a comment: what 'sunder describe scene' prints. It is a
// valid scene; a test compares it with the schema, key by key.
#pragma once

#include <span>
#include <string>

namespace sunder::world {

struct SampleBlock {
  const char* name;     // "bodies"
  const char* summary;  // one line
  const char* text;     // the block's key and value, with comments, without a comma after it
};

std::span<const SampleBlock> sampleBlocks();

// All blocks as one scene.
std::string sampleScene();

}  // namespace sunder::world
