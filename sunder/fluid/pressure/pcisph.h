// Predictive-corrective SPH (Solenthaler and Pajarola 2009), for comparison: particles move on trial, the
// density there is summed anew, and pressures rise or fall by what one factor for all particles makes of the
// error: that of a particle in the middle of a lattice, whose neighbours have the same pressure. At least
// three iterations, as published.
#pragma once

#include "sunder/fluid/pressure/pressure_iteration.h"
#include "sunder/fluid/pressure/pressure_system.h"

#include <span>

namespace sunder::fluid {

// Before particles move. `kappa` becomes stiffness times dt^2 (FluidState).
Solved solvePcisph(const PressureStep& step, const SolverSettings& solver, std::span<float> kappa);

}  // namespace sunder::fluid
