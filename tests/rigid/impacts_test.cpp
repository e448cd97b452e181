#include "rigid/rigid_scenes.h"

#include <gtest/gtest.h>

namespace sunder::rigid {

TEST(Impacts, BounceHeightsFollowTheRestitution) {
  for (const double drop : {1.0, 2.37, 5.0}) {
    for (const double e : {0.0, 0.3, 0.7, 1.0}) {
      Simulation world{restless()};
      addGround(world, {.restitution = e});
      const BodyIndex ball = addBall(world, 0.1, Vec3(0, 0.1 + drop, 0), {.restitution = e});
      double highest = 0;
      bool hit = false;
      const double until = std::sqrt(2 * drop / 9.81) * (1 + 1.5 * e) + 0.1;
      for (int i = 0; i < until * 60; ++i) {
        world.step();
        hit |= world.velocity(ball).y() > 0 || world.centre(ball).y() < 0.11;
        if (hit) highest = std::max(highest, world.centre(ball).y() - 0.1);
      }
      EXPECT_TRUE(hit);
      EXPECT_NEAR(highest, e * e * drop, 0.012 * drop) << "e = " << e << ", drop = " << drop;
    }
  }
}

TEST(Impacts, BoxLandingFlatBouncesFlat) {
  Simulation world{restless()};
  addGround(world);
  const BodyIndex box = addBox(world, Vec3(0.3, 0.2, 0.4), Vec3(0, 1.2, 0), {.restitution = 0.6});
  double highest = 0;
  bool hit = false;
  for (int i = 0; i < 45; ++i) {
    world.step();
    hit |= world.velocity(box).y() > 0;
    if (hit) highest = std::max(highest, world.centre(box).y() - 0.2);
  }
  EXPECT_NEAR(highest, 0.36, 0.015);
  EXPECT_LT(world.angularVelocity(box).norm(), 1e-3);
}

// Balls in a row without gravity, touching: `in` of them come in, as many go out at the other end.
void cradle(int balls, int in) {
  SimulationSettings settings = restless();
  settings.gravity = Vec3::Zero();
  Simulation world{settings};
  std::vector<BodyIndex> row;
  for (int i = 0; i < balls; ++i) {
    const double gap = i < in ? -0.3 : 0;
    row.push_back(addBall(world, 0.1, Vec3(0.2 * i + gap, 0, 0), {.friction = 0, .restitution = 1}));
    if (i < in) world.setVelocity(row.back(), Vec3(2, 0, 0), Vec3::Zero());
  }
  run(world, 0.5);
  for (int i = 0; i < balls; ++i)
    EXPECT_NEAR(world.velocity(row[size_t(i)]).x(), i >= balls - in ? 2.0 : 0.0, 1e-6)
        << in << " in, ball " << i;
}

TEST(Impacts, NewtonsCradle) {
  cradle(5, 1);
  cradle(5, 2);
  cradle(5, 3);
  cradle(20, 4);
}

TEST(Impacts, HangingCradleSwings) {
  Simulation world{restless()};
  std::vector<BodyIndex> row;
  for (int i = 0; i < 5; ++i) {
    const Vec3 pivot(0.2 * i, 1, 0);
    const double angle = i == 0 ? -0.5 : 0;
    const Vec3 at = pivot + Vec3(std::sin(angle), -std::cos(angle), 0);
    row.push_back(addBall(world, 0.1, at, {.friction = 0, .restitution = 1}));
    JointSettings rod;
    rod.kind = JointKind::Distance;
    rod.b = row.back();
    rod.anchorA = pivot;
    rod.anchorB = at;
    world.addJoint(rod);
  }
  double highest = 0, middle = 0;
  for (int i = 0; i < 60; ++i) {
    world.step();
    if (i > 35) highest = std::max(highest, world.centre(row[4]).x() - 0.8);
    middle = std::max(middle, std::abs(world.centre(row[2]).x() - 0.4));
  }
  EXPECT_NEAR(highest, std::sin(0.5), 0.03);
  EXPECT_LT(middle, 0.03);
}

TEST(Impacts, FrictionlessCollisionsConserveMomentum) {
  SimulationSettings settings = restless();
  settings.gravity = Vec3::Zero();
  for (const double e : {0.0, 0.8}) {
    Simulation world{settings};
    int k = 0;
    for (int x = 0; x < 4; ++x) {
      for (int y = 0; y < 4; ++y) {
        for (int z = 0; z < 4; ++z, ++k) {
          BodySettings body;
          body.shape = k % 2 ? makeBox(Vec3(0.3, 0.2, 0.4)) : makeSphere(0.3);
          body.pose.position = Vec3(x, y, z) + 0.1 * Vec3(std::sin(k), std::cos(k), std::sin(2 * k));
          body.pose.rotation = Quat(Eigen::AngleAxisd(0.7 * k, Vec3(1, 1, 2).normalized()));
          body.velocity = 0.5 * (Vec3(1.6, 1.4, 1.5) - body.pose.position) + Vec3(0.3, 0.1, 0.2);
          body.angularVelocity = 0.3 * Vec3(std::sin(3 * k), std::cos(5 * k), 1);
          body.surface = {.friction = 0, .restitution = e};
          world.addBody(body);
        }
      }
    }
    const Vec3 linear = world.momentum(), angular = world.angularMomentum();
    uint64_t most = 0, stopped = 0;
    for (int i = 0; i < 200; ++i) {
      world.step();
      most = std::max(most, world.report().touching);
      stopped += world.report().stoppedBodies;
    }
    EXPECT_GT(most, 40u);
    EXPECT_EQ(stopped, 0u);
    EXPECT_LT((world.momentum() - linear).norm(), 1e-10 * linear.norm()) << e;
    EXPECT_LT((world.angularMomentum() - angular).norm(), 1e-10 * angular.norm()) << e;
  }
}

}  // namespace sunder::rigid
