// Bodies as the solvers of the fluid see them: densities of several, velocities, impulses, friction.
#include "sunder/fluid/coupling/body_coupling.h"

#include "sunder/fluid/coupling/body_density.h"
#include "sunder/fluid/coupling/wall_friction.h"

#include "wall_map.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

constexpr double kCouplingSupport = 0.08;

BoundaryBody halfSpace(const Vec3& normal, double offset) {
  BoundaryBody body;
  body.map = std::make_shared<const WallMap>(std::vector<Wall>{{normal, offset}}, kCouplingSupport);
  return body;
}

// One particle at a height above the plane y = 0.
std::vector<Vec4f> at(double height) { return {Vec4f(0, float(height), 0, 0)}; }

BodyCoupling coupled(const std::vector<BoundaryBody>& bodies, const std::vector<Vec4f>& place) {
  BodyCoupling coupling;
  coupling.bodies = bodies;
  coupling.clearImpulses();
  findBodies(place, Vec3::Zero(), coupling);
  return coupling;
}

TEST(BodyDensity, BodiesOnTheSameSideCountAsOneAndOnOppositeSidesAddUp) {
  const double height = 0.02;
  const BoundaryBody floor = halfSpace(Vec3::UnitY(), 0), ceiling = halfSpace(-Vec3::UnitY(), -2 * height);
  const BodyCoupling one = coupled({floor}, at(height));
  const float value = one.density[0].w();
  ASSERT_GT(value, 0.1f);
  EXPECT_EQ(one.norm(0), nullptr);
  EXPECT_TRUE(one.touches(0));
  // Twice the same floor: the fourth root of two fourth powers.
  const BodyCoupling twice = coupled({floor, floor}, at(height));
  ASSERT_NE(twice.norm(0), nullptr);
  EXPECT_NEAR(twice.norm(0)->power, 4, 1e-5);
  EXPECT_NEAR(twice.density[0].w(), std::pow(2.0, 0.25) * double(value), 1e-5);
  const BodyCoupling between = coupled({floor, ceiling}, at(height));
  ASSERT_NE(between.norm(0), nullptr);
  EXPECT_NEAR(between.norm(0)->power, 1, 1e-5);
  EXPECT_NEAR(between.density[0].w(), 2 * value, 1e-5);
  EXPECT_NEAR(between.density[0].y(), 0, 1e-4);  // gradients cancel
  EXPECT_FALSE(coupled({floor}, at(1)).touches(0));
}

// The gradient is that of the joined value; samples of the bodies add up to it.
TEST(BodyDensity, TheGradientOfSeveralIsThatOfTheirNorm) {
  const std::vector<BoundaryBody> corner = {halfSpace(Vec3::UnitY(), 0), halfSpace(Vec3(0.6, 0.8, 0), 0.002)};
  const auto valueAt = [&](double y) { return double(coupled(corner, at(y)).density[0].w()); };
  const BodyCoupling coupling = coupled(corner, at(0.02));
  // Walls are flat, so the power is the same everywhere.
  const double slope = (valueAt(0.0205) - valueAt(0.0195)) / 0.001;
  EXPECT_NEAR(double(coupling.density[0].y()), slope, 0.02 * std::abs(slope));
  Vec3f sum = Vec3f::Zero();
  for (const Vec4f& sample : coupling.entries.sample) sum += sample.head<3>();
  EXPECT_LT((sum - coupling.density[0].head<3>()).norm(), 1e-4f);
}

TEST(BodyDensity, IsPredictedWhereTheParticleWillBe) {
  const std::vector<BoundaryBody> bodies = {halfSpace(Vec3::UnitY(), 0), halfSpace(Vec3::UnitY(), 0)};
  const double dt = 0.01;
  const std::vector<Vec3> positions = {Vec3(0, 0.02, 0)};
  const std::vector<Vec4f> motion = {Vec4f(0, -1, 0, 1)};
  const BodyCoupling now = coupled(bodies, at(0.02)), then = coupled(bodies, at(0.01));
  std::vector<float> density = {1}, scratch = {7};
  addPredictedDensity(now, dt, positions, motion, density, scratch);
  EXPECT_NEAR(density[0], 1 + then.density[0].w(), 1e-4);
}

