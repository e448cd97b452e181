// The solver against bodies by density maps.
#include "sunder/fluid/fill.h"
#include "sunder/fluid/solver/fluid.h"

#include "fluid_setting.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

// Specification 10, checks 7 and 23 as far as a narrow tank can show them: it comes to rest, weighs what it
// weighs and fills what it should. (Between walls pressures are too high, as near them less fluid carries
// them.)
TEST(FluidBoundary, AColumnComesToRestAndWeighsWhatItWeighs) {
  const Box3 box{Vec3::Zero(), Vec3(0.4, 2, 0.4)};
  Fluid fluid(settingsOf());
  fluid.addPhase({1000, 1e-6, 0.02, 0});
  fluid.addBody(fixed(settingTank(box)));
  fluid.add(fillBox({Vec3::Zero(), Vec3(0.4, 0.6, 0.4)}, kDiameter), Vec3::Zero());
  fluid.relax();
  run(fluid, 2);
  const double volume = double(fluid.size()) * fluid.particleVolume(), height = volume / (0.4 * 0.4);
  const double weight = 1000 * kGravity * volume;
  EXPECT_LT(kineticOf(fluid), 1e-4 * weight * height);
  double pushed = 0, centre = 0;
  for (int k = 0; k < 100; ++k) {
    fluid.step(2e-3);
    pushed -= fluid.impulses()[0].linear.y() / 0.2;
  }
  EXPECT_NEAR(pushed, weight, 0.01 * weight);
  for (const Vec3& p : fluid.positions()) centre += p.y() / double(fluid.size());
  EXPECT_NEAR(centre, 0.5 * height, 0.02 * height);
}

// Check 20: a lone particle, at the source's distance.
TEST(FluidBoundary, ALoneParticleRestsAndSlides) {
  for (const double offset : {0.0, 0.5}) {
    Fluid fluid(settingsOf());
    fluid.addPhase({});
    fluid.addBody(fixed(planeMap(Vec3::UnitY(), offset)));
    const Vec3 start(0, (0.35 - offset) * kSupport, 0);
    fluid.add({&start, 1}, Vec3::Zero());
    run(fluid, 1, 1e-3);
    EXPECT_NEAR(fluid.positions()[0].y(), (0.3185 - offset) * kSupport, 0.02 * kSupport);
  }
  // On a slope of 30 degrees, without friction.
  const Vec3 normal(-0.5, std::sqrt(0.75), 0), downhill(-std::sqrt(0.75), -0.5, 0);
  Fluid fluid(settingsOf());
  fluid.addPhase({});
  fluid.addBody(fixed(planeMap(normal, 0)));
  const Vec3 start = 0.3185 * kSupport * normal;
  fluid.add({&start, 1}, Vec3::Zero());
  double lowest = 1, highest = 0;
  const double dt = 1e-3;
  for (int k = 0; k < 500; ++k) {
    fluid.step(dt);
    const double height = normal.dot(fluid.positions()[0]) / kSupport;
    if (k > 50) lowest = std::min(lowest, height), highest = std::max(highest, height);
  }
  const double t = 0.5, expected = 0.5 * kGravity * 0.5 * (t * t + t * dt);
  EXPECT_NEAR(downhill.dot(fluid.positions()[0] - start), expected, 0.01 * expected);
  EXPECT_LT((highest - lowest) * kSupport, 1e-3 * kDiameter);
}

// Check 21: a grid of particles keeps its shape on a slope.
TEST(FluidBoundary, AGridSlidesDownASlopeAsOne) {
  const Vec3 normal(-0.5, std::sqrt(0.75), 0), along(std::sqrt(0.75), 0.5, 0);
  Fluid fluid(settingsOf());
  fluid.addPhase({});
  fluid.addBody(fixed(planeMap(normal, 0)));
  std::vector<Vec3> points;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      points.push_back(0.3185 * kSupport * normal + 1.2 * kSupport * (i * along + j * Vec3::UnitZ()));
  fluid.add(points, Vec3::Zero());
  for (int k = 0; k < 1000; ++k) fluid.step(1e-3);
  std::vector<Vec3> at(points.size());
  for (size_t i = 0; i < at.size(); ++i) at[fluid.ids()[i]] = fluid.positions()[i];
  for (size_t i = 0; i < at.size(); ++i)
    for (size_t j = 0; j < i; ++j) EXPECT_NEAR((at[i] - at[j]).norm(), (points[i] - points[j]).norm(), 1e-3);
}

