// What of a fluid stays the same from step to step: its settings, its liquids, and the sizes that follow from
// them. Every unit of a step reads it; none writes it.
#pragma once

#include "sunder/fluid/state/fluid_settings.h"

#include <cstdint>
#include <vector>

namespace sunder::fluid {

struct FluidModel {
  FluidSettings settings;
  std::vector<FluidPhase> phases;
  double diameter = 0;  // m: particles at rest are so far apart
  double support = 0;   // m: radius of the kernel
  double volume = 0;    // m^3, of each particle

  double mass(size_t phase) const { return volume * phases[phase].density; }  // kg, of a particle
  // Reference density over that of the liquid (sph_sums.h).
  float lightness(size_t phase) const { return float(settings.referenceDensity / phases[phase].density); }
};

// Without liquids. Throws Error (Usage) for settings that make no sense.
FluidModel makeFluidModel(const FluidSettings& settings);

// Adds a liquid and returns its number. Throws Error (Usage) for values that make no sense, Error (Limit) for
// more than 255 liquids.
uint32_t addPhase(FluidModel& model, const FluidPhase& phase);

// Throws Error (Usage) naming `what` unless the value is positive and finite.
void requirePositive(double value, const char* what);

}  // namespace sunder::fluid
