// Position-based fluids (Macklin and Mueller 2013), for comparison: particles have moved, and are moved back
// to where the density is that at rest, with densities, gradients and maps anew in every iteration.
// Corrections go to the velocity, with which the move is made again. Of the published method, artificial
// pressure is left out, as only compression is corrected here, and particles with next to no neighbours have
// no factor instead of a softened one.
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/fluid/solver/fluid.h"
#include "sunder/fluid/solver/pressure_iteration.h"
#include "sunder/fluid/solver/sph_sums.h"

#include <algorithm>

namespace sunder::fluid {

void Fluid::solvePositions(double dt, FluidStep& report) {
  const ProfileScope scope("positions");
  const auto perStep = float(1 / (dt * dt));
  parallelFor(size(), [&](size_t i) { applied_[i] = 0; });
  iterate(settings_.density, [&] {
    parallelFor(size(), [&](size_t i) {
      rate_[i] = density_[i].w() + boundary_[i].w() - 1;
      stiffness_[i] = perStep * std::max(rate_[i], 0.0f) * factor_[i];
      positions_[i] -= dt * motion_[i].head<3>().cast<double>();
    });
    applyPressure(dt);
    addImpulses(dt, stiffness_, false);  // here, as the gradients of the maps change
    parallelFor(size(), [&](size_t i) { positions_[i] += dt * motion_[i].head<3>().cast<double>(); });
    const double error = meanError(rate_, strict());
    evaluate();
    return error;
  }).tell(report);
  parallelFor(size(), [&](size_t i) { kappa_[i] = applied_[i] / perStep; });
}

}  // namespace sunder::fluid
