// Films between solids under water: our own model. Where a body lies flat on another, no particle fits
// between them: the water presses the body down and nothing lifts it. In such places a film has the pressure
// of the fluid around the body, as far as the rim of the film is wet; it presses on both bodies alike.
//
// A film is found on the surface samples of a movable body (surface_samples.h): patches in front of which the
// map of another body leaves no room for two particles. Cost: a look into the maps of the bodies whose boxes
// overlap, for each patch; nothing where no movable body is wet.
#pragma once

#include "sunder/fluid/coupling/body_coupling.h"
#include "sunder/fluid/state/fluid_state.h"

namespace sunder::fluid {

// Adds the impulses of films over a step of `dt` to the bodies, by the pressures that `state` has of the step
// before.
void applyFilms(const FluidModel& model, const FluidState& state, double dt, BodyCoupling& coupling);

}  // namespace sunder::fluid
