// How strongly a wall holds viscous fluid that sticks to it (no slip). The solid is thought of as fluid that
// goes on behind the surface, as in boundary maps, and takes part in the sum of the viscosity (sph_forces.h).
// Its velocities continue those of the particle that asks in a straight line through the velocity of the
// body at the effective surface (Takeda et al. 1994, Morris et al. 1997), where half of a map's profile is
// solid. For a flat wall that is an integral over the ball of the kernel that depends on the distance alone,
// and the boundary density tells the distance: so it works for any map, with walls taken as flat.
#pragma once

#include "sunder/fluid/coupling/body_coupling.h"
#include "sunder/fluid/state/fluid_state.h"
#include "sunder/fluid/sums/sph_forces.h"

namespace sunder::fluid {

// Support^2 over viscosity times the rate at which sliding decays by the wall, at a place where the boundary
// density is `value`. A table of 256 entries, made at the first use.
double wallFriction(ViscousForces forces, double value);

// The integral behind it, by the distance from the surface and the offset of the map, in supports:
// planeBoundaryDensity(t) is the boundary density there.
double wallFrictionAt(ViscousForces forces, double t);

// Slows down what slides along bodies without slip, over a step. Implicit, each particle by itself: a
// particle in a corner of strong friction stops, and no more. The body gets what the particle loses.
void applyNoSlip(const FluidModel& model, double dt, FluidState& state, BodyCoupling& coupling);

}  // namespace sunder::fluid
