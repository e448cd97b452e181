// Forces between neighbours by themselves, without a step around them.
#include "sunder/base/random.h"
#include "sunder/fluid/forces/surface_tension.h"
#include "sunder/fluid/forces/viscosity.h"
#include "sunder/fluid/forces/vorticity.h"
#include "sunder/fluid/forces/xsph.h"
#include "sunder/fluid/pressure/pressure_system.h"

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

// A cloud of two liquids with random velocities, and what forces need to know of it.
struct ForcedCloud {
  FluidModel model = makeFluidModel({});
  FluidState state;
  FluidNeighbours neighbours;
  BodyCoupling coupling;
  PressureArrays arrays;

  explicit ForcedCloud(const FluidPhase& phase) {
    addPhase(model, phase);
    FluidPhase lighter = phase;
    lighter.density = 300;
    addPhase(model, lighter);
    RandomStream random(5);
    for (int i = 0; i < 1500; ++i) {
      const Vec3 p = random.pointIn({Vec3::Zero(), Vec3::Constant(0.4)});
      const Vec3 v = random.pointIn({-Vec3::Ones(), Vec3::Ones()});
      addParticles(model, {&p, 1}, v, uint32_t(i % 3 == 0), state);
    }
    findNeighbours(model, state, neighbours);
    evaluate(model, state, neighbours, coupling, arrays);
  }
  PairForces forces() {
    return {model,        neighbours,       state.phases,    coupling.density,
            state.motion, arrays.stiffness, arrays.bodyRate, arrays.gradient};
  }
  Vec3 momentum() const {
    Vec3 sum = Vec3::Zero();
    for (size_t i = 0; i < state.size(); ++i) sum += model.mass(state.phases[i]) * state.velocity(i);
    return sum;
  }
  double momentumSize() const {
    double sum = 0;
    for (size_t i = 0; i < state.size(); ++i) sum += model.mass(state.phases[i]) * state.velocity(i).norm();
    return sum;
  }
};

// Changes velocities, keeps momentum, and does nothing for liquids without it.
template <class Act>
void expectExchange(FluidPhase phase, double FluidPhase::*strength, const Act& act) {
  ForcedCloud cloud(phase);
  const Vec3 before = cloud.momentum();
  const std::vector<Vec4f> start = cloud.state.motion;
  act(cloud);
  EXPECT_TRUE(cloud.state.motion != start);
  EXPECT_LT((cloud.momentum() - before).norm(), 1e-6 * cloud.momentumSize());
  phase.*strength = 0;
  ForcedCloud without(phase);
  act(without);
  EXPECT_TRUE(without.state.motion == start);
}

TEST(PairForces, KeepMomentumOfLiquidsOfDifferentDensity) {
  const FluidPhase ideal{.density = 1000, .viscosity = 0};
  FluidPhase phase = ideal;
  phase.smoothing = 0.1;
  expectExchange(phase, &FluidPhase::smoothing, [](ForcedCloud& c) { applyXsph(c.forces()); });
  phase = ideal;
  phase.tension = 0.5;
  expectExchange(phase, &FluidPhase::tension, [](ForcedCloud& c) { applySurfaceTension(c.forces(), 1e-3); });
  for (const double viscosity : {1e-3, 1.0}) {  // explicit, implicit
    phase = ideal;
    phase.viscosity = viscosity;
    expectExchange(phase, &FluidPhase::viscosity, [&](ForcedCloud& c) {
      const ViscosityReport report = applyViscosity(c.forces(), 1e-3);
      EXPECT_EQ(report.iterations > 0, viscosity == 1 && c.model.phases[0].viscosity > 0);
      EXPECT_FALSE(report.missed);
    });
  }
}

// Friction and smoothing take energy; backscatter gives back what it may, and forgets the rest.
TEST(PairForces, BackscatterGivesNoMoreEnergyThanWasLost) {
  for (const double part : {0.0, 0.01}) {
    ForcedCloud cloud({.density = 1000, .viscosity = 0, .smoothing = 0.1, .vorticity = 10});
    EXPECT_TRUE(usesBackscatter(cloud.model.phases));
    const double start = kineticEnergy(cloud.state.motion);
    applyXsph(cloud.forces());
    const double smoothed = kineticEnergy(cloud.state.motion), may = part * (start - smoothed);
    ASSERT_LT(smoothed, 0.99 * start);
    double lost = may;
    applyBackscatter(cloud.forces(), 1e-3, lost);
    EXPECT_EQ(lost, 0);
    EXPECT_NEAR(kineticEnergy(cloud.state.motion), smoothed + may, 1e-6 * start);
  }
}

}  // namespace
}  // namespace sunder::fluid
