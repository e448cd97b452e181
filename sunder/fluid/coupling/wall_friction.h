// Dry friction of the fluid on bodies, by Coulomb: at most the body's coefficient times what presses on it in
// the step, and no more than stops the sliding. One particle after the other, in the order of the bodies; the
// body gets what the particle loses.
#pragma once

#include "sunder/fluid/coupling/body_coupling.h"
#include "sunder/fluid/state/fluid_state.h"

namespace sunder::fluid {

// Reads positions and pressures of the step that ends; changes velocities of particles next to bodies with
// friction.
void applyWallFriction(const FluidModel& model, double dt, FluidState& state, BodyCoupling& coupling);

}  // namespace sunder::fluid
