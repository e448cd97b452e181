#include "sunder/fluid/state/fluid_state.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

FluidModel oilAndWater() {
  FluidModel model = makeFluidModel({});
  addPhase(model, {1000, 1e-6, 0, 0});
  addPhase(model, {800, 1e-4, 0, 0});
  return model;
}

// Five particles of two liquids; each is at its own number along x, and so fast.
FluidState fiveParticles(const FluidModel& model) {
  FluidState state;
  for (int i = 0; i < 5; ++i) {
    const Vec3 p(i, 0, 0);
    addParticles(model, {&p, 1}, Vec3(0, i, 0), uint32_t(i % 2), state);
    state.kappa[i] = float(i) + 0.5f;
    state.kappaRate[i] = float(i) + 0.25f;
  }
  return state;
}

// All arrays tell of the particle with the id that the place has.
void expectWhole(const FluidModel& model, const FluidState& state) {
  for (size_t i = 0; i < state.size(); ++i) {
    const double id = state.ids[i];
    EXPECT_EQ(state.positions[i].x(), id);
    EXPECT_EQ(state.velocity(i).y(), id);
    EXPECT_EQ(state.kappa[i], float(id) + 0.5f);
    EXPECT_EQ(state.kappaRate[i], float(id) + 0.25f);
    EXPECT_EQ(state.phases[i], state.ids[i] % 2);
    EXPECT_EQ(state.motion[i].w(), model.lightness(state.phases[i]));
  }
}

TEST(FluidState, ParticlesStayWholeAsTheyComeGoAndChangePlaces) {
  const FluidModel model = oilAndWater();
  FluidState state = fiveParticles(model);
  EXPECT_EQ(state.motion[1].w(), 1.25f);
  expectWhole(model, state);
  reorderParticles(std::vector<uint32_t>{3, 1, 4, 0, 2}, state);
  EXPECT_EQ(state.ids, (std::vector<uint32_t>{3, 1, 4, 0, 2}));
  expectWhole(model, state);
  EXPECT_FALSE(removeParticles(std::vector<uint8_t>(5, 0), state));
  EXPECT_TRUE(removeParticles(std::vector<uint8_t>{0, 1, 0, 0, 1}, state));
  EXPECT_EQ(state.ids, (std::vector<uint32_t>{3, 4, 0}));
  expectWhole(model, state);
  const Vec3 p(5, 0, 0);  // ids are not given twice
  addParticles(model, {&p, 1}, Vec3::Zero(), 1, state);
  EXPECT_EQ(state.ids.back(), 5u);
}

TEST(FluidState, IsReadAsItWasWritten) {
  const FluidModel model = oilAndWater();
  FluidState state = fiveParticles(model);
  state.steps = 7;
  state.lastStep = 2e-3;
  state.lostEnergy = 0.125;
  std::string bytes;
  ByteWriter writer(bytes);
  saveParticles(state, writer);
  const auto read = [&](const FluidModel& of) {
    ByteReader reader(std::as_bytes(std::span(bytes.data(), bytes.size())), "state");
    FluidState out;
    loadParticles(of, reader, out);
    return out;
  };
  const FluidState again = read(model);
  expectWhole(model, again);
  EXPECT_EQ(hashParticles(again), hashParticles(state));
  EXPECT_EQ(again.ids, state.ids);
  EXPECT_EQ(again.nextId, 5u);
  EXPECT_EQ(again.steps, 7u);
  EXPECT_EQ(again.lastStep, 2e-3);
  EXPECT_EQ(again.lostEnergy, 0.125);
  FluidModel waterAlone = makeFluidModel({});
  addPhase(waterAlone, {});
  EXPECT_THROW(read(waterAlone), Error);  // there is no second liquid
  bytes.resize(bytes.size() - 1);
  EXPECT_THROW(read(model), Error);
}

TEST(FluidState, SpeedEnergyAndPressureAreThoseOfTheFormulas) {
  const FluidModel model = oilAndWater();
  FluidState state = fiveParticles(model);
  EXPECT_EQ(largestSpeed(state.motion), 4);
  // Half of v^2 times density over reference density: 0, 1, 4, 9, 16, every second one of 0.8.
  EXPECT_NEAR(kineticEnergy(state.motion), 0.5 * (0 + 0.8 + 4 + 0.8 * 9 + 16), 1e-6);
  EXPECT_EQ(pressureOf(model, state, 2), 0);  // before the first step
  state.lastStep = 0.5;
  EXPECT_NEAR(pressureOf(model, state, 2), 1000 * (2.5 / 0.25 + 2.25 / 0.5), 1e-9);
  for (size_t i = 0; i < state.size(); ++i) {  // wherever it is
    std::vector<Vec4f> motion = state.motion;
    motion[i].x() = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(largestSpeed(motion)));
  }
}

}  // namespace
}  // namespace sunder::fluid
