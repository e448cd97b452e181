#include "sunder/fluid/pressure/pbf.h"

#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"

#include <algorithm>

namespace sunder::fluid {

Solved solvePbf(const PressureStep& step, const SolverSettings& solver, std::span<Vec3> positions,
                std::span<float> kappa, const std::function<void()>& evaluateAnew) {
  const ProfileScope scope("positions");
  PressureArrays& arrays = step.arrays;
  const double dt = step.dt;
  const auto perStep = float(1 / (dt * dt));
  parallelFor(step.size(), [&](size_t i) { arrays.applied[i] = 0; });
  const Solved solved = iterate(solver, [&] {
    parallelFor(step.size(), [&](size_t i) {
      arrays.error[i] = step.density(i) - 1;
      arrays.stiffness[i] = perStep * std::max(arrays.error[i], 0.0f) * arrays.factor[i];
      positions[i] -= dt * step.motion[i].head<3>().cast<double>();
    });
    applyPressure(step);
    pressFixedBodies(step, arrays.stiffness);  // here, as the gradients of the maps change
    parallelFor(step.size(), [&](size_t i) { positions[i] += dt * step.motion[i].head<3>().cast<double>(); });
    const double error = meanError(arrays.error, step.model.settings.mean);
    evaluateAnew();
    return error;
  });
  parallelFor(step.size(), [&](size_t i) { kappa[i] = arrays.applied[i] / perStep; });
  return solved;
}

}  // namespace sunder::fluid
