#include "sunder/fluid/solver/wall_viscosity.h"

#include "sunder/fluid/boundary/boundary_quadrature.h"
#include "sunder/fluid/kernel.h"
#include "sunder/fluid/solver/fluid.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sunder::fluid {

namespace {

constexpr double kNearest = 0.1;  // supports from the surface: nearer particles count as there
constexpr size_t kEntries = 256;
constexpr double kMostValue = 2;

double distanceOf(double value) {
  double low = -1, high = 2;
  for (int k = 0; k < 50; ++k) {
    const double middle = 0.5 * (low + high);
    (planeBoundaryDensity(middle).value > value ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

using Table = std::array<double, kEntries + 1>;
Table makeTable(ViscousForces forces) {
  Table table;
  for (size_t k = 0; k <= kEntries; ++k)
    table[k] = wallFrictionAt(forces, distanceOf(kMostValue * double(k) / double(kEntries)));
  return table;
}

}  // namespace

double wallFrictionAt(ViscousForces forces, double t) {
  const bool central = forces == ViscousForces::Central;
  constexpr int kSteps = 64;
  const CubicKernel kernel(1);
  const double away = std::max(t - 0.5, kNearest);
  double sum = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double s = (i + 0.5) / kSteps;
    double around = 0;
    for (int j = 0; j < kSteps; ++j) {
      const double c = 2 * (j + 0.5) / kSteps - 1;
      // Velocity there less that of the particle, which is one: -s c / away; by the part that is solid.
      around -= std::max(1 - (t + s * c), 0.0) * (central ? 10 * 0.5 * (1 - c * c) : 2) * s * c / away;
    }
    sum -= kernel.gradientFactor(s) * s * s * s * s / (s * s + 0.01) * around;
  }
  return std::max(2 * kPi * sum * 2 / (kSteps * kSteps), 0.0);
}

double wallFriction(ViscousForces forces, double value) {
  static const Table central = makeTable(ViscousForces::Central), full = makeTable(ViscousForces::Full);
  const Table& table = forces == ViscousForces::Central ? central : full;
  const double at = std::clamp(value / kMostValue, 0.0, 1.0) * kEntries;
  const auto k = std::min(size_t(at), kEntries - 1);
  const double part = at - double(k);
  return (1 - part) * table[k] + part * table[k + 1];
}

// Implicit, each particle by itself: a particle in a corner of strong friction stops, and no more.
void Fluid::stick(double dt) {
  for (size_t b = 0; b < bodies_.size(); ++b) {
    const BoundaryBody& body = bodies_[b];
    if (!body.noSlip) continue;
    for (uint32_t e = entries_.bodyStart[b]; e < entries_.bodyStart[b + 1]; ++e) {
      const uint32_t i = entries_.particle[e];
      const Vec4f& sample = entries_.sample[e];
      const double steep = double(sample.head<3>().norm());
      if (!(steep > 0)) continue;
      const Vec3 normal = sample.head<3>().cast<double>() / steep;
      const Vec3 slip = velocity(i) - bodyVelocity(b, positions_[i]);
      const double rate = phases_[phase_[i]].viscosity *
                          wallFriction(settings_.viscousForces, double(sample.w())) / (support_ * support_);
      const Vec3 change = (1 / (1 + dt * rate) - 1) * (slip - slip.dot(normal) * normal);
      motion_[i].head<3>() += change.cast<float>();
      const Vec3 impulse = -mass(i) * change;
      impulses_[b].linear += impulse;
      impulses_[b].angular += (positions_[i] - body.centre).cross(impulse);
    }
  }
}

}  // namespace sunder::fluid
