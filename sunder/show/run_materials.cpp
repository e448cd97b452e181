#include "sunder/show/run_materials.h"

#include "sunder/base/error.h"
#include "sunder/base/json_parse.h"

#include <fmt/format.h>

namespace sunder::show {

namespace {

material::Material fromScene(const std::string& name, const Json& m) {
  material::Material out;
  out.name = name;
  if (const Json* const c = m.find("colour"); c && c->isArray() && c->size() == 3)
    out.colour = {(*c)[0].number(), (*c)[1].number(), (*c)[2].number()};
  for (const material::Property& property : material::properties())
    if (property.group == material::Group::Optical)
      if (const Json* const value = m.find(property.name)) out.*property.value = value->number();
  return out;
}

std::vector<material::Material> materialsOfScene(const record::RunReader& run) {
  std::vector<material::Material> table;
  if (run.info().scene.empty()) return table;
  const Json scene = parseJson(run.info().scene, run.path().string());
  const Json* const block = scene.find("materials");
  if (!block || !block->isObject()) return table;
  for (const auto& [name, m] : block->members()) {
    if (!m.isObject()) continue;
    try {
      table.push_back(fromScene(name, m));
    } catch (const Error&) {
      throw Error(ErrorKind::Format,
                  fmt::format("the material {} of the recorded scene cannot be read", name))
          .inFile(run.path().string());
    }
  }
  return table;
}

}  // namespace

std::vector<material::Material> materialsOf(const record::RunReader& run) {
  if (run.materials().empty()) return materialsOfScene(run);
  std::vector<material::Material> table;
  for (size_t m = 0; m < run.materials().size(); ++m)
    if (!run.materialLost(m)) table.push_back(run.materials()[m]);
  return table;
}

BodyLooks looksOf(const std::vector<material::Material>& table, const std::string& name) {
  const material::Material* found = material::find(table, name);
  if (!found) return {};
  BodyLooks looks{lookOf(*found), std::nullopt};
  const material::Material& inside = material::insideOf(table, *found);
  if (&inside != found) looks.inside = lookOf(inside);
  return looks;
}

}  // namespace sunder::show
