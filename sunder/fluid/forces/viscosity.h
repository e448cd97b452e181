// Viscosity of the liquids (FluidPhase::viscosity): explicit where a step is short enough for it, else
// implicit, by conjugate gradients in the product by mass (Weiler, Koschier, Brand and Bender 2018 solve such
// a system for the same central forces). FluidSettings::viscousForces picks those of sph_forces.h: central
// ones keep angular momentum, full ones (Morris, Fox and Zhu 1997) are the Laplacian on lattices too.
//
// Cost: one sum over neighbours, and implicit one more each iteration, of which there are 200 at most.
#pragma once

#include "sunder/fluid/forces/pair_forces.h"

#include <cstdint>

namespace sunder::fluid {

struct ViscosityReport {
  uint32_t iterations = 0;  // 0: explicit
  bool missed = false;      // the tolerance, with all iterations
};
ViscosityReport applyViscosity(const PairForces& forces, double dt);

}  // namespace sunder::fluid
