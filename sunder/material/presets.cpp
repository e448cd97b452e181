// The built-in materials; docs/materials.md has the source of every value.
#include "sunder/material/material.h"

#include <vector>

namespace sunder::material {

namespace {

struct ContactValues {
  double density, friction, restitution, rollingFriction = 0;
};
struct SolidValues {
  double young = 0, poisson = 0.22, strength = 0, surfaceEnergy = 0;
};
struct OpticalValues {
  Vec3 colour;
  double roughness, metallic, transparency, refraction;
};

Material made(const char* name, const ContactValues& contact, const SolidValues& solid,
              const OpticalValues& optical) {
  Material m;
  m.name = name;
  m.density = contact.density;
  m.friction = contact.friction;
  m.restitution = contact.restitution;
  m.rollingFriction = contact.rollingFriction;
  m.young = solid.young;
  m.poisson = solid.poisson;
  m.strength = solid.strength;
  m.surfaceEnergy = solid.surfaceEnergy;
  if (m.surfaceEnergy > 0) m.toughness = toughnessOf(m.surfaceEnergy, m.young, m.poisson);
  m.colour = optical.colour;
  m.roughness = optical.roughness;
  m.metallic = optical.metallic;
  m.transparency = optical.transparency;
  m.refraction = optical.refraction;
  return m;
}

std::vector<Material> makePresets() {
  // name; density, friction, restitution, rolling friction; Young, Poisson, strength, surface energy;
  // colour, roughness, metallic, transparency, refraction
  std::vector<Material> all{
      made("default", {1000, 0.5, 0.1}, {}, {{0.72, 0.72, 0.7}, 0.6, 0, 0, 1.5}),
      made("glass", {2500, 0.4, 0.65}, {7e10, 0.22, 4e7, 8}, {{0.92, 0.97, 0.95}, 0.02, 0, 0.95, 1.52}),
      made("concrete", {2400, 0.7, 0.15}, {3e10, 0.2, 3e6, 100}, {{0.58, 0.57, 0.55}, 0.9, 0, 0, 1.5}),
      made("porcelain", {2400, 0.4, 0.5}, {6e10, 0.2, 3e7, 20}, {{0.95, 0.94, 0.92}, 0.15, 0, 0, 1.5}),
      made("plaster", {1000, 0.6, 0.1}, {4.5e9, 0.22, 2e6, 10}, {{0.93, 0.92, 0.9}, 0.95, 0, 0, 1.5}),
      made("limestone", {2600, 0.7, 0.2}, {4e10, 0.25, 5e6, 50}, {{0.8, 0.76, 0.66}, 0.85, 0, 0, 1.55}),
      made("granite", {2700, 0.65, 0.3}, {5e10, 0.25, 1e7, 100}, {{0.45, 0.43, 0.43}, 0.5, 0, 0, 1.55}),
      made("brick", {1900, 0.65, 0.15}, {1.5e10, 0.2, 2.5e6, 40}, {{0.62, 0.3, 0.22}, 0.9, 0, 0, 1.5}),
      made("oak", {750, 0.5, 0.3}, {1.1e10, 0.35}, {{0.55, 0.38, 0.22}, 0.55, 0, 0, 1.5}),
      made("pine", {500, 0.45, 0.3}, {9e9, 0.35}, {{0.78, 0.62, 0.42}, 0.6, 0, 0, 1.5}),
      made("cork", {200, 0.6, 0.35}, {}, {{0.7, 0.52, 0.35}, 0.9, 0, 0, 1.5}),
      made("steel", {7850, 0.45, 0.6}, {2e11, 0.3}, {{0.68, 0.69, 0.71}, 0.25, 1, 0, 2.5}),
      made("aluminium", {2700, 0.5, 0.4}, {7e10, 0.33}, {{0.86, 0.87, 0.88}, 0.3, 1, 0, 1.4}),
      made("lead", {11340, 0.5, 0.05}, {1.6e10, 0.44}, {{0.4, 0.41, 0.44}, 0.6, 1, 0, 2}),
      made("rubber", {1100, 1, 0.75, 0.002}, {5e6, 0.48}, {{0.12, 0.12, 0.12}, 0.8, 0, 0, 1.52}),
      made("plastic", {1050, 0.35, 0.45}, {2.5e9, 0.36}, {{0.75, 0.2, 0.15}, 0.35, 0, 0, 1.46}),
      made("ice", {917, 0.04, 0.3}, {9e9, 0.33, 1e6, 2}, {{0.85, 0.93, 0.97}, 0.1, 0, 0.7, 1.31}),
      made("water", {998, 0, 0}, {}, {{0.85, 0.94, 0.965}, 0, 0, 0.95, 1.33}),
  };
  Material& water = all.back();
  water.viscosity = 1e-6;
  water.surfaceTension = 0.0728;
  return all;
}

}  // namespace

std::span<const Material> presets() {
  static const std::vector<Material> kPresets = makePresets();
  return kPresets;
}

}  // namespace sunder::material
