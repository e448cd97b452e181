// Surface tension by cohesion and curvature (Akinci, Akinci and Teschner 2013): neighbours attract each other
// beyond half a support and repel each other below, and the gradient of the density, which is a normal scaled
// by how near the surface is, is evened out. Its strength is FluidPhase::tension. Keeps momentum.
#pragma once

#include "sunder/fluid/forces/pair_forces.h"

namespace sunder::fluid {

void applySurfaceTension(const PairForces& forces, double dt);

}  // namespace sunder::fluid
