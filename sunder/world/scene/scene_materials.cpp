#include "sunder/world/scene/scene_materials.h"

#include "sunder/base/json.h"
#include "sunder/base/text.h"

#include <array>
#include <set>
#include <string>

#include <fmt/core.h>

namespace sunder::world {

using material::Material;
using material::Property;

namespace {

// How a property is written, by its unit.
const Dimension& dimensionOf(const Property& property) {
  struct Unit {
    std::string_view name;
    Dimension dimension;
  };
  static constexpr std::array<Unit, 8> kUnits{{{"", kPlain},
                                               {"m", kLength},
                                               {"kg/m3", kDensity},
                                               {"Pa", kPressure},
                                               {"Pa m^0.5", kToughness},
                                               {"J/m2", kSurfaceEnergy},
                                               {"m2/s", kViscosity},
                                               {"N/m", kSurfaceTension}}};
  for (const Unit& unit : kUnits)
    if (unit.name == property.unit) return unit.dimension;
  throw Error(ErrorKind::Usage, fmt::format("no dimension is known for the unit {}", property.unit));
}

double readValue(const SceneNode& node, const Property& property) {
  const double value = node.quantity(dimensionOf(property));
  if (property.allows(value)) return value;
  const std::string hint = fmt::format("write {}", dimensionOf(property).example);
  if (property.most < kLargestQuantity)
    node.fail(fmt::format("{:g} must be from {:g} to {:g}{}", value, property.least, property.most,
                          property.withoutEnds ? ", without these two" : ""));
  if (property.optional)
    node.fail(fmt::format("{:g} must not be negative", value), hint + "; 0 stands for \"not known\"");
  node.fail(fmt::format("{:g} must be more than {:g}", value, property.least), hint);
}

// Of toughness and surface energy the one that is not given.
void linkToughness(const SceneNode& node, Material& material) {
  const bool toughness = node.has("toughness"), energy = node.has("surfaceEnergy");
  const bool elastic = node.has("young") || node.has("poisson");
  if (toughness == energy && (toughness || !elastic)) return;
  if (toughness) {
    if (material.toughness > 0 && material.young == 0)
      node["toughness"].fail("gives a surface energy together with Young's modulus only, which is not known",
                             "give \"young\" too, or \"surfaceEnergy\"");
    material.surfaceEnergy =
        material.toughness > 0
            ? material::surfaceEnergyOf(material.toughness, material.young, material.poisson)
            : 0;
  } else {
    material.toughness = material.young > 0
                             ? material::toughnessOf(material.surfaceEnergy, material.young, material.poisson)
                             : 0;
  }
}

class MaterialReader {
 public:
  MaterialReader(const SceneNode& block, std::vector<Material>& materials)
      : block_(block), materials_(materials) {}

  void run() {
    for (const std::string& name : block_.keys()) read(name);
    for (const std::string& name : block_.keys()) {
      const SceneNode node = block_[name.c_str()];
      if (node.has("inside")) materialIndex(node["inside"], materials_);
    }
  }

 private:
  void read(const std::string& name) {
    if (done_.contains(name)) return;
    const SceneNode node = block_[name.c_str()];
    if (!open_.insert(name).second) node.fail("materials are like each other in a circle");
    Material material;
    size_t own = 0;
    while (own < materials_.size() && materials_[own].name != name) ++own;
    if (node.has("like")) {
      const std::string like = node["like"].text();
      if (like != name && block_.has(like.c_str())) read(like);
      material = materials_[materialIndex(node["like"], materials_)];
    } else if (own < materials_.size()) {
      material = materials_[own];
    }
    material.name = name;
    for (const Property& property : material::properties()) {
      const std::string key(property.name);
      if (node.has(key.c_str())) material.*property.value = readValue(node[key.c_str()], property);
    }
    material.colour = node.vector("colour", kPlain, material.colour);
    linkToughness(node, material);
    material.inside = node.text("inside", material.inside);
    if (material.inside == name) material.inside.clear();
    // Reading others may have added rows, but none of this name.
    own = 0;
    while (own < materials_.size() && materials_[own].name != name) ++own;
    if (own < materials_.size())
      materials_[own] = std::move(material);
    else
      materials_.push_back(std::move(material));
    done_.insert(name);
  }

  const SceneNode& block_;
  std::vector<Material>& materials_;
  std::set<std::string> done_, open_;
};

}  // namespace

void readMaterials(const SceneNode& root, std::vector<Material>& materials) {
  materials.assign(material::presets().begin(), material::presets().end());
  if (!root.has("materials")) return;
  const SceneNode block = root["materials"];
  MaterialReader(block, materials).run();
}

uint32_t materialIndex(const SceneNode& node, std::span<const Material> materials) {
  const std::string name = node.text();
  if (const Material* found = material::find(materials, name))
    return static_cast<uint32_t>(found - materials.data());
  std::vector<std::string_view> known;
  for (const Material& m : materials) known.push_back(m.name);
  node.fail(fmt::format("there is no material \"{}\"", name), suggestion(name, known));
}

Json materialJson(const Material& material) {
  Json json = Json::object();
  for (const Property& property : material::properties()) json[property.name] = material.*property.value;
  json["colour"] = {material.colour.x(), material.colour.y(), material.colour.z()};
  json["inside"] = material.inside.empty() ? material.name : material.inside;
  return json;
}

}  // namespace sunder::world
