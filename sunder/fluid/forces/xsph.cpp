#include "sunder/fluid/forces/xsph.h"

#include "sunder/fluid/sums/sph_forces.h"

namespace sunder::fluid {

void applyXsph(const PairForces& forces) {
  const std::vector<float> byPhase =
      strengthsByPhase(forces.model, [](const FluidPhase& phase) { return phase.smoothing; });
  if (!anyStrength(byPhase)) return;
  setStrengths(forces, byPhase);
  sumSmoothing(forces.sums(), forces.strength, forces.density, forces.sum);
  addSums(forces);
}

}  // namespace sunder::fluid
