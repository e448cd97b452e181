#include "sunder/fluid/pressure/pcisph.h"

#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/fluid/coupling/body_density.h"
#include "sunder/fluid/kernel.h"

#include <algorithm>

namespace sunder::fluid {

namespace {

constexpr uint32_t kLeastIterations = 3;  // as published

// Sum of |V grad W|^2 over a lattice of such a spacing; the sum of the gradients themselves is zero.
double latticeSquares(double spacing, double support) {
  const CubicKernel kernel(support);
  const int reach = int(support / spacing) + 1;
  const double volume = spacing * spacing * spacing;
  double sum = 0;
  for (int i = -reach; i <= reach; ++i)
    for (int j = -reach; j <= reach; ++j)
      for (int k = -reach; k <= reach; ++k) {
        const Vec3 x = spacing * Vec3(i, j, k);
        sum += (volume * kernel.gradientFactor(x.norm()) * x).squaredNorm();
      }
  return sum;
}

}  // namespace

Solved solvePcisph(const PressureStep& step, const SolverSettings& settings, std::span<float> kappa) {
  const ProfileScope scope("predictive pressure");
  PressureArrays& arrays = step.arrays;
  const double dt = step.dt;
  const auto factor = float(1 / (2 * dt * dt * latticeSquares(step.model.diameter, step.model.support)));
  parallelFor(step.size(), [&](size_t i) { arrays.applied[i] = 0; });
  SolverSettings solver = settings;
  solver.least = std::max(solver.least, std::min(kLeastIterations, solver.most));
  const Solved solved = iterate(solver, [&] {
    std::vector<Vec4f>& trial = arrays.gradient;  // where the particles would be
    parallelFor(step.size(), [&](size_t i) {
      trial[i] = step.neighbours.place[i];
      trial[i].head<3>() += float(dt) * step.motion[i].head<3>();
    });
    PairSums moved = step.sums();
    moved.place = trial;
    sumValues(moved, arrays.error);
    parallelFor(step.size(), [&](size_t i) { arrays.error[i] -= 1; });
    addPredictedDensity(step.coupling, dt, step.positions, step.motion, arrays.error, arrays.bodyRate);
    parallelFor(step.size(), [&](size_t i) {
      arrays.stiffness[i] = std::max(factor * arrays.error[i], -arrays.applied[i]);
    });
    applyPressure(step);
    return meanError(arrays.error, step.model.settings.mean);
  });
  parallelFor(step.size(), [&](size_t i) { kappa[i] = arrays.applied[i] * float(dt * dt); });
  pressFixedBodies(step, arrays.applied);
  return solved;
}

}  // namespace sunder::fluid
