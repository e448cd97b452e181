// The spheres that soft bodies collide with, and what the bodies are like to touch.
#pragma once

#include "sunder/base/math.h"
#include "sunder/geometry/mesh.h"

#include <array>
#include <cstdint>
#include <span>

namespace sunder::soft {

// Moves with its tetrahedron: the centre has those barycentric weights in it, the radius stays.
struct ContactSphere {
  uint32_t tet = 0;
  std::array<double, 4> weights{0.25, 0.25, 0.25, 0.25};  // sum 1
  double radius = 0;                                      // m
  uint32_t body = 0;
};

// The mean of what the corners of a tetrahedron have, with those weights.
inline Vec3 blended(const geometry::Tetrahedron& tet, const std::array<double, 4>& weights,
                    std::span<const Vec3> values) {
  return weights[0] * values[tet[0]] + weights[1] * values[tet[1]] + weights[2] * values[tet[2]] +
         weights[3] * values[tet[3]];
}

struct ContactBody {
  double friction = 0.5, restitution = 0;
  double young =
      1e5;           // Pa: how stiff contacts begin; affects how many rounds a step takes, not where it ends
  bool self = true;  // whether it collides with itself
};

// Of two that touch: friction by the geometric mean, restitution by the larger of both, as between rigid
// bodies.
double frictionOf(double a, double b);
double restitutionOf(double a, double b);

}  // namespace sunder::soft
