// The forces of a scene on a soft body, as what they add to the acceleration of each vertex. The formulas are
// those for rigid bodies (forces.h), with these differences, since a soft body yields where it is pushed:
//
//   wind        on each vertex its share of the body's force by mass, with the air's velocity relative to it
//   drag        `linear` slows the centre of mass, `angular` the rotation of the body as a whole; vibrations
//               are left to the body's own damping
//   explosion   on each vertex its share of the impulse by mass, with its own distance and direction
//   attractor   by the place of each vertex
//
// A body that is small against distances and does not spin gets what a rigid one would.
#pragma once

#include "sunder/base/math.h"
#include "sunder/world/scene/scene.h"

#include <cstdint>
#include <span>

namespace sunder::world {

struct SoftMatter {
  std::span<const uint32_t> vertices;  // of the body, in the lists that follow
  std::span<const Vec3> positions, velocities;
  std::span<const double> masses;
  double volume = 0;  // m^3
};

// For a force that acts in the step. `gravity` is that of the world.
void addForce(const ForceSpec& force, const SoftMatter& body, const Vec3& gravity, double timeStep,
              std::span<Vec3> accelerations);

}  // namespace sunder::world
