// Viscosity: explicit where a step is short enough for it, else implicit, by conjugate gradients.
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/fluid/solver/fluid.h"

#include <algorithm>
#include <cmath>

namespace sunder::fluid {

namespace {

// Of support^2 / viscosity: the longest explicit step. Velocities that change sign from each particle of a
// lattice to the next grow beyond 0.051 (0.058 with full forces), and sooner where particles are crowded.
constexpr double kExplicitLimit = 0.02;
constexpr double kTolerance = 1e-4;  // of the change that the first residual asks for
constexpr uint32_t kMostIterations = 200;

// By mass: what particles exchange is even then, and the system symmetric.
double product(std::span<const Vec4f> a, std::span<const Vec4f> b, std::span<const Vec4f> motion) {
  return parallelReduce(
      a.size(), 0.0,
      [&](size_t begin, size_t end) {
        double sum = 0;
        for (size_t i = begin; i < end; ++i)
          sum += double(a[i].head<3>().dot(b[i].head<3>())) / double(motion[i].w());
        return sum;
      },
      [](double x, double y) { return x + y; });
}

}  // namespace

void Fluid::applyViscosity(double dt, FluidStep& report) {
  double most = 0;
  for (const FluidPhase& phase : phases_) most = std::max(most, phase.viscosity);
  if (!(most > 0)) return;
  const ProfileScope scope("viscosity");
  std::vector<float> strength;
  const double scale = settings_.viscousForces == ViscousForces::Central ? 10 : 2;  // to the Laplacian
  for (const FluidPhase& phase : phases_)
    strength.push_back(float(scale * dt * phase.viscosity * phase.density / settings_.referenceDensity));
  parallelFor(size(), [&](size_t i) {
    stiffness_[i] = strength[phase_[i]];
    predicted_[i] = density_[i].w() + boundary_[i].w();
  });
  std::vector<Vec4f> out(size());
  // The change of a motion by friction over the step.
  const auto exchange = [&](std::span<const Vec4f> of) {
    PairSums sums = pairs();
    sums.motion = of;
    sumViscosity(sums, settings_.viscousForces, stiffness_, predicted_, out);
    parallelFor(size(), [&](size_t i) { out[i] *= motion_[i].w(); });
  };
  exchange(motion_);
  if (dt * most <= kExplicitLimit * support_ * support_) {
    parallelFor(size(), [&](size_t i) { motion_[i].head<3>() += out[i].head<3>(); });
    return;
  }
  // (1 - exchange) change = exchange of the motion as it is.
  std::vector<Vec4f> change(size(), Vec4f::Zero()), residual = out, way = out;
  double left = product(residual, residual, motion_);
  const double enough = kTolerance * kTolerance * left;
  while (left > enough && report.viscosityIterations < kMostIterations) {
    exchange(way);
    parallelFor(size(), [&](size_t i) { out[i] = way[i] - out[i]; });
    const double steep = product(way, out, motion_);
    if (!(steep > 0)) break;
    const auto step = float(left / steep);
    parallelFor(size(), [&](size_t i) {
      change[i] += step * way[i];
      residual[i] -= step * out[i];
    });
    const double now = product(residual, residual, motion_);
    const auto part = float(now / left);
    parallelFor(size(), [&](size_t i) { way[i] = residual[i] + part * way[i]; });
    left = now;
    ++report.viscosityIterations;
  }
  report.viscosityMissed = left > enough;
  parallelFor(size(), [&](size_t i) { motion_[i].head<3>() += change[i].head<3>(); });
}

}  // namespace sunder::fluid
