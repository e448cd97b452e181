#include "sunder/fluid/pressure/pressure_system.h"

#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/fluid/coupling/body_density.h"

#include <algorithm>
#include <cmath>

namespace sunder::fluid {

namespace {

// Of what a particle in the middle of others has: below, a particle has next to no neighbours.
constexpr double kLeastFactor = 1e-3 * 1.7;
constexpr float kOverCompressed = 0.02f;  // beyond rest: up to here a step makes good
constexpr double kEarth = 9.81;           // m/s^2

void resizeArrays(PressureArrays& arrays, size_t count) {
  arrays.factor.resize(count);
  arrays.error.resize(count);
  arrays.stiffness.resize(count);
  arrays.applied.resize(count);
  arrays.bodyRate.resize(count);
  arrays.gradient.resize(count);
}

// Scale of the impulses that a stiffness of one gives over a second, kg.
double impulseScale(const FluidModel& model) { return model.settings.referenceDensity * model.volume; }

}  // namespace

size_t PressureArrays::bytes() const { return factor.size() * (5 * sizeof(float) + sizeof(Vec4f)); }

void evaluate(const FluidModel& model, const FluidState& state, FluidNeighbours& neighbours,
              BodyCoupling& coupling, PressureArrays& arrays) {
  const size_t n = state.size();
  placeParticles(state.positions, neighbours);
  resizeArrays(arrays, n);
  std::vector<float>& factor = arrays.factor;
  std::vector<float>& squares = arrays.error;  // of the gradients of each body, by particle
  {
    const ProfileScope scope("maps");
    findBodies(neighbours.place, neighbours.origin, coupling);
    std::fill(squares.begin(), squares.end(), 0.0f);
    const BoundaryEntries& entries = coupling.entries;
    for (size_t e = 0; e < entries.particle.size(); ++e)
      squares[entries.particle[e]] += entries.sample[e].head<3>().squaredNorm();
  }
  const ProfileScope scope("density");
  sumDensity(neighbours.sums(model, state.motion), neighbours.rows, neighbours.blocks, neighbours.density,
             factor);
  const float least = float(kLeastFactor / (model.support * model.support));
  parallelFor(n, [&](size_t i) {
    const Vec3f boundary = coupling.density[i].head<3>(), sum = neighbours.density[i].head<3>() + boundary;
    // A particle caught between bodies that press from opposite sides cannot give way: pressures that would
    // make it do so all the same are without bounds, and throw the bodies.
    const float caught = std::max(squares[i] - boundary.squaredNorm(), 0.0f);
    const float all = state.motion[i].w() * (sum.squaredNorm() + caught) + factor[i];
    factor[i] = all > least ? all : -1;
  });
  addMobility(coupling, impulseScale(model), state.positions, factor);
  parallelFor(n, [&](size_t i) { factor[i] = factor[i] > 0 ? 1 / factor[i] : 0; });
}

void applyPressure(const PressureStep& step) {
  PressureArrays& arrays = step.arrays;
  sumPressure(step.sums(), arrays.stiffness, arrays.gradient);
  const auto dt = float(step.dt);
  parallelFor(step.size(), [&](size_t i) {
    const float stiffness = arrays.stiffness[i];
    const Vec3f slope = arrays.gradient[i].head<3>() + stiffness * step.coupling.density[i].head<3>();
    step.motion[i].head<3>() -= dt * step.motion[i].w() * slope;
    arrays.applied[i] += stiffness;
  });
  addPressureImpulses(impulseScale(step.model) * step.dt, step.positions, arrays.stiffness, true,
                      step.coupling);
}

void pressFixedBodies(const PressureStep& step, std::span<const float> stiffness) {
  addPressureImpulses(impulseScale(step.model) * step.dt, step.positions, stiffness, false, step.coupling);
}

void predictDensityErrors(const PressureStep& step) {
  const double dt = step.dt;
  std::vector<float>& error = step.arrays.error;
  sumRate(step.sums(), error);
  const auto stays =
      step.coupling.fixed ? 0.0f : float(std::max(1 - dt / std::sqrt(step.model.support / kEarth), 0.0));
  parallelFor(step.size(), [&](size_t i) {
    const float now = step.density(i) - 1;
    const float left = std::clamp(2 * (now - kOverCompressed), 0.0f, std::max(stays * now, 0.0f));
    error[i] = (step.neighbours.density[i].w() - 1) + float(dt) * error[i] - left;
  });
  addPredictedDensity(step.coupling, dt, step.positions, step.motion, error, step.arrays.bodyRate);
}

}  // namespace sunder::fluid
