// How well displacements of a cage undo the penetration of the surface in it. A vertex v of the surface that
// is inside an obstacle by d_v wants to move by t_v = d_v N, all others by nothing:
//
//   E(u) = sum_v a_v | sum_i b_vi u_i - t_v |^2,   a_v: area of the surface around v
//
// The least E that any displacement of the cage's vertices reaches is what a contact method is measured by.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/soft/contact/attachment.h"
#include "sunder/soft/contact/obstacle.h"

#include <span>
#include <vector>

namespace sunder::soft {

struct SurfacePoint {
  TetPoint place;
  double area = 0;  // m^2
};

// t_v for where the obstacles are after the step; `penetrating` counts those that are not zero.
struct PenetrationTargets {
  std::vector<Vec3> offsets;
  uint32_t penetrating = 0;
  double deepest = 0;  // m
};
PenetrationTargets penetrationTargets(std::span<const geometry::Tetrahedron> tets,
                                      std::span<const SurfacePoint> surface,
                                      std::span<const ObstacleBody> obstacles,
                                      std::span<const Vec3> positions);

double offsetError(std::span<const geometry::Tetrahedron> tets, std::span<const SurfacePoint> surface,
                   std::span<const Vec3> targets, std::span<const Vec3> displacements);

// The least E, and the displacements that reach it: least squares by conjugate gradients, to 1e-12 of the
// first residual or `mostIterations`.
struct BestOffsets {
  std::vector<Vec3> displacements;
  double error = 0;
};
BestOffsets bestOffsets(std::span<const geometry::Tetrahedron> tets, std::span<const SurfacePoint> surface,
                        std::span<const Vec3> targets, size_t vertices, size_t mostIterations = 10000);

}  // namespace sunder::soft