TEST(BodyCoupling, MovableBodiesMoveWithTheImpulsesOfTheStep) {
  BoundaryBody body = halfSpace(Vec3::UnitY(), 0);
  body.velocity = Vec3(1, 0, 0);
  body.inverseMass = 0.5;
  body.inverseInertia = 0.25 * Mat3::Identity();
  BodyCoupling coupling = coupled({body}, at(0.02));
  EXPECT_TRUE(coupling.touchesMovable());
  coupling.addImpulse(0, Vec3(0, 0, 1), Vec3(4, 0, 0));
  // 4 N s of 2 kg, and a spin of 0.25 (0, 4, 0) about the centre.
  EXPECT_LT((coupling.velocityAt(0, Vec3::Zero()) - Vec3(3, 0, 0)).norm(), 1e-12);
  EXPECT_LT((coupling.velocityAt(0, Vec3(0, 0, 1)) - Vec3(4, 0, 0)).norm(), 1e-12);
  coupling.fixed = true;
  EXPECT_FALSE(coupling.touchesMovable());
  EXPECT_LT((coupling.velocityAt(0, Vec3(0, 0, 1)) - Vec3(1, 0, 0)).norm(), 1e-12);
}

TEST(BodyCoupling, PressurePushesMovableBodiesOrTheOthers) {
  BoundaryBody light = halfSpace(Vec3::UnitY(), 0);
  light.inverseMass = 1;
  BodyCoupling coupling = coupled({halfSpace(Vec3::UnitY(), 0), light}, at(0.02));
  const std::vector<Vec3> positions = {Vec3(0, 0.02, 0)};
  const std::vector<float> stiffness = {3};
  addPressureImpulses(2, positions, stiffness, true, coupling);
  EXPECT_EQ(coupling.impulses[0].linear.norm(), 0);
  const Vec3 expected = 6 * coupling.entries.sample[1].head<3>().cast<double>();
  EXPECT_LT((coupling.impulses[1].linear - expected).norm(), 1e-9);
  EXPECT_LT(expected.y(), -1);
  addPressureImpulses(2, positions, stiffness, false, coupling);
  EXPECT_LT((coupling.impulses[0].linear - expected).norm(), 1e-9);
  EXPECT_LT((coupling.impulses[1].linear - expected).norm(), 1e-9);
  EXPECT_EQ(meanErrorAtBodies(coupling, std::vector<float>{0.25f}), 0.25);
  EXPECT_EQ(meanErrorAtBodies(coupling, std::vector<float>{-1}), 0);
}

// Coulomb's law for one particle that slides at 2 m/s: gently pressed it loses what the law says, hard
// pressed it stops and no more. The body gets what the particle loses.
TEST(WallFriction, TakesWhatPressesTimesTheCoefficientAndStopsAtMost) {
  FluidModel model = makeFluidModel({});
  addPhase(model, {});
  const Vec3 p(0, 0.02, 0);
  BoundaryBody floor = halfSpace(Vec3::UnitY(), 0);
  floor.friction = 0.5;
  for (const float kappa : {1e-6f, 1.0f}) {
    FluidState state;
    addParticles(model, {&p, 1}, Vec3(2, 0, 0), 0, state);
    const double dt = state.lastStep = 1e-3;
    state.kappa[0] = kappa;
    BodyCoupling coupling = coupled({floor}, at(0.02));
    const double steep = double(coupling.density[0].head<3>().norm());
    applyWallFriction(model, dt, state, coupling);
    const double law = 0.5 * double(kappa) / dt * steep;  // friction * dt * stiffness * gradient
    EXPECT_EQ(law > 2, kappa == 1);
    const double speed = std::max(2 - law, 0.0);
    EXPECT_NEAR(state.velocity(0).x(), speed, 1e-6);
    EXPECT_NEAR(coupling.impulses[0].linear.x(), model.mass(0) * (2 - speed), 1e-6 * model.mass(0));
  }
}

}  // namespace
}  // namespace sunder::fluid
