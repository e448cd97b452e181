#include "sunder/world/scene/part_block.h"

#include "sunder/base/error.h"
#include "sunder/base/json_parse.h"
#include "sunder/world/scene/scene_schema.h"

#include <fmt/core.h>

namespace sunder::world {

namespace {

std::vector<BlockKind>& blocks() {
  static std::vector<BlockKind> kBlocks;
  return kBlocks;
}

}  // namespace

void registerBlock(const BlockKind& kind) {
  const std::optional<Json> schema = tryReadJson(kind.schema);
  if (!schema || !schema->isObject())
    throw Error(ErrorKind::Format, fmt::format("the schema of \"{}\" is no JSON object", kind.key));
  const Json scene = readJson(sceneSchemaText());
  bool taken = scene.at("properties").contains(kind.key);
  for (const BlockKind& known : blocks()) taken |= known.key == kind.key;
  if (taken) throw Error(ErrorKind::Usage, fmt::format("scenes have a key \"{}\" already", kind.key));
  blocks().push_back(kind);
}

const std::vector<BlockKind>& registeredBlocks() { return blocks(); }

}  // namespace sunder::world
