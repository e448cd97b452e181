// Position-based fluids (Macklin and Mueller 2013), for comparison: particles have moved, and are moved back
// to where the density is that at rest, with densities, gradients and maps anew in every iteration.
// Corrections go to the velocity, with which the move is made again. Of the published method, artificial
// pressure is left out, as only compression is corrected here, and particles with next to no neighbours have
// no factor instead of a softened one.
#pragma once

#include "sunder/fluid/pressure/pressure_iteration.h"
#include "sunder/fluid/pressure/pressure_system.h"

#include <functional>
#include <span>

namespace sunder::fluid {

// After particles have moved. `positions` are those of `step`, to be written; `evaluateAnew` brings
// densities, bodies and factors to where they are (evaluate of pressure_system.h). `kappa` becomes stiffness
// times dt^2.
Solved solvePbf(const PressureStep& step, const SolverSettings& solver, std::span<Vec3> positions,
                std::span<float> kappa, const std::function<void()>& evaluateAnew);

}  // namespace sunder::fluid
