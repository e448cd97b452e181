#include "sunder/world/parts/part_list.h"

#include "sunder/base/error.h"
#include "sunder/world/parts/liquids.h"
#include "sunder/world/parts/rigid_part.h"
#include "sunder/world/parts/soft_part.h"

#include <algorithm>

#include <fmt/core.h>

namespace sunder::world {

namespace {

std::unique_ptr<Part> buildRigid(const Scene& scene, const std::vector<BuiltShape>& shapes, Ledger& ledger) {
  return std::make_unique<RigidPart>(scene, shapes, ledger);
}

std::unique_ptr<Part> buildSoft(const Scene& scene, const std::vector<BuiltShape>& shapes, Ledger& ledger) {
  if (scene.softBodies.empty()) return nullptr;
  return std::make_unique<SoftPart>(scene, shapes, ledger);
}

std::unique_ptr<Part> buildLiquids(const Scene& scene, const std::vector<BuiltShape>& shapes, Ledger&) {
  if (!scene.fluid) return nullptr;
  return std::make_unique<Liquids>(scene, shapes);
}

}  // namespace

std::vector<std::unique_ptr<Part>> buildParts(const Scene& scene, const std::vector<BuiltShape>& shapes,
                                              Ledger& ledger) {
  std::vector<PartKind> kinds{{.name = "rigid", .block = {}, .build = buildRigid},
                              {.name = "soft", .block = {}, .build = buildSoft},
                              {.name = "liquids", .block = {}, .build = buildLiquids}};
  kinds.insert(kinds.end(), registeredParts().begin(), registeredParts().end());
  std::vector<std::unique_ptr<Part>> parts;
  for (const PartKind& kind : kinds)
    if (std::unique_ptr<Part> part = kind.build(scene, shapes, ledger)) parts.push_back(std::move(part));
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a->stage() < b->stage(); });
  return parts;
}

}  // namespace sunder::world
