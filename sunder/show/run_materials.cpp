#include "sunder/show/run_materials.h"

#include "sunder/base/error.h"
#include "sunder/base/json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sunder::show {

namespace {

material::Material fromScene(const std::string& name, const nlohmann::json& m) {
  material::Material out;
  out.name = name;
  if (const auto c = m.find("colour"); c != m.end() && c->is_array() && c->size() == 3)
    out.colour = {(*c)[0].get<double>(), (*c)[1].get<double>(), (*c)[2].get<double>()};
  for (const material::Property& property : material::properties())
    if (property.group == material::Group::Optical)
      out.*property.value = m.value(std::string(property.name), out.*property.value);
  return out;
}

std::vector<material::Material> materialsOfScene(const record::RunReader& run) {
  std::vector<material::Material> table;
  if (run.info().scene.empty()) return table;
  const nlohmann::json scene = parseJson(run.info().scene, run.path().string());
  const auto block = scene.find("materials");
  if (block == scene.end() || !block->is_object()) return table;
  for (const auto& [name, m] : block->items()) {
    if (!m.is_object()) continue;
    try {
      table.push_back(fromScene(name, m));
    } catch (const nlohmann::json::exception&) {
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
