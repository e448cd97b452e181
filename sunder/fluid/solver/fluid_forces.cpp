// What acts on a fluid besides its pressure; viscosity.cpp has the one that may be stiff.
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/fluid/solver/fluid.h"
#include "sunder/fluid/solver/sph_sums.h"

#include <algorithm>
#include <cmath>

namespace sunder::fluid {

// What neighbours exchange: `strength` by phase, times its mass, so that what one particle gains another
// loses; `sum` makes velocities of strengths and densities, which are in stiffness_ and predicted_.
template <class Strength, class Sum>
void Fluid::exchange(const Strength& strength, const Sum& sum) {
  std::vector<float> byPhase;
  for (const FluidPhase& phase : phases_)
    byPhase.push_back(float(strength(phase) * phase.density / settings_.referenceDensity));
  if (std::all_of(byPhase.begin(), byPhase.end(), [](float x) { return x == 0; })) return;
  parallelFor(size(), [&](size_t i) {
    stiffness_[i] = byPhase[phase_[i]];
    predicted_[i] = density_[i].w() + boundary_[i].w();
  });
  sum();
  parallelFor(size(), [&](size_t i) { motion_[i].head<3>() += motion_[i].w() * gradient_[i].head<3>(); });
}

void Fluid::applyForces(double dt, FluidStep& report) {
  const ProfileScope scope("forces");
  const double before = stirs() ? kineticEnergy() : 0;
  applyViscosity(dt, report);
  stick(dt);
  exchange([](const FluidPhase& phase) { return phase.smoothing; },
           [&] { sumSmoothing(pairs(), stiffness_, predicted_, gradient_); });
  if (stirs()) {
    lost_ += std::max(before - kineticEnergy(), 0.0);
    applyVorticity(dt);
  }
  exchange([&](const FluidPhase& phase) { return dt * phase.tension; },
           [&] {
             sumTension(pairs(), float(volume_ * settings_.referenceDensity), stiffness_, predicted_,
                        density_, gradient_);
           });
  const Vec3f fall = (dt * settings_.gravity).cast<float>();
  parallelFor(size(), [&](size_t i) { motion_[i].head<3>() += fall; });
  applyDrag(dt);
}

// Coulomb: at most as much as stops the sliding.
void Fluid::rub(double dt) {
  for (size_t b = 0; b < bodies_.size(); ++b) {
    const BoundaryBody& body = bodies_[b];
    if (!(body.friction > 0)) continue;
    for (uint32_t e = entries_.bodyStart[b]; e < entries_.bodyStart[b + 1]; ++e) {
      const uint32_t i = entries_.particle[e];
      const Vec3 gradient = entries_.sample[e].head<3>().cast<double>();
      const double steep = gradient.norm();
      if (!(steep > 0)) continue;
      const Vec3 normal = gradient / steep;
      const Vec3 slip = velocity(i) - bodyVelocity(b, positions_[i]);
      const Vec3 tangent = slip - slip.dot(normal) * normal;
      const double speed = tangent.norm();
      if (!(speed > 0)) continue;
      const double pressed = dt * double(motion_[i].w()) * pressure(i) / settings_.referenceDensity * steep;
      const Vec3 change = -std::min(body.friction * pressed, speed) / speed * tangent;
      motion_[i].head<3>() += change.cast<float>();
      const Vec3 impulse = -mass(i) * change;
      impulses_[b].linear += impulse;
      impulses_[b].angular += (positions_[i] - body.centre).cross(impulse);
    }
  }
}

}  // namespace sunder::fluid
