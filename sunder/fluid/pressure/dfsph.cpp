#include "sunder/fluid/pressure/dfsph.h"

#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/fluid/coupling/body_density.h"

#include <algorithm>
#include <limits>

namespace sunder::fluid {

namespace {

// Of (support / dt)^2, pressure over density: depth and impacts that steps can follow need a tenth of it.
// Where there is no room for a particle, nothing else would end it. Walls of particles have holes that only
// more than that keeps shut.
constexpr double kMostPressure = 0.5;
constexpr double kAtBodies = 0.1;  // errors next to a body that moves may be ten times the mean

float mostStiffness(const PressureStep& step) {
  const std::vector<BoundaryBody>& bodies = step.coupling.bodies;
  const double support = step.model.support;
  const bool exact = std::all_of(bodies.begin(), bodies.end(),
                                 [](const BoundaryBody& body) { return !body.map || body.map->exact(); });
  return exact ? float(kMostPressure * support * support / (step.dt * step.dt))
               : std::numeric_limits<float>::infinity();
}

// `scale` takes the memory of the last step to stiffness. Only what presses now starts with it: pressure of a
// particle that has come free would throw it.
void startWarm(const PressureStep& step, std::span<const float> kappa, double scale) {
  PressureArrays& arrays = step.arrays;
  parallelFor(step.size(), [&](size_t i) { arrays.applied[i] = 0; });
  const WarmStart start = step.model.settings.warmStart;
  if (start == WarmStart::None) return;
  const double part = start == WarmStart::Half ? 0.5 * scale : scale;
  parallelFor(step.size(),
              [&](size_t i) { arrays.stiffness[i] = arrays.error[i] > 0 ? float(part) * kappa[i] : 0; });
  applyPressure(step);
}

// Errors by `findErrors`, stiffness from them, until the tolerance is met. `scale`: dt^2 or dt, between
// stiffness and kappa; `errorScale`: from the errors of particles to that of the settings.
template <class FindErrors>
Solved solve(const PressureStep& step, const SolverSettings& solver, std::span<float> kappa, double scale,
             double errorScale, MeanError mean, const FindErrors& findErrors) {
  PressureArrays& arrays = step.arrays;
  const WarmStart start = step.model.settings.warmStart;
  if (start != WarmStart::None) findErrors();
  startWarm(step, kappa, 1 / scale);
  const float most = mostStiffness(step);
  const bool total = start == WarmStart::Half;
  if (!total) std::fill(kappa.begin(), kappa.end(), 0.0f);
  const Solved solved = iterate(solver, [&] {
    findErrors();
    parallelFor(step.size(), [&](size_t i) {
      arrays.stiffness[i] = std::clamp(arrays.error[i] * arrays.factor[i] / float(scale), 0.0f,
                                       std::max(most - arrays.applied[i], 0.0f));
    });
    applyPressure(step);
    if (!total) parallelFor(step.size(), [&](size_t i) { kappa[i] += arrays.stiffness[i] * float(scale); });
    return errorScale * std::max(meanError(arrays.error, mean),
                                 kAtBodies * meanErrorAtBodies(step.coupling, arrays.error));
  });
  if (total) parallelFor(step.size(), [&](size_t i) { kappa[i] = arrays.applied[i] * float(scale); });
  pressFixedBodies(step, arrays.applied);
  return solved;
}

// Rates of the density, from zero up; arrays.bodyRate has what the motion of bodies takes off.
void findDivergences(const PressureStep& step) {
  PressureArrays& arrays = step.arrays;
  if (step.coupling.touchesMovable()) findBodyRates(step.coupling, step.positions, arrays.bodyRate);
  sumRate(step.sums(), arrays.error);
  const double deficient = step.model.settings.deficient;
  parallelFor(step.size(), [&](size_t i) {
    const Vec4f& boundary = step.coupling.density[i];
    const float rate =
        arrays.error[i] + boundary.head<3>().dot(step.motion[i].head<3>()) - arrays.bodyRate[i];
    arrays.error[i] = double(step.density(i)) < deficient ? 0 : std::max(rate, 0.0f);
  });
}

}  // namespace

Solved solveConstantDensity(const PressureStep& step, const SolverSettings& solver, std::span<float> kappa) {
  const ProfileScope scope("constant density");
  return solve(step, solver, kappa, step.dt * step.dt, 1, step.model.settings.mean,
               [&] { predictDensityErrors(step); });
}

Solved solveDivergence(const PressureStep& step, const SolverSettings& solver, std::span<float> kappaRate) {
  const ProfileScope scope("divergence");
  findBodyRates(step.coupling, step.positions, step.arrays.bodyRate);
  return solve(step, solver, kappaRate, step.dt, step.dt, MeanError::Compressed,
               [&] { findDivergences(step); });
}

double largestDivergence(const PressureStep& step) {
  findBodyRates(step.coupling, step.positions, step.arrays.bodyRate);
  findDivergences(step);
  const std::vector<float>& rate = step.arrays.error;
  return rate.empty() ? 0 : double(*std::max_element(rate.begin(), rate.end()));
}

}  // namespace sunder::fluid