// Check 25: a free body in a cloud of fluid that flies at it.
TEST(FluidBoundary, FluidAndABodyKeepTheirMomentum) {
  Fluid fluid(settingsOf(Vec3::Zero()));
  fluid.addPhase({});
  const double radius = 0.1, mass = 3;
  BoundaryBody body = fixed(ballMap(radius));
  body.inverseMass = 1 / mass;
  const double inertia = 0.4 * mass * radius * radius;
  body.inverseInertia = Mat3::Identity() / inertia;
  body.spin = Vec3(0, 0, 3);
  body.friction = 0.4;
  fluid.addBody(body);
  fluid.add(fillBox({Vec3(-0.6, -0.1, -0.15), Vec3(-0.2, 0.25, 0.15)}, kDiameter), Vec3(3, 0, 0));
  const auto total = [&] {
    std::pair<Vec3, Vec3> sum{
        mass * fluid.body(0).velocity,
        fluid.body(0).position.cross(mass * fluid.body(0).velocity) + inertia * fluid.body(0).spin};
    for (size_t i = 0; i < fluid.size(); ++i) {
      const Vec3 p = fluid.mass(i) * fluid.velocity(i);
      sum.first += p;
      sum.second += fluid.positions()[i].cross(p);
    }
    return sum;
  };
  const auto before = total();
  const double dt = 1e-3;
  for (int k = 0; k < 300; ++k) {
    BoundaryBody& b = fluid.body(0);
    b.position += dt * b.velocity;
    b.centre = b.position;
    b.rotation = Eigen::AngleAxisd(dt * b.spin.norm(), b.spin.normalized()).toRotationMatrix() * b.rotation;
    fluid.step(dt);
    b.velocity += fluid.impulses()[0].linear / mass;
    b.spin += fluid.impulses()[0].angular / inertia;
  }
  const auto after = total();
  EXPECT_GT(fluid.body(0).velocity.x(), 0.5);
  EXPECT_LT((after.first - before.first).norm(), 1e-5 * before.first.norm());
  EXPECT_LT((after.second - before.second).norm(), 1e-4 * (before.second.norm() + before.first.norm()));
}

// Check 26: Coulomb friction on a slope.
TEST(FluidBoundary, FrictionHoldsOnGentleSlopes) {
  for (const double degrees : {25.0, 35.0}) {
    const double angle = degrees * kPi / 180;
    const Vec3 normal(-std::sin(angle), std::cos(angle), 0);
    Fluid fluid(settingsOf());
    fluid.addPhase({});
    BoundaryBody slope = fixed(planeMap(normal, 0));
    slope.friction = std::tan(30 * kPi / 180);
    fluid.addBody(slope);
    const Vec3 start = 0.3185 * kSupport * normal;
    fluid.add({&start, 1}, Vec3::Zero());
    for (int k = 0; k < 500; ++k) fluid.step(1e-3);
    const double way = (fluid.positions()[0] - start).norm();
    if (degrees < 30) {
      EXPECT_LT(way, 0.1 * kDiameter);  // while it settles on the slope
    } else {
      const double expected = 0.5 * kGravity * 0.25 * (std::sin(angle) - slope.friction * std::cos(angle));
      EXPECT_NEAR(way, expected, 0.1 * expected);
    }
  }
}

// Check 24: buoyancy of a ball that is held under water.
TEST(FluidBoundaryFull, ABallUnderWaterIsPushedUpByWhatItDisplaces) {
  const double radius = 0.16;
  const Box3 box{Vec3(-0.6, 0, -0.6), Vec3(0.6, 2, 0.6)};
  Fluid fluid(settingsOf());
  fluid.addPhase({1000, 1e-6, 0.05, 0});
  fluid.addBody(fixed(settingTank(box)));
  BoundaryBody sphere = fixed(ballMap(radius));
  sphere.position = sphere.centre = Vec3(0, 0.42, 0);
  fluid.addBody(sphere);
  std::vector<Vec3> points = fillBox({box.lower, Vec3(0.6, 0.8, 0.6)}, kDiameter);
  points = free(fluid, points);
  fluid.add(points, Vec3::Zero());
  fluid.relax();
  const double force = liftOnceCalm(fluid, 1);
  // The layer in which fluid thins is centred on the surface; around a ball more of it is outside.
  const double displaced = 4 * kPi / 3 * radius * radius * radius + kPi / 3 * radius * kSupport * kSupport;
  const double expected = 1000 * kGravity * displaced;
  EXPECT_NEAR(force, expected, 0.03 * expected);
}

