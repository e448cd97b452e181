// Blocks of a scene that a program adds to the language of scenes: a key at the top of the document, what may
// stand there, and how it becomes values.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace sunder::world {

class SceneNode;

// What a block says. Kinds derive their own.
struct PartValues {
  virtual ~PartValues() = default;
};

struct BlockKind {
  std::string key;     // at the top of the document; empty: none
  std::string schema;  // of its value: a JSON Schema with the words that our check knows (scene_schema.h)
  // Throws Error with the place in the document (SceneNode::fail).
  std::shared_ptr<const PartValues> (*parse)(const SceneNode& node) = nullptr;
  // Bytes of memory that what it describes takes, from the values alone; none: not worth counting.
  double (*estimate)(const PartValues& values) = nullptr;
};

// Throws Error (Usage) for a key that is taken, Error (Format) for a schema that is no JSON object.
void registerBlock(const BlockKind& kind);
const std::vector<BlockKind>& registeredBlocks();

}  // namespace sunder::world
