// Predictive-corrective SPH (Solenthaler and Pajarola 2009), for comparison: particles move on trial, the
// density there is summed anew, and pressures rise or fall by what one factor for all particles makes of the
// error: that of a particle in the middle of a lattice, whose neighbours have the same pressure.
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/fluid/kernel.h"
#include "sunder/fluid/solver/fluid.h"
#include "sunder/fluid/solver/pressure_iteration.h"
#include "sunder/fluid/solver/sph_sums.h"

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

void Fluid::solvePredictive(double dt, FluidStep& report) {
  const ProfileScope scope("predictive pressure");
  const auto factor = float(1 / (2 * dt * dt * latticeSquares(diameter_, support_)));
  parallelFor(size(), [&](size_t i) { applied_[i] = 0; });
  SolverSettings solver = settings_.density;
  solver.least = std::max(solver.least, std::min(kLeastIterations, solver.most));
  iterate(solver, [&] {
    // Where the particles would be.
    parallelFor(size(), [&](size_t i) {
      gradient_[i] = place_[i];
      gradient_[i].head<3>() += float(dt) * motion_[i].head<3>();
    });
    PairSums moved = pairs();
    moved.place = gradient_;
    sumValues(moved, rate_);
    parallelFor(size(), [&](size_t i) { rate_[i] -= 1; });
    addBoundary(dt);
    parallelFor(size(), [&](size_t i) { stiffness_[i] = std::max(factor * rate_[i], -applied_[i]); });
    applyPressure(dt);
    return meanError(rate_, strict());
  }).tell(report);
  parallelFor(size(), [&](size_t i) { kappa_[i] = applied_[i] * float(dt * dt); });
  addImpulses(dt, applied_, false);
}

}  // namespace sunder::fluid
