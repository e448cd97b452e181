#include "sunder/base/error.h"

#include "rigid/rigid_scenes.h"

#include <gtest/gtest.h>

namespace sunder::rigid {

TEST(Joints, PendulumHasItsPeriod) {
  // A ball on a rod, on a ball joint and on a hinge: small swings of a physical pendulum.
  for (const JointKind kind : {JointKind::Distance, JointKind::Ball, JointKind::Hinge}) {
    Simulation world{restless()};
    const double length = 1, angle = 0.1, radius = 0.1;
    const Vec3 at(length * std::sin(angle), -length * std::cos(angle), 0);
    const BodyIndex ball = addBall(world, radius, at);
    JointSettings joint;
    joint.kind = kind;
    joint.b = ball;
    joint.anchorB = at;
    joint.axis = Vec3::UnitZ();
    world.addJoint(joint);
    int crossings = 0;
    double last = at.x(), firstTime = 0, lastTime = 0;
    for (int i = 0; i < 1200; ++i) {
      world.step();
      const double x = world.centre(ball).x();
      if (last > 0 && x <= 0) {
        lastTime = (i + last / (last - x)) / 60.0;
        if (crossings++ == 0) firstTime = lastTime;
      }
      last = x;
      EXPECT_NEAR(world.centre(ball).norm(), length, 0.002);
    }
    const double own = kind == JointKind::Distance ? 0 : 0.4 * radius * radius;  // it turns with the rod
    const double expected =
        2 * kPi * std::sqrt((length * length + own) / (9.81 * length)) * (1 + angle * angle / 16);
    EXPECT_NEAR((lastTime - firstTime) / (crossings - 1), expected, 0.005 * expected) << int(kind);
  }
}

TEST(Joints, MotorReachesItsSpeedAndNoMore) {
  Simulation world{restless()};
  const BodyIndex wheel = addBox(world, Vec3(0.5, 0.1, 0.5), Vec3(0, 1, 0));
  JointSettings joint;
  joint.kind = JointKind::Hinge;
  joint.b = wheel;
  joint.anchorA = Vec3(0, 1, 0);
  joint.motorSpeed = 5;
  joint.motorTorque = 50;
  const JointIndex hinge = world.addJoint(joint);
  const double inertia = world.mass(wheel) * (0.25 + 0.25) / 3;
  run(world, 0.5);
  EXPECT_NEAR(world.angularVelocity(wheel).y(), 50 / inertia * 0.5, 0.02 * 50 / inertia);
  world.setMotor(hinge, 5, 5000);
  run(world, 1);
  EXPECT_NEAR(world.angularVelocity(wheel).y(), 5, 1e-3);
  EXPECT_LT((world.centre(wheel) - Vec3(0, 1, 0)).norm(), 1e-3);
}

TEST(Joints, LimitsHold) {
  Simulation world{restless()};
  const BodyIndex door = addBox(world, Vec3(0.5, 0.1, 0.1), Vec3(0.5, 0, 0));
  JointSettings joint;
  joint.kind = JointKind::Hinge;
  joint.b = door;
  joint.axis = Vec3::UnitZ();
  joint.lowerAngle = -0.5;
  joint.upperAngle = 0.25;
  const JointIndex hinge = world.addJoint(joint);
  double lowest = 0;
  for (int i = 0; i < 180; ++i) {
    world.step();
    lowest = std::min(lowest, world.jointState(hinge).angle);
  }
  EXPECT_GT(lowest, -0.52);
  EXPECT_NEAR(world.jointState(hinge).angle, -0.5, 0.005);
  world.applyImpulse(door, Vec3(0, 10 * world.mass(door), 0), Vec3(0.5, 0, 0));
  double highest = 0;
  for (int i = 0; i < 30; ++i) {
    world.step();
    highest = std::max(highest, world.jointState(hinge).angle);
  }
  EXPECT_NEAR(highest, 0.25, 0.03);
}

TEST(Joints, RopeIsSlackThenHolds) {
  Simulation world{restless()};
  const BodyIndex ball = addBall(world, 0.1, Vec3(0, 0, 0));
  JointSettings rope;
  rope.kind = JointKind::Distance;
  rope.slack = true;
  rope.b = ball;
  rope.anchorA = Vec3(0, 1, 0);
  rope.anchorB = Vec3(0, 0, 0);
  world.addJoint(rope);
  world.setVelocity(ball, Vec3(0, 3, 0), Vec3::Zero());
  double farthest = 0;
  for (int i = 0; i < 30; ++i) {
    world.step();
    const double t = (i + 1) / 60.0, free = 3 * t - 0.5 * 9.81 * t * t;
    if (t < 0.5) {
      EXPECT_NEAR(world.centre(ball).y(), free, 0.02);
    }
  }
  for (int i = 0; i < 120; ++i) {
    world.step();
    farthest = std::max(farthest, (world.centre(ball) - Vec3(0, 1, 0)).norm());
  }
  EXPECT_LT(farthest, 1.005);
  EXPECT_NEAR(world.centre(ball).y(), 0, 0.005);
}

TEST(Joints, ForceIsTheWeightAndBreaksAboveItsLimit) {
  for (const JointKind kind : {JointKind::Fixed, JointKind::Ball, JointKind::Distance}) {
    Simulation world{restless()};
    const BodyIndex ball = addBall(world, 0.1, Vec3(0, -1, 0));
    const double weight = world.mass(ball) * 9.81;
    JointSettings joint;
    joint.kind = kind;
    joint.b = ball;
    joint.anchorA = kind == JointKind::Distance ? Vec3(0, 0, 0) : Vec3(0, -1, 0);
    joint.anchorB = Vec3(0, -1, 0);
    joint.breakForce = 1.5 * weight;
    const JointIndex index = world.addJoint(joint);
    run(world, 1);
    EXPECT_FALSE(world.jointState(index).broken);
    EXPECT_NEAR(world.jointState(index).force, weight, 0.01 * weight);
    world.addForce(ball, Vec3(0, -0.4 * weight, 0));
    world.step();
    EXPECT_FALSE(world.jointState(index).broken);
    for (int i = 0; i < 5; ++i) {
      world.addForce(ball, Vec3(0, -0.8 * weight, 0));
      world.step();
    }
    EXPECT_TRUE(world.jointState(index).broken);
    run(world, 0.5);
    EXPECT_LT(world.centre(ball).y(), -1.5);
  }
}

TEST(Joints, FixedBodiesMoveAsOneAndKeepMomentum) {
  SimulationSettings settings = restless();
  settings.gravity = Vec3::Zero();
  Simulation world{settings};
  const BodyIndex a = addBox(world, Vec3(0.2, 0.3, 0.5), Vec3(0, 0, 0));
  const BodyIndex b = addBox(world, Vec3(0.4, 0.2, 0.1), Vec3(0.7, 0.2, 0));
  JointSettings joint;
  joint.kind = JointKind::Fixed;
  joint.a = a;
  joint.b = b;
  joint.anchorA = Vec3(0.3, 0.1, 0);
  world.addJoint(joint);
  world.setVelocity(a, Vec3(1, 0, 0.5), Vec3(1, 2, 3));
  const Vec3 linear = world.momentum(), angular = world.angularMomentum();
  run(world, 5);
  EXPECT_LT((world.momentum() - linear).norm(), 1e-10 * linear.norm());
  EXPECT_LT((world.angularMomentum() - angular).norm(), 1e-10 * angular.norm());
  const Pose relative = inverse(world.pose(a)) * world.pose(b);
  EXPECT_LT((relative.position - Vec3(0.7, 0.2, 0)).norm(), 0.01);
  EXPECT_GT(std::abs(relative.rotation.w()), std::cos(0.01));
}

TEST(Joints, BadJointsAreRefused) {
  Simulation world{restless()};
  const BodyIndex a = addBall(world, 0.1, Vec3::Zero());
  JointSettings joint;
  EXPECT_THROW(world.addJoint(joint), Error);
  joint.a = joint.b = a;
  EXPECT_THROW(world.addJoint(joint), Error);
  joint.a = BodyIndex();
  joint.breakForce = -1;
  EXPECT_THROW(world.addJoint(joint), Error);
}

}  // namespace sunder::rigid
