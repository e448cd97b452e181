// Eddies that coarse particles lose too soon. Friction, smoothing and the divergence solver take kinetic
// energy from motion of the size of particles, which it reached from larger eddies sooner than in nature.
// Backscatter gives it back to the larger ones: a negative viscosity (FluidPhase::vorticity) that acts on the
// smoothed velocity alone, and never by more energy than was lost since the step before (Jansen and Held
// 2014, Ocean Modelling 80, for another kind of fluid).
//
// Taken instead of micropolar spin (Bender et al. 2017), which gives more details, because forces stay along
// the line of two particles: momentum and angular momentum are kept to rounding, a drop that turns as one
// goes on as it is, and it needs no state but the energy. The curl of a spin keeps momentum only in the form
// that makes such a drop turn faster and faster.
//
// Cost: three sums over neighbours.
#pragma once

#include "sunder/fluid/forces/pair_forces.h"

#include <span>

namespace sunder::fluid {

bool usesBackscatter(std::span<const FluidPhase> phases);

// Takes what it gives back from `lostEnergy` (FluidState) and sets it to zero: what is left was lost for
// good.
void applyBackscatter(const PairForces& forces, double dt, double& lostEnergy);

}  // namespace sunder::fluid
