// What forces between neighbours have in common. Each has a strength by liquid; the force of a pair goes with
// the mean of the strengths of both, so what one particle gains the other loses.
#pragma once

#include "sunder/base/math.h"
#include "sunder/fluid/state/fluid_neighbours.h"

#include <span>
#include <vector>

namespace sunder::fluid {

// Views of what such a force reads and writes; they hold until particles change places in memory.
struct PairForces {
  const FluidModel& model;
  const FluidNeighbours& neighbours;
  std::span<const uint8_t> phases;         // by particle
  std::span<const Vec4f> boundaryDensity;  // BodyCoupling::density
  std::span<Vec4f> motion;                 // read, and changed by the force

  // Scratch, by particle: contents are lost.
  std::span<float> strength;  // of the force, by mass: in units of the reference density
  std::span<float> density;   // relative to rest, bodies included
  std::span<Vec4f> sum;       // over the neighbours

  PairSums sums() const { return neighbours.sums(model, motion); }
};

// By liquid: strength(phase) times its density over the reference density.
template <class Strength>
std::vector<float> strengthsByPhase(const FluidModel& model, const Strength& strength) {
  std::vector<float> byPhase;
  for (const FluidPhase& phase : model.phases)
    byPhase.push_back(float(strength(phase) * phase.density / model.settings.referenceDensity));
  return byPhase;
}

inline bool anyStrength(std::span<const float> byPhase) {
  for (const float strength : byPhase)
    if (strength != 0) return true;
  return false;
}

// Sets `strength` and `density` of all particles.
void setStrengths(const PairForces& forces, std::span<const float> byPhase);

// Changes velocities by `sum` times lightness.
void addSums(const PairForces& forces);

}  // namespace sunder::fluid
