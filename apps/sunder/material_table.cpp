#include "material_table.h"

#include "sunder/base/error.h"
#include "sunder/base/text.h"

#include <cctype>
#include <iostream>

#include <fmt/core.h>

namespace sunder::cli {

namespace {

using material::Material;
using material::Property;

// "surfaceEnergy" is "surface_energy" in what the command prints.
std::string outputName(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (std::isupper(static_cast<unsigned char>(c))) out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

bool isKnown(const Material& m, const Property& property) {
  if (property.name == "poisson") return m.young > 0;
  return !property.optional || m.*property.value > 0;
}

std::string cellText(double value, double unit) {
  return value > 0 ? fmt::format("{:.3g}", value / unit) : "-";
}

void describeValues(const Material& m) {
  std::cout << m.name << '\n';
  for (const Property& property : material::properties()) {
    const std::string value =
        isKnown(m, property) ? fmt::format("{:.4g}", m.*property.value) : std::string("not known");
    std::cout << fmt::format("  {:<16} {:>10} {:<9} {}\n", property.name, value, property.unit,
                             property.meaning);
  }
  std::cout << fmt::format("  {:<16} {:g} {:g} {:g}\n", "colour", m.colour.x(), m.colour.y(), m.colour.z());
  std::cout << fmt::format("  {:<16} {}\n", "inside", m.inside.empty() ? m.name : m.inside);
}

}  // namespace

Json materialJson(const Material& m) {
  Json json = {{"name", m.name}};
  for (const Property& property : material::properties())
    json[outputName(property.name)] = isKnown(m, property) ? Json(m.*property.value) : Json(nullptr);
  json["colour"] = {m.colour.x(), m.colour.y(), m.colour.z()};
  json["inside"] = m.inside.empty() ? m.name : m.inside;
  return json;
}

void describeMaterials(const std::string& name, const Settings& settings) {
  if (!name.empty()) {
    const Material* m = material::preset(name);
    std::vector<std::string_view> names;
    for (const Material& each : material::presets()) names.push_back(each.name);
    if (!m)
      throw Error(ErrorKind::Usage, fmt::format("there is no material '{}'", name))
          .hint(suggestion(name, names));
    if (settings.json)
      printJson(materialJson(*m));
    else
      describeValues(*m);
    return;
  }
  if (settings.json) {
    Json list = Json::array(), units = Json::object();
    for (const Material& m : material::presets()) list.push_back(materialJson(m));
    for (const Property& property : material::properties()) units[outputName(property.name)] = property.unit;
    printJson({{"materials", list}, {"units", units}});
    return;
  }
  // The unit is in the head of a column; "-" where a value is not known.
  std::cout << fmt::format("{:<10} {:>7} {:>8} {:>8} {:>7} {:>8} {:>8} {:>9} {:>8} {:>9} {:>8}\n", "material",
                           "density", "friction", "restit.", "Young", "Poisson", "strength", "toughness",
                           "energy", "viscosity", "tension");
  std::cout << fmt::format("{:<10} {:>7} {:>8} {:>8} {:>7} {:>8} {:>8} {:>9} {:>8} {:>9} {:>8}\n", "",
                           "kg/m3", "", "", "GPa", "", "MPa", "MPa m^0.5", "J/m2", "mm2/s", "mN/m");
  for (const Material& m : material::presets())
    std::cout << fmt::format("{:<10} {:>7} {:>8} {:>8} {:>7} {:>8} {:>8} {:>9} {:>8} {:>9} {:>8}\n", m.name,
                             m.density, m.friction, m.restitution, cellText(m.young, 1e9),
                             m.young > 0 ? fmt::format("{:g}", m.poisson) : "-", cellText(m.strength, 1e6),
                             cellText(m.toughness, 1e6), cellText(m.surfaceEnergy, 1),
                             cellText(m.viscosity, 1e-6), cellText(m.surfaceTension, 1e-3));
}

}  // namespace sunder::cli
