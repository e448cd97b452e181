// What acts on bodies besides contacts, joints and the world's gravity. Applied before each step to the
// bodies that are awake; where a force begins or ends its bodies are woken, so that sleep hides nothing.
//
//   gravity     m (a - g): in place of the world's gravity
//   wind        1/2 rho c A |u| u, u the air's velocity relative to the body, A the cross-section of the ball
//   of
//               its volume; never more than brings the body to the air's velocity in one step
//   drag        -m k v and -k I w, with k / (1 + k dt) for k: stable for any k
//   explosion   once, in the step that holds its time: impulse (1 - d / radius) away from the point, d the
//               distance of the body's centre
//   attractor   m a towards the point, a growing linearly up to `radius` and falling with the square beyond
#pragma once

#include "sunder/rigid/solver/simulation.h"
#include "sunder/world/scene/scene.h"

#include <span>

namespace sunder::world {

// The steps in which a force acts, from the first on and before the last.
struct ForceSteps {
  uint64_t first = 0, last = 0;
};
ForceSteps stepsOf(const ForceSpec& force, double timeStep);

// `step` counts from 0; the step goes from step * dt to (step + 1) * dt.
void applyForces(std::span<const ForceSpec> forces, rigid::Simulation& simulation, uint64_t step);

}  // namespace sunder::world
