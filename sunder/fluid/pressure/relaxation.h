// Moves particles, without giving them speed, until none is denser than rest by more than a tolerance: for
// blocks that were just added, which press against corners of walls, or each other, more than water does.
// Rounds of eight iterations of the constant-density solver (dfsph.h), each from the stiffness of the round
// before and with particles at rest; their corrections move particles by a tenth of a diameter at most.
// Bodies do not give way.
#pragma once

#include "sunder/fluid/pressure/pressure_system.h"

#include <cstdint>

namespace sunder::fluid {

// Returns the largest error left, relative to rest, after so many rounds at most. Positions and the order of
// particles change; velocities stay, kappa becomes zero. Neighbours, densities and factors are those of the
// result.
double relaxParticles(const FluidModel& model, double tolerance, uint32_t rounds, FluidState& state,
                      FluidNeighbours& neighbours, BodyCoupling& coupling, PressureArrays& arrays);

}  // namespace sunder::fluid
