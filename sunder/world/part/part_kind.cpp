#include "sunder/world/part/part_kind.h"

#include "sunder/base/error.h"

#include <algorithm>

#include <fmt/core.h>

namespace sunder::world {

namespace {

std::vector<PartKind>& kinds() {
  static std::vector<PartKind> kKinds;
  return kKinds;
}

}  // namespace

void registerPart(const PartKind& kind) {
  for (const PartKind& known : kinds())
    if (std::string_view(known.name) == kind.name)
      throw Error(ErrorKind::Usage, fmt::format("there is a part \"{}\" already", kind.name));
  if (!kind.build) throw Error(ErrorKind::Usage, fmt::format("the part \"{}\" cannot be built", kind.name));
  if (!kind.block.key.empty()) registerBlock(kind.block);
  kinds().push_back(kind);
}

const std::vector<PartKind>& registeredParts() { return kinds(); }

}  // namespace sunder::world
