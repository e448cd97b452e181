// Implicit incompressible SPH (Ihmsen, Cornelis, Solenthaler, Horvath and Teschner 2014), for comparison: the
// pressures at which the density at the end of the step is that at rest, as a linear system, by relaxed
// Jacobi iterations from half of the last pressures.
//
// The matrix is the one of the constant-density solver: what a pressure does to the density is linear in it,
// and the published diagonal a_ii is the reciprocal of our factor. So an iteration adds the change of the
// pressures to the velocities that are there already, and needs no arrays of its own. The difference lies in
// what iterates: pressures may fall again, down to zero, which asks for half steps.
#pragma once

#include "sunder/fluid/pressure/pressure_iteration.h"
#include "sunder/fluid/pressure/pressure_system.h"

#include <span>

namespace sunder::fluid {

// Before particles move. `kappa`: stiffness of the last step times dt^2 (FluidState), and after it of this
// one.
Solved solveIisph(const PressureStep& step, const SolverSettings& solver, std::span<float> kappa);

}  // namespace sunder::fluid
