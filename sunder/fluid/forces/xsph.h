// XSPH (Monaghan 1989), here as a change of the velocity itself: a step takes away a part of the difference
// between a particle and its neighbours (FluidPhase::smoothing). Keeps momentum, not angular momentum.
#pragma once

#include "sunder/fluid/forces/pair_forces.h"

namespace sunder::fluid {

void applyXsph(const PairForces& forces);

}  // namespace sunder::fluid
