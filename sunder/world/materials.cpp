// Densities and optical values are of handbooks (CRC Handbook of Chemistry and Physics); friction and
// restitution are typical of the material on itself.
#include "sunder/world/scene.h"

#include <array>

namespace sunder::world {

std::span<const Material> builtinMaterials() {
  static const std::array<Material, 18> kMaterials{{
      // name, density, friction, restitution, rolling friction, colour, roughness, metallic, transparency,
      // refraction
      {"default", 1000, 0.5, 0.1, 0, {0.72, 0.72, 0.7}, 0.6, 0, 0, 1.5},
      {"glass", 2500, 0.4, 0.65, 0, {0.92, 0.97, 0.95}, 0.02, 0, 0.95, 1.52},
      {"concrete", 2400, 0.7, 0.15, 0, {0.58, 0.57, 0.55}, 0.9, 0, 0, 1.5},
      {"porcelain", 2400, 0.4, 0.5, 0, {0.95, 0.94, 0.92}, 0.15, 0, 0, 1.5},
      {"plaster", 1000, 0.6, 0.1, 0, {0.93, 0.92, 0.9}, 0.95, 0, 0, 1.5},
      {"limestone", 2600, 0.7, 0.2, 0, {0.8, 0.76, 0.66}, 0.85, 0, 0, 1.55},
      {"granite", 2700, 0.65, 0.3, 0, {0.45, 0.43, 0.43}, 0.5, 0, 0, 1.55},
      {"brick", 1900, 0.65, 0.15, 0, {0.62, 0.3, 0.22}, 0.9, 0, 0, 1.5},
      {"oak", 750, 0.5, 0.3, 0, {0.55, 0.38, 0.22}, 0.55, 0, 0, 1.5},
      {"pine", 500, 0.45, 0.3, 0, {0.78, 0.62, 0.42}, 0.6, 0, 0, 1.5},
      {"cork", 200, 0.6, 0.35, 0, {0.7, 0.52, 0.35}, 0.9, 0, 0, 1.5},
      {"steel", 7850, 0.45, 0.6, 0, {0.68, 0.69, 0.71}, 0.25, 1, 0, 2.5},
      {"aluminium", 2700, 0.5, 0.4, 0, {0.86, 0.87, 0.88}, 0.3, 1, 0, 1.4},
      {"lead", 11340, 0.5, 0.05, 0, {0.4, 0.41, 0.44}, 0.6, 1, 0, 2},
      {"rubber", 1100, 1.0, 0.75, 0.002, {0.12, 0.12, 0.12}, 0.8, 0, 0, 1.52},
      {"plastic", 1050, 0.35, 0.45, 0, {0.75, 0.2, 0.15}, 0.35, 0, 0, 1.46},
      {"ice", 917, 0.04, 0.3, 0, {0.85, 0.93, 0.97}, 0.1, 0, 0.7, 1.31},
      {"water", 998, 0, 0, 0, {0.85, 0.94, 0.965}, 0.0, 0, 0.95, 1.33},
  }};
  return kMaterials;
}

}  // namespace sunder::world
