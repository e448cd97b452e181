#include "sunder/fluid/forces/viscosity.h"

#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/fluid/sums/sph_forces.h"

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

ViscosityReport applyViscosity(const PairForces& forces, double dt) {
  ViscosityReport report;
  const FluidModel& model = forces.model;
  double most = 0;
  for (const FluidPhase& phase : model.phases) most = std::max(most, phase.viscosity);
  if (!(most > 0)) return report;
  const ProfileScope scope("viscosity");
  const ViscousForces kind = model.settings.viscousForces;
  const double scale = kind == ViscousForces::Central ? 10 : 2;  // to the Laplacian
  setStrengths(
      forces, strengthsByPhase(model, [&](const FluidPhase& phase) { return scale * dt * phase.viscosity; }));
  const std::span<Vec4f> motion = forces.motion;
  const size_t n = motion.size();
  std::vector<Vec4f> out(n);
  // The change of a motion by friction over the step.
  const auto friction = [&](std::span<const Vec4f> of) {
    sumViscosity(forces.neighbours.sums(model, of), kind, forces.strength, forces.density, out);
    parallelFor(n, [&](size_t i) { out[i] *= motion[i].w(); });
  };
  friction(motion);
  if (dt * most <= kExplicitLimit * model.support * model.support) {
    parallelFor(n, [&](size_t i) { motion[i].head<3>() += out[i].head<3>(); });
    return report;
  }
  // (1 - friction) change = friction of the motion as it is.
  std::vector<Vec4f> change(n, Vec4f::Zero()), residual = out, direction = out;
  double left = product(residual, residual, motion);
  const double enough = kTolerance * kTolerance * left;
  while (left > enough && report.iterations < kMostIterations) {
    friction(direction);
    parallelFor(n, [&](size_t i) { out[i] = direction[i] - out[i]; });
    const double steep = product(direction, out, motion);
    if (!(steep > 0)) break;
    const auto step = float(left / steep);
    parallelFor(n, [&](size_t i) {
      change[i] += step * direction[i];
      residual[i] -= step * out[i];
    });
    const double now = product(residual, residual, motion);
    const auto part = float(now / left);
    parallelFor(n, [&](size_t i) { direction[i] = residual[i] + part * direction[i]; });
    left = now;
    ++report.iterations;
  }
  report.missed = left > enough;
  parallelFor(n, [&](size_t i) { motion[i].head<3>() += change[i].head<3>(); });
  return report;
}

}  // namespace sunder::fluid
