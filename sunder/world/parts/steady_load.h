// Which part of the contact impulses of a step is the steady load: what carries the weight of bodies, as in a
// stack at rest. The rest of an impulse is the impact.
//
// The steady load is the solution of the frictionless contact problem in which all bodies are at rest before
// the step and gravity acts on them. Projected Gauss-Seidel solves it, in sweeps up and down the list of
// events. No steady load is larger than the impulse that its contact had.
//
// Contacts that approach at `slow` or faster start without a load, the others with the impulse that they had;
// so the load of high stacks, for which the sweeps are too few, is close to the true one from the start.
// Joints and forces other than gravity are left out: what they carry counts as impact.
//
// Cost: up to 40 passes over the events that are connected, through dynamic bodies, with one of `bodies`.
#pragma once

#include "sunder/rigid/solver/simulation.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sunder::world {

// By event, N s along the normal; 0 for events that are not connected with one of `bodies`. `events` are all
// contacts of the last step (rigid::Simulation::everyContact). `gravityScale` says which part of the gravity
// acts on a body.
std::vector<double> steadyImpulses(const rigid::Simulation& simulation,
                                   std::span<const rigid::ContactEvent> events,
                                   std::span<const uint32_t> bodies,
                                   const std::function<double(uint32_t)>& gravityScale, double slow);

}  // namespace sunder::world
