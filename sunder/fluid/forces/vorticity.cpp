#include "sunder/fluid/forces/vorticity.h"

#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/fluid/sums/sph_forces.h"

#include <algorithm>
#include <cmath>

namespace sunder::fluid {

namespace {

constexpr size_t kVorticityGrain = 4096;
constexpr int kSmoothings = 2;         // with one, more of the energy goes to motion of a few particles' size
constexpr double kMostNegative = 0.1;  // of support^2 over a step: the most negative viscosity

// The energy that a part s of a change of the velocities adds is s * linear + s^2 * square.
struct EnergyGain {
  double linear = 0, square = 0;
};
EnergyGain gainOf(std::span<const Vec4f> motion, std::span<const Vec4f> change) {
  return parallelReduce(
      motion.size(), EnergyGain{},
      [&](size_t begin, size_t end) {
        EnergyGain sum;
        for (size_t i = begin; i < end; ++i) {
          const auto mass = 1 / double(motion[i].w());
          sum.linear += mass * double(motion[i].head<3>().dot(change[i].head<3>()));
          sum.square += 0.5 * mass * double(change[i].head<3>().squaredNorm());
        }
        return sum;
      },
      [](const EnergyGain& a, const EnergyGain& b) {
        return EnergyGain{a.linear + b.linear, a.square + b.square};
      },
      kVorticityGrain);
}

}  // namespace

bool usesBackscatter(std::span<const FluidPhase> phases) {
  return std::any_of(phases.begin(), phases.end(), [](const FluidPhase& p) { return p.vorticity > 0; });
}

void applyBackscatter(const PairForces& forces, double dt, double& lostEnergy) {
  const ProfileScope scope("vorticity");
  const FluidModel& model = forces.model;
  const double most = kMostNegative * model.support * model.support / dt;
  const std::vector<float> byPhase = strengthsByPhase(
      model, [&](const FluidPhase& phase) { return 10 * dt * std::min(phase.vorticity, most); });
  const std::span<Vec4f> motion = forces.motion, change = forces.sum;
  const size_t n = motion.size();
  std::vector<Vec4f> smooth(motion.begin(), motion.end());
  const PairSums sums = forces.neighbours.sums(model, smooth);
  setStrengths(forces, std::vector<float>(byPhase.size(), 1));
  for (int pass = 0; pass < kSmoothings; ++pass) {
    sumSmoothing(sums, forces.strength, forces.density, change);
    parallelFor(n, [&](size_t i) { smooth[i] += change[i]; });
  }
  setStrengths(forces, byPhase);
  sumViscosity(sums, ViscousForces::Central, forces.strength, forces.density, change);
  parallelFor(n, [&](size_t i) { change[i] *= -motion[i].w(); });
  const EnergyGain gain = gainOf(motion, change);
  double part = 1;
  if (gain.linear + gain.square > lostEnergy)
    part =
        2 * lostEnergy / (gain.linear + std::sqrt(gain.linear * gain.linear + 4 * gain.square * lostEnergy));
  lostEnergy = 0;
  const auto scale = float(std::clamp(part, 0.0, 1.0));
  parallelFor(n, [&](size_t i) { motion[i].head<3>() += scale * change[i].head<3>(); });
}

}  // namespace sunder::fluid
