// The particles of a fluid: all that is saved, and all that the next step depends on besides the bodies.
// Arrays have one entry a particle, in an order that changes as particles are sorted along the grid; `ids`
// tell which is which. What is made from them in each step is in fluid_neighbours.h, body_coupling.h and
// pressure_system.h.
#pragma once

#include "sunder/base/math.h"
#include "sunder/fluid/state/fluid_model.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder {
class ByteReader;
class ByteWriter;
}  // namespace sunder

namespace sunder::fluid {

struct FluidState {
  std::vector<Vec3> positions;  // m
  std::vector<Vec4f> motion;    // velocity, m/s, and lightness (sph_sums.h), which follows from the phase
  // Stiffness that the pressure solvers applied in the last step, over the reference density: `kappa` keeps
  // the density, times dt^2 (m^2); `kappaRate` takes away the divergence, times dt (m^2/s). The next step may
  // start from them.
  std::vector<float> kappa, kappaRate;
  std::vector<uint32_t> ids;    // in the order of birth, forever
  std::vector<uint8_t> phases;  // number of the liquid

  uint32_t nextId = 0;    // particles that were ever made
  uint64_t steps = 0;     // that were made
  double lastStep = 0;    // s, its length; 0 before the first
  double lostEnergy = 0;  // kinetic, since vorticity.h gave any back, in its unit (kineticEnergy)

  size_t size() const { return positions.size(); }
  Vec3 velocity(size_t i) const { return motion[i].head<3>().cast<double>(); }
  size_t bytes() const;
};

// Throws Error (Usage) for positions or a velocity that are not finite, or a phase that is not there, Error
// (Limit) for 2^31 particles or more.
void addParticles(const FluidModel& model, std::span<const Vec3> positions, const Vec3& velocity,
                  uint32_t phase, FluidState& state);
// Removes the particles whose number (by place) is set. Whether there was one.
bool removeParticles(std::span<const uint8_t> gone, FluidState& state);
// order[i]: the place of the particle that goes to place i.
void reorderParticles(std::span<const uint32_t> order, FluidState& state);

// Of both solvers in the last step, Pa.
double pressureOf(const FluidModel& model, const FluidState& state, size_t i);
// The largest speed, m/s; not a number if one is not.
double largestSpeed(std::span<const Vec4f> motion);
// Of all, over the reference density and the volume of a particle: m^2/s^2.
double kineticEnergy(std::span<const Vec4f> motion);

void saveParticles(const FluidState& state, ByteWriter& out);
// Throws Error (Format) for what saveParticles cannot have written for such liquids.
void loadParticles(const FluidModel& model, ByteReader& in, FluidState& state);
// Of positions, velocities and ids, in their order.
uint64_t hashParticles(const FluidState& state);

}  // namespace sunder::fluid
