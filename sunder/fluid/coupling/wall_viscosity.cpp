#include "sunder/fluid/coupling/wall_viscosity.h"

#include "sunder/fluid/boundary/boundary_quadrature.h"
#include "sunder/fluid/kernel.h"

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

void applyNoSlip(const FluidModel& model, double dt, FluidState& state, BodyCoupling& coupling) {
  const BoundaryEntries& entries = coupling.entries;
  for (size_t b = 0; b < coupling.bodies.size(); ++b) {
    if (!coupling.bodies[b].noSlip) continue;
    const std::vector<double> along =
        rubbedAlong(coupling, b, [&](uint32_t i) { return model.mass(state.phases[i]); });
    for (uint32_t e = entries.bodyStart[b]; e < entries.bodyStart[b + 1]; ++e) {
      const uint32_t i = entries.particle[e];
      const Vec4f& sample = entries.sample[e];
      const double steep = double(sample.head<3>().norm());
      if (!(steep > 0)) continue;
      const Vec3 normal = sample.head<3>().cast<double>() / steep;
      const Vec3 slip = state.velocity(i) - coupling.velocityNextTo(b, e, state.positions[i]);
      const double rate = model.phases[state.phases[i]].viscosity *
                          wallFriction(model.settings.viscousForces, double(sample.w())) /
                          (model.support * model.support);
      const double both = along.empty() ? 1 : 1 + along[e - entries.bodyStart[b]];
      const Vec3 change = (1 / (1 + dt * rate * both) - 1) / both * (slip - slip.dot(normal) * normal);
      state.motion[i].head<3>() += change.cast<float>();
      coupling.rub(b, e, state.positions[i], -model.mass(state.phases[i]) * change);
    }
    coupling.respond(b);
  }
}

}  // namespace sunder::fluid
