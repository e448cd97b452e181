// Divergence-free SPH (Bender and Koschier 2015, 2017): one solver keeps the density at the end of the step
// at rest before particles move, another takes the divergence from the velocities after they did. Both are
// Jacobi iterations on the same factors and start from the last step's stiffness (FluidSettings::warmStart).
//
// Deviations: densities are relative to rest and sums go over volumes, so liquids of different density are
// one system; iterations go on until particles next to movable bodies are right too; stiffness ends where
// there is no room.
//
// Cost: two sums over neighbours each iteration, and a look into the maps of bodies for the density.
#pragma once

#include "sunder/fluid/pressure/pressure_iteration.h"
#include "sunder/fluid/pressure/pressure_system.h"

#include <span>

namespace sunder::fluid {

// `kappa`: stiffness of the last step times dt^2 (FluidState), and after it of this one. The error is
// relative to rest.
Solved solveConstantDensity(const PressureStep& step, const SolverSettings& solver, std::span<float> kappa);

// `kappaRate`: stiffness times dt. The error is the mean change of the density in a step.
Solved solveDivergence(const PressureStep& step, const SolverSettings& solver, std::span<float> kappaRate);

// The largest rate at which a particle gets denser, relative to rest, 1/s. Writes arrays.error and
// arrays.bodyRate.
double largestDivergence(const PressureStep& step);

}  // namespace sunder::fluid
