#include "sunder/base/error.h"
#include "sunder/rigid/solver/rotation.h"

#include "rigid/rigid_scenes.h"

#include <limits>

#include <gtest/gtest.h>

namespace sunder::rigid {

TEST(Flight, FollowsTheParabolaToRounding) {
  Simulation world{SimulationSettings{}};
  BodySettings ball;
  ball.shape = makeSphere(0.1);
  ball.pose.position = Vec3(1, 2, 3);
  ball.velocity = Vec3(3, 20, -5);
  const BodyIndex body = world.addBody(ball);
  for (int i = 0; i < 600; ++i) {
    world.step();
    const double t = (i + 1) / 60.0;
    const Vec3 expected = Vec3(1, 2, 3) + t * Vec3(3, 20, -5) + 0.5 * t * t * Vec3(0, -9.81, 0);
    ASSERT_LT((world.centre(body) - expected).norm(), 1e-11) << i;
  }
}

TEST(Flight, TorqueFreeBodyKeepsEnergyAndMomentum) {
  // About the middle axis, where the motion is unstable and the body turns over again and again.
  for (const Vec3& angularVelocity : {Vec3(0.01, 7, 0.02), Vec3(3, 4, 5), Vec3(0.001, 0.001, 30)}) {
    SimulationSettings settings;
    settings.gravity = Vec3::Zero();
    Simulation world{settings};
    BodySettings box;
    box.shape = makeBox(Vec3(0.1, 0.2, 0.35));
    box.angularVelocity = angularVelocity;
    const BodyIndex body = world.addBody(box);
    const double energy = world.energy().total();
    const Vec3 momentum = world.angularMomentum();
    double worst = 0, turned = 1;
    const Vec3 direction = world.pose(body).localDirection(momentum.normalized());
    for (int i = 0; i < 3600; ++i) {
      world.step();
      worst = std::max(worst, std::abs(world.energy().total() / energy - 1));
      turned = std::min(turned, world.pose(body).localDirection(momentum.normalized()).dot(direction));
    }
    EXPECT_LT(worst, 1e-3) << angularVelocity.transpose();
    EXPECT_LT((world.angularMomentum() - momentum).norm(), 1e-10 * momentum.norm());
    if (angularVelocity.y() == 7) {
      EXPECT_LT(turned, -0.9) << "the body did not turn over";
    }
  }
}

TEST(Flight, WhatFliesTogetherIsNotInTheWay) {
  // Two boxes side by side, a quarter of their size apart, each of them by its own size a step.
  SimulationSettings settings;
  Simulation world{settings};
  BodySettings box;
  box.shape = makeBox(Vec3::Constant(0.1));
  box.velocity = Vec3(12, 3, 0);
  std::vector<BodyIndex> bodies;
  for (const double x : {0.0, 0.25}) {
    box.pose.position.x() = x;
    bodies.push_back(world.addBody(box));
  }
  world.step();
  EXPECT_EQ(world.report().pairs, 1u);
  EXPECT_EQ(world.report().contacts, 0u);
  // One of them is caught up by a third: now all that may happen among them counts.
  box.pose.position = world.pose(bodies[0]).position - Vec3(0.3, 0, 0);
  box.velocity = Vec3(30, 3, 0);
  world.addBody(box);
  world.step();
  EXPECT_GT(world.report().contacts, 0u);
  const Vec3 momentum = world.momentum();
  for (int i = 0; i < 20; ++i) {
    world.step();
    EXPECT_LT(world.report().deepest, 0.01);
  }
  EXPECT_NEAR(world.momentum().x(), momentum.x(), 1e-9 * momentum.x());
}

TEST(Flight, WhatFliesTogetherStopsTogether) {
  // Into a wall, one behind the other: the second one knows of the wall by the first.
  Simulation world{SimulationSettings{}};
  BodySettings wall;
  wall.kind = BodyKind::Static;
  wall.shape = makeBox(Vec3(0.5, 2, 2));
  wall.pose.position = Vec3(1.5, 0, 0);
  world.addBody(wall);
  BodySettings box;
  box.shape = makeBox(Vec3::Constant(0.1));
  box.velocity = Vec3(5, 0, 0);
  for (const double x : {0.0, 0.21, 0.42}) {
    box.pose.position.x() = x;
    world.addBody(box);
  }
  for (int i = 0; i < 20; ++i) {
    world.step();
    EXPECT_LT(world.report().deepest, 0.01) << i;
  }
}

TEST(Flight, SymmetricTopPrecessesAtItsRate) {
  // A rod-like box, two equal inertias: the axis goes round the momentum at |L| / I across.
  const Vec3 inertia(2, 2, 0.5);
  Quat rotation = Quat::Identity();
  Vec3 angularVelocity(1, 0, 3);
  const Vec3 momentum = inertia.cwiseProduct(angularVelocity);
  const double period = 2 * kPi * 2 / momentum.norm();
  const Vec3 axis = rotation * Vec3::UnitZ();
  const int steps = 200;
  for (int i = 0; i < steps; ++i) turnFreely(rotation, angularVelocity, inertia, false, period / steps);
  EXPECT_GT((rotation * Vec3::UnitZ()).dot(axis), 1 - 1e-5);
}

TEST(Flight, BadInputIsRefused) {
  Simulation world{SimulationSettings{}};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  BodySettings box;
  EXPECT_THROW(world.addBody(box), Error);
  box.shape = makeBox(Vec3(0.5, 0.5, 0.5));
  box.velocity = Vec3(0, nan, 0);
  EXPECT_THROW(world.addBody(box), Error);
  box.velocity.setZero();
  box.mass = -1;
  EXPECT_THROW(world.addBody(box), Error);
  box.mass = 0;
  EXPECT_THROW(world.addBody(box), Error);
  box.mass.reset();
  const BodyIndex body = world.addBody(box);
  EXPECT_THROW(world.setVelocity(body, Vec3(nan, 0, 0), Vec3::Zero()), Error);
  EXPECT_THROW(world.addForce(body, Vec3(nan, 0, 0)), Error);
  BodySettings plane;
  plane.shape = makePlane();
  EXPECT_THROW(world.addBody(plane), Error);
  EXPECT_THROW(world.velocity(BodyIndex(7)), Error);
  SimulationSettings bad;
  bad.timeStep = 0;
  EXPECT_THROW(Simulation{bad}, Error);
}

TEST(Flight, NonFiniteStepNamesTheBodyAndChangesNothing) {
  Simulation world{SimulationSettings{}};
  addGround(world);
  BodySettings box;
  box.shape = makeBox(Vec3(0.5, 0.5, 0.5));
  box.pose.position = Vec3(0, 0.5, 0);
  box.name = "crate";
  const BodyIndex body = world.addBody(box);
  run(world, 0.2);
  world.addForce(body, Vec3(0, 1e308, 0));
  world.addForce(body, Vec3(0, 1e308, 0));
  const uint64_t before = world.hash();
  try {
    world.step();
    FAIL() << "should have thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Numerical);
    EXPECT_NE(std::string(error.what()).find("crate"), std::string::npos) << error.what();
  }
  EXPECT_EQ(world.hash(), before);
}

}  // namespace sunder::rigid
