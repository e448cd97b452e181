#include "sunder/fluid/pressure/iisph.h"

#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"

#include <algorithm>

namespace sunder::fluid {

namespace {
constexpr float kRelaxation = 0.5f, kStart = 0.5f;  // as published
}

Solved solveIisph(const PressureStep& step, const SolverSettings& solver, std::span<float> kappa) {
  const ProfileScope scope("implicit pressure");
  PressureArrays& arrays = step.arrays;
  const auto perStep = float(1 / (step.dt * step.dt));
  parallelFor(step.size(), [&](size_t i) {
    arrays.applied[i] = 0;
    arrays.stiffness[i] = kStart * perStep * kappa[i];
  });
  applyPressure(step);
  const Solved solved = iterate(solver, [&] {
    predictDensityErrors(step);
    parallelFor(step.size(), [&](size_t i) {
      arrays.stiffness[i] =
          std::max(kRelaxation * perStep * arrays.error[i] * arrays.factor[i], -arrays.applied[i]);
    });
    applyPressure(step);
    return meanError(arrays.error, step.model.settings.mean);
  });
  parallelFor(step.size(), [&](size_t i) { kappa[i] = arrays.applied[i] / perStep; });
  pressFixedBodies(step, arrays.applied);
  return solved;
}

}  // namespace sunder::fluid
