// What things are made of: one struct for every method of the house. A body or a liquid names one material;
// contact, elasticity, fracture, liquids and pictures each take their values from it, as do recordings. SI
// units.
//
// Design. The table of properties below is the only list of the numbers of a material: reading a scene,
// writing the resolved scene, recording, `sunder describe materials` and the tests go through it, so a new
// number is one row here and one in the schema. Methods keep small inputs of their own (fem::ElasticMaterial,
// fracture::BrittleMaterial, fluid::FluidPhase, show::Look), which are made from a Material where they are
// needed and hold no values of named materials.
//
// A value of 0 means "not known" where Property::optional says so: steel has no brittle strength, glass no
// viscosity. The method that needs such a value refuses the material or says what it takes instead.
//
// Presets and their sources: docs/materials.md.
#pragma once

#include "sunder/base/math.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sunder::material {

struct Material {
  std::string name;

  // Contact.
  double density = 1000;                     // kg/m^3
  double friction = 0.5, restitution = 0.1;  // Coulomb; part of the approach speed that a bounce keeps
  double rollingFriction = 0;                // m: lever arm that resists rolling

  // Elastic: isotropic and linear. Poisson's ratio counts where Young's modulus is known.
  double young = 0;  // Pa; 0: not known
  double poisson = 0.22;

  // Brittle; 0: not known. The surface energy is that of both new sides together, the energy release rate
  // G at which a crack grows; the toughness is the stress intensity K_Ic (mode I, plane strain).
  double strength = 0;       // Pa: largest principal stress
  double toughness = 0;      // Pa m^(1/2)
  double surfaceEnergy = 0;  // J/m^2

  // Liquid; 0: not known.
  double viscosity = 0;       // m^2/s, kinematic
  double surfaceTension = 0;  // N/m, against air

  // Optical.
  Vec3 colour{0.7, 0.7, 0.7};  // linear; of transparent materials what two centimetres let through
  double roughness = 0.6, metallic = 0, transparency = 0, refraction = 1.5;

  // The material that faces made by breaking or cutting look like; empty: this one.
  std::string inside = {};

  bool operator==(const Material&) const = default;
};

enum class Group { Contact, Elastic, Brittle, Liquid, Optical };
const char* name(Group group);

// One number of a material.
struct Property {
  std::string_view name;  // in scenes and recordings: "surfaceEnergy"
  std::string_view unit;  // "J/m2"; empty: a plain number
  Group group;
  double Material::*value;
  double least, most;  // the range
  bool withoutEnds;    // whether the ends of the range are excluded
  bool optional;       // 0 means "not known", whatever the range
  std::string_view meaning;

  bool allows(double number) const;  // false for what is not finite
};

// All numbers but the colour, in the order of the struct.
std::span<const Property> properties();

// Energy release rate and stress intensity of a crack in plane strain, G = K^2 (1 - nu^2) / E (Irwin 1957).
// `young` must be positive.
double surfaceEnergyOf(double toughness, double young, double poisson);
double toughnessOf(double surfaceEnergy, double young, double poisson);

// The materials that every scene knows; the first is "default". Of their toughness and surface energy the
// latter is given and the former follows.
std::span<const Material> presets();
const Material* preset(std::string_view name);  // null where there is none

// Rows of a table by name; null where there is none.
const Material* find(std::span<const Material> table, std::string_view name);
// The material that inner faces of `of` look like: its `inside` if the table has it, else `of` itself.
const Material& insideOf(std::span<const Material> table, const Material& of);

}  // namespace sunder::material
