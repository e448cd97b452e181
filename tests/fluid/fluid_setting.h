// What tests of fluids against bodies share: particles of 4 cm, maps, and a way to let time pass.
#pragma once

#include "sunder/fluid/boundary/density_map.h"
#include "sunder/fluid/solver/fluid.h"
#include "sunder/sdf/analytic_field.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace sunder::fluid {

constexpr double kRadius = 0.02, kDiameter = 0.04, kSupport = 0.08, kGravity = 9.81;

inline BoundaryMapPtr settingTank(const Box3& box, double offset = 0.5) {
  Box3 domain = box;
  domain.lower.array() -= 3 * kSupport;
  domain.upper.array() += 3 * kSupport;
  return std::make_shared<const DensityMap>(
      *sdf::makeBoxField(box), domain,
      DensityMapSettings{.support = kSupport, .cell = 0, .offset = offset, .outside = true});
}

inline BoundaryMapPtr ballMap(double radius, double offset = 0.5) {
  const Vec3 reach = Vec3::Constant(radius + 2 * kSupport);
  return std::make_shared<const DensityMap>(
      *sdf::makeSphereField(Vec3::Zero(), radius), Box3{-reach, reach},
      DensityMapSettings{.support = kSupport, .cell = 0, .offset = offset, .outside = false});
}

inline BoundaryMapPtr planeMap(const Vec3& normal, double offset = 0.5) {
  return std::make_shared<const PlaneMap>(
      normal, 0.0, DensityMapSettings{.support = kSupport, .cell = 0, .offset = offset, .outside = false});
}

inline BoundaryBody fixed(BoundaryMapPtr map) {
  BoundaryBody body;
  body.map = std::move(map);
  return body;
}

inline FluidSettings settingsOf(const Vec3& gravity = {0, -kGravity, 0}) {
  FluidSettings settings;
  settings.radius = kRadius;
  settings.gravity = gravity;
  return settings;
}

inline double kineticOf(const Fluid& fluid) {
  double sum = 0;
  for (size_t i = 0; i < fluid.size(); ++i) sum += 0.5 * fluid.mass(i) * fluid.velocity(i).squaredNorm();
  return sum;
}

// Without the points that are in bodies.
inline std::vector<Vec3> free(const Fluid& fluid, std::vector<Vec3> points, double most = 0.75) {
  std::vector<uint8_t> buried(points.size());
  fluid.findBuried(points, most, buried);
  size_t kept = 0;
  for (size_t i = 0; i < points.size(); ++i)
    if (buried[i] == 0) points[kept++] = points[i];
  points.resize(kept);
  return points;
}

// For as long as the fluid likes its steps.
inline void run(Fluid& fluid, double time, double longest = 2e-3) {
  for (double t = 0; t < time;) {
    const double dt = std::min(fluid.stepLimit(), longest);
    fluid.step(dt);
    t += dt;
  }
}

// The mean push on a body upwards, N, over the steps after the fluid has come to rest.
inline double liftOnceCalm(Fluid& fluid, uint32_t body) {
  constexpr double kStep = 3e-3;
  constexpr int kSteps = 200;
  run(fluid, 1.5, kStep);
  double force = 0;
  for (int k = 0; k < kSteps; ++k) {
    fluid.step(kStep);
    force += fluid.impulses()[body].linear.y() / (kStep * kSteps);
  }
  return force;
}

}  // namespace sunder::fluid
