// Implicit incompressible SPH (Ihmsen, Cornelis, Solenthaler, Horvath and Teschner 2014), for comparison: the
// pressures at which the density at the end of the step is that at rest, as a linear system, by relaxed
// Jacobi iterations from half of the last pressures.
//
// The matrix is the one of the constant-density solver: what a pressure does to the density is linear in it,
// and the published diagonal a_ii is the reciprocal of our factor. So an iteration adds the change of the
// pressures to the velocities that are there already, and needs no arrays of its own. The difference lies in
// what iterates: pressures may fall again, down to zero, which asks for half steps.
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/fluid/solver/fluid.h"
#include "sunder/fluid/solver/pressure_iteration.h"

#include <algorithm>

namespace sunder::fluid {

namespace {
constexpr float kRelaxation = 0.5f, kStart = 0.5f;  // as published
}

void Fluid::solveImplicit(double dt, FluidStep& report) {
  const ProfileScope scope("implicit pressure");
  const auto perStep = float(1 / (dt * dt));
  parallelFor(size(), [&](size_t i) {
    applied_[i] = 0;
    stiffness_[i] = kStart * perStep * kappa_[i];
  });
  applyPressure(dt);
  iterate(settings_.density, [&] {
    densityErrors(dt);
    parallelFor(size(), [&](size_t i) {
      stiffness_[i] = std::max(kRelaxation * perStep * rate_[i] * factor_[i], -applied_[i]);
    });
    applyPressure(dt);
    return meanError(rate_, strict());
  }).tell(report);
  parallelFor(size(), [&](size_t i) { kappa_[i] = applied_[i] / perStep; });
  addImpulses(dt, applied_, false);
}

}  // namespace sunder::fluid
