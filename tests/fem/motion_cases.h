// Solids in motion for tests.
#pragma once

#include "sunder/fem/motion/motion.h"
#include "sunder/fem/solid/solid.h"
#include "sunder/geometry/mesh.h"

#include "fem_cases.h"
#include "solid_cases.h"

#include <array>
#include <string>
#include <vector>

namespace sunder::fem {

// A solid of one material and its motion, at rest.
struct MovingSolid {
  geometry::TetMesh mesh;
  Solid solid;
  Motion motion;

  MovingSolid(const geometry::TetMesh& rest, const SolidMaterial& material,
              const MotionSettings& settings = {})
      : mesh(rest) {
    solid.set(mesh, std::span(&material, 1));
    motion.set(solid, mesh.positions, settings);
  }
  template <class On>
  std::vector<Pin> pins(const On& on, std::array<bool, 3> held = {true, true, true}) const {
    std::vector<Pin> result;
    for (uint32_t v = 0; v < mesh.positions.size(); ++v)
      if (on(mesh.positions[v])) result.push_back({v, mesh.positions[v], held});
    return result;
  }
  template <class On>
  Vec3 mean(const On& on) const {  // displacement
    Vec3 sum = Vec3::Zero();
    double count = 0;
    for (size_t v = 0; v < mesh.positions.size(); ++v)
      if (on(mesh.positions[v])) {
        sum += motion.positions()[v] - mesh.positions[v];
        ++count;
      }
    return sum / count;
  }
};

inline SolidMaterial soft(double young, double poisson = 0.3, ElasticModel model = ElasticModel::Corotated) {
  SolidMaterial material;
  material.elastic = {young, poisson, 1000};
  material.model = model;
  return material;
}

// A step so long that inertia does not count: its end is the state of rest.
inline constexpr double kStaticStep = 1e5;

inline MotionSettings exactly(MotionScheme scheme = MotionScheme::ImplicitEuler) {
  MotionSettings settings;
  settings.scheme = scheme;
  settings.tolerance = 1e-10;
  return settings;
}

// Turns about `centre` and moves.
inline std::vector<Vec3> rigidVelocities(std::span<const Vec3> positions, const Vec3& centre,
                                         const Vec3& velocity, const Vec3& turn) {
  std::vector<Vec3> result;
  for (const Vec3& x : positions) result.push_back(velocity + turn.cross(x - centre));
  return result;
}

}  // namespace sunder::fem
