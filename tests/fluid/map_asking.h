// What tests of boundary maps share.
#pragma once

#include "sunder/fluid/boundary/density_map.h"

namespace sunder::fluid {

constexpr double kMapSupport = 0.1;

inline Vec4f ask(const DensityMap& map, const Vec3& p) {
  const Vec4f point(float(p.x()), float(p.y()), float(p.z()), 7);
  Vec4f out;
  map.samples({&point, 1}, {&out, 1});
  return out;
}

inline Box3 cube(double half) { return {Vec3::Constant(-half), Vec3::Constant(half)}; }

}  // namespace sunder::fluid
