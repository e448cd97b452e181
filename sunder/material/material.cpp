#include "sunder/material/material.h"

#include <array>
#include <cmath>
#include <limits>

namespace sunder::material {

namespace {

constexpr double kMost = std::numeric_limits<double>::infinity();

// name, unit, group, member, range, without its ends, may be unknown, meaning
constexpr std::array<Property, 15> kProperties{{
    {"density", "kg/m3", Group::Contact, &Material::density, 0, kMost, true, false, "mass of a volume"},
    {"friction", "", Group::Contact, &Material::friction, 0, 100, false, false,
     "Coulomb friction; of two bodies that touch the geometric mean counts"},
    {"restitution", "", Group::Contact, &Material::restitution, 0, 1, false, false,
     "part of the speed that a bounce keeps; of two the larger counts"},
    {"rollingFriction", "m", Group::Contact, &Material::rollingFriction, 0, kMost, false, false,
     "lever arm that resists rolling"},
    {"young", "Pa", Group::Elastic, &Material::young, 0, kMost, true, true, "Young's modulus"},
    {"poisson", "", Group::Elastic, &Material::poisson, -1, 0.5, true, false, "Poisson's ratio"},
    {"strength", "Pa", Group::Brittle, &Material::strength, 0, kMost, true, true,
     "largest principal stress before a crack starts"},
    {"toughness", "Pa m^0.5", Group::Brittle, &Material::toughness, 0, kMost, true, true,
     "critical stress intensity K_Ic"},
    {"surfaceEnergy", "J/m2", Group::Brittle, &Material::surfaceEnergy, 0, kMost, true, true,
     "energy of a new crack, both sides together"},
    {"viscosity", "m2/s", Group::Liquid, &Material::viscosity, 0, kMost, true, true, "kinematic viscosity"},
    {"surfaceTension", "N/m", Group::Liquid, &Material::surfaceTension, 0, kMost, true, true,
     "surface tension against air"},
    {"roughness", "", Group::Optical, &Material::roughness, 0, 1, false, false, "0 a mirror, 1 chalk"},
    {"metallic", "", Group::Optical, &Material::metallic, 0, 1, false, false, "1 for metals"},
    {"transparency", "", Group::Optical, &Material::transparency, 0, 1, false, false, "1 for clear glass"},
    {"refraction", "", Group::Optical, &Material::refraction, 1, 4, false, false, "index of refraction"},
}};

}  // namespace

const char* name(Group group) {
  switch (group) {
    case Group::Contact:
      return "contact";
    case Group::Elastic:
      return "elastic";
    case Group::Brittle:
      return "brittle";
    case Group::Liquid:
      return "liquid";
    case Group::Optical:
      return "optical";
  }
  return "";
}

bool Property::allows(double number) const {
  if (!std::isfinite(number)) return false;
  if (optional && number == 0) return true;
  return withoutEnds ? number > least && number < most : number >= least && number <= most;
}

std::span<const Property> properties() { return kProperties; }

double surfaceEnergyOf(double toughness, double young, double poisson) {
  return toughness * toughness * (1 - poisson * poisson) / young;
}

double toughnessOf(double surfaceEnergy, double young, double poisson) {
  return std::sqrt(surfaceEnergy * young / (1 - poisson * poisson));
}

const Material* find(std::span<const Material> table, std::string_view name) {
  for (const Material& m : table)
    if (m.name == name) return &m;
  return nullptr;
}

const Material* preset(std::string_view name) { return find(presets(), name); }

const Material& insideOf(std::span<const Material> table, const Material& of) {
  if (of.inside.empty()) return of;
  const Material* inside = find(table, of.inside);
  return inside ? *inside : of;
}

}  // namespace sunder::material