// Check 15: a cube of water falls on a floor, fast.
TEST(FluidBoundaryFull, NothingGoesThroughTheFloor) {
  Fluid fluid(settingsOf());
  fluid.addPhase({});
  fluid.addBody(fixed(settingTank({Vec3(-1.5, 0, -1.5), Vec3(1.5, 6, 1.5)})));
  fluid.add(fillBox({Vec3(-0.6, 0.1, -0.6), Vec3(0.6, 1.3, 0.6)}, kDiameter), Vec3(0, -10, 0));
  double lowest = 1;
  for (double t = 0; t < 2;) {
    const double dt = std::min(fluid.stepLimit(), 5e-3);
    fluid.step(dt);
    t += dt;
    for (const Vec3& p : fluid.positions()) lowest = std::min(lowest, p.y());
  }
  EXPECT_EQ(fluid.size(), 27000u);
  EXPECT_GT(lowest, -kRadius);
}

// Two bodies that hardly reach a particle: powers of what they add are below the smallest number.
TEST(FluidBoundary, NextToNothingIsNextToNothing) {
  struct Faint : BoundaryMap {
    void samples(std::span<const Vec4f> points, std::span<Vec4f> out) const override {
      for (size_t i = 0; i < points.size(); ++i) out[i] = Vec4f(0, 1e-13f, 0, 1e-13f);
    }
    void values(std::span<const Vec4f> points, std::span<float> out) const override {
      std::fill_n(out.begin(), points.size(), 1e-13f);
    }
    Box3 bounds() const override { return {Vec3::Constant(-1), Vec3::Constant(1)}; }
  };
  Fluid fluid(settingsOf());
  fluid.addPhase({1000, 1e-6, 0, 0});
  for (int k = 0; k < 2; ++k) fluid.addBody(fixed(std::make_shared<const Faint>()));
  fluid.add(fillBox({Vec3::Zero(), Vec3::Constant(0.2)}, kDiameter), Vec3::Zero());
  for (int k = 0; k < 3; ++k) fluid.step(1e-3);
  for (const Vec3& p : fluid.positions()) EXPECT_TRUE(p.allFinite());
}

// Twice as much fluid as fits, and a body that goes through the floor: nothing is thrown without bounds.
void expectPressuresEndWhereThereIsNoRoom(int steps) {
  const Box3 box{Vec3::Zero(), Vec3(0.4, 0.4, 0.4)};
  FluidSettings settings = settingsOf();
  settings.farthest = 0.5;
  Fluid fluid(settings);
  fluid.addPhase({1000, 1e-6, 0.02, 0});
  fluid.addBody(fixed(settingTank(box)));
  BoundaryBody plunger = fixed(ballMap(0.1));
  plunger.inverseMass = 0.2;
  plunger.inverseInertia = 50 * Mat3::Identity();
  const uint32_t body = fluid.addBody(plunger);
  for (int k = 0; k < 2; ++k) fluid.add(fillBox(box, kDiameter), Vec3::Zero());
  const double dt = 2e-3;
  for (int k = 0; k < steps; ++k) {
    fluid.body(body).position = fluid.body(body).centre = Vec3(0.2, 0.2 - 0.005 * k, 0.2);
    fluid.body(body).velocity = Vec3(0, -2.5, 0);
    const FluidStep step = fluid.step(dt);
    ASSERT_LE(step.fastest, 1e3);
    // As if every particle were pushed by a support in the step.
    ASSERT_LE(fluid.impulses()[body].linear.norm(), double(fluid.size()) * fluid.mass(0) * kSupport / dt);
  }
}
TEST(FluidBoundary, WhereThereIsNoRoomPressuresEnd) { expectPressuresEndWhereThereIsNoRoom(60); }
TEST(FluidBoundary, WhereThereIsNoRoomPressuresEndAtOnce) { expectPressuresEndWhereThereIsNoRoom(4); }

}  // namespace
}  // namespace sunder::fluid
