#include "sunder/world/scene/part_block.h"

#include "sunder/base/error.h"
#include "sunder/world/scene/scene_schema.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace sunder::world {

namespace {

std::vector<BlockKind>& blocks() {
  static std::vector<BlockKind> kBlocks;
  return kBlocks;
}

}  // namespace

void registerBlock(const BlockKind& kind) {
  const nlohmann::json schema = nlohmann::json::parse(kind.schema, nullptr, false);
  if (!schema.is_object())
    throw Error(ErrorKind::Format, fmt::format("the schema of \"{}\" is no JSON object", kind.key));
  const nlohmann::json scene = nlohmann::json::parse(sceneSchemaText());
  bool taken = scene.at("properties").contains(kind.key);
  for (const BlockKind& known : blocks()) taken |= known.key == kind.key;
  if (taken) throw Error(ErrorKind::Usage, fmt::format("scenes have a key \"{}\" already", kind.key));
  blocks().push_back(kind);
}

const std::vector<BlockKind>& registeredBlocks() { return blocks(); }

}  // namespace sunder::world
