#include "sunder/fluid/forces/surface_tension.h"

#include "sunder/fluid/sums/sph_forces.h"

namespace sunder::fluid {

void applySurfaceTension(const PairForces& forces, double dt) {
  const FluidModel& model = forces.model;
  const std::vector<float> byPhase =
      strengthsByPhase(model, [&](const FluidPhase& phase) { return dt * phase.tension; });
  if (!anyStrength(byPhase)) return;
  setStrengths(forces, byPhase);
  const auto mass = float(model.volume * model.settings.referenceDensity);
  sumTension(forces.sums(), mass, forces.strength, forces.density, forces.neighbours.density, forces.sum);
  addSums(forces);
}

}  // namespace sunder::fluid
