// Eddies that coarse particles lose too soon. Friction, smoothing and the divergence solver take kinetic
// energy from motion of the size of particles, which it reached from larger eddies sooner than in nature.
// Backscatter gives it back to the larger ones: a negative viscosity that acts on the smoothed velocity
// alone, and never by more energy than was lost since the step before (Jansen and Held 2014, Ocean Modelling
// 80, for another kind of fluid).
//
// Taken instead of micropolar spin (Bender et al. 2017), which gives more details, because forces stay along
// the line of two particles: momentum and angular momentum are kept to rounding, a drop that turns as one
// goes on as it is, and it needs no state. The curl of a spin keeps momentum only in the form that makes such
// a drop turn faster and faster.
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/fluid/solver/fluid.h"
#include "sunder/fluid/solver/sph_sums.h"

#include <algorithm>
#include <cmath>

namespace sunder::fluid {

namespace {
constexpr size_t kVorticityGrain = 4096;
constexpr int kSmoothings = 2;         // with one, more of the energy goes to motion of a few particles' size
constexpr double kMostNegative = 0.1;  // of support^2 over a step: the most negative viscosity
}  // namespace

bool Fluid::stirs() const {
  return std::any_of(phases_.begin(), phases_.end(), [](const FluidPhase& p) { return p.vorticity > 0; });
}

double Fluid::kineticEnergy() const {
  return parallelReduce(
      size(), 0.0,
      [&](size_t begin, size_t end) {
        double sum = 0;
        for (size_t i = begin; i < end; ++i)
          sum += 0.5 * double(motion_[i].head<3>().squaredNorm()) / double(motion_[i].w());
        return sum;
      },
      [](double a, double b) { return a + b; }, kVorticityGrain);
}

void Fluid::applyVorticity(double dt) {
  const ProfileScope scope("vorticity");
  std::vector<float> strength;
  for (const FluidPhase& phase : phases_) {
    const double most = kMostNegative * support_ * support_ / dt;
    strength.push_back(
        float(10 * dt * std::min(phase.vorticity, most) * phase.density / settings_.referenceDensity));
  }
  parallelFor(size(), [&](size_t i) {
    stiffness_[i] = 1;
    predicted_[i] = density_[i].w() + boundary_[i].w();
  });
  std::vector<Vec4f> smooth = motion_;
  PairSums sums = pairs();
  sums.motion = smooth;
  for (int pass = 0; pass < kSmoothings; ++pass) {
    sumSmoothing(sums, stiffness_, predicted_, gradient_);
    parallelFor(size(), [&](size_t i) { smooth[i] += gradient_[i]; });
  }
  parallelFor(size(), [&](size_t i) { stiffness_[i] = strength[phase_[i]]; });
  sumViscosity(sums, ViscousForces::Central, stiffness_, predicted_, gradient_);
  parallelFor(size(), [&](size_t i) { gradient_[i] *= -motion_[i].w(); });
  // The energy that a part s of it adds is s * linear + s^2 * square.
  struct Gain {
    double linear = 0, square = 0;
  };
  const Gain gain = parallelReduce(
      size(), Gain{},
      [&](size_t begin, size_t end) {
        Gain sum;
        for (size_t i = begin; i < end; ++i) {
          const auto mass = 1 / double(motion_[i].w());
          sum.linear += mass * double(motion_[i].head<3>().dot(gradient_[i].head<3>()));
          sum.square += 0.5 * mass * double(gradient_[i].head<3>().squaredNorm());
        }
        return sum;
      },
      [](const Gain& a, const Gain& b) {
        return Gain{a.linear + b.linear, a.square + b.square};
      },
      kVorticityGrain);
  double part = 1;
  if (gain.linear + gain.square > lost_)
    part = 2 * lost_ / (gain.linear + std::sqrt(gain.linear * gain.linear + 4 * gain.square * lost_));
  lost_ = 0;
  const auto scale = float(std::clamp(part, 0.0, 1.0));
  parallelFor(size(), [&](size_t i) { motion_[i].head<3>() += scale * gradient_[i].head<3>(); });
}

}  // namespace sunder::fluid
