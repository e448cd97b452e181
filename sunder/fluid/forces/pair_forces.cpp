#include "sunder/fluid/forces/pair_forces.h"

#include "sunder/base/parallel.h"

namespace sunder::fluid {

void setStrengths(const PairForces& forces, std::span<const float> byPhase) {
  const std::span<const Vec4f> fluidDensity = forces.neighbours.density;
  parallelFor(forces.motion.size(), [&](size_t i) {
    forces.strength[i] = byPhase[forces.phases[i]];
    forces.density[i] = fluidDensity[i].w() + forces.boundaryDensity[i].w();
  });
}

void addSums(const PairForces& forces) {
  parallelFor(forces.motion.size(), [&](size_t i) {
    forces.motion[i].head<3>() += forces.motion[i].w() * forces.sum[i].head<3>();
  });
}

}  // namespace sunder::fluid
