#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/simd.h"

#include "rigid/rigid_scenes.h"

#include <gtest/gtest.h>

namespace sunder::rigid {

namespace {

// A heap with joints, bounces and rolling friction in it.
Simulation richWorld(bool sleep) {
  SimulationSettings settings;
  settings.sleep = sleep;
  Simulation world{settings};
  addGround(world, {.friction = 0.6});
  addHeap(world, 4, 5);
  for (int i = 0; i < 6; ++i) {
    addBall(world, 0.3, Vec3(0.7 * i, 7.5, 1.5),
            {.friction = 0.4, .restitution = 0.5, .rollingFriction = 0.002});
  }
  const uint32_t last = world.bodyCount() - 1;
  JointSettings rope;
  rope.kind = JointKind::Distance;
  rope.slack = true;
  rope.a = BodyIndex(last - 1);
  rope.b = BodyIndex(last);
  rope.anchorA = world.centre(rope.a);
  rope.anchorB = world.centre(rope.b);
  world.addJoint(rope);
  JointSettings hinge;
  hinge.kind = JointKind::Hinge;
  hinge.a = BodyIndex(3);
  hinge.b = BodyIndex(4);
  hinge.anchorA = 0.5 * (world.centre(hinge.a) + world.centre(hinge.b));
  hinge.motorSpeed = 1;
  hinge.motorTorque = 20;
  hinge.breakForce = 1e5;
  world.addJoint(hinge);
  return world;
}

std::string bytesOf(const Simulation& world) {
  std::string bytes;
  ByteWriter out(bytes);
  world.save(out);
  return bytes;
}
void load(Simulation& world, const std::string& bytes) {
  ByteReader in(std::as_bytes(std::span(bytes.data(), bytes.size())), "state");
  world.load(in);
}

}  // namespace

TEST(Simulation, SameHashForAnyNumberOfThreadsAndVectorTarget) {
  uint64_t reference = 0;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    Simulation world = richWorld(false);
    run(world, 2);
    if (!reference) reference = world.hash();
    EXPECT_EQ(world.hash(), reference) << threads;
  }
  for (const std::string& target : simdTargets()) {
    const SimdTargetOverride use(target);
    const ThreadLimit limit(1);
    Simulation world = richWorld(false);
    run(world, 2);
    EXPECT_EQ(world.hash(), reference) << target;
  }
}

// Saved `saves` times, a quarter of a second apart at first and then a second.
void expectContinuesBitForBitAfterLoad(int saves, double first) {
  for (const bool sleep : {false, true}) {
    Simulation whole = richWorld(sleep);
    std::vector<std::string> saved;
    for (int i = 0; i < saves; ++i) {
      run(whole, i < 4 ? first : 1);
      saved.push_back(bytesOf(whole));
    }
    for (size_t from = 0; from + 1 < saved.size(); ++from) {
      Simulation other = richWorld(sleep);
      load(other, saved[from]);
      EXPECT_EQ(bytesOf(other), saved[from]);
      run(other, from + 1 < 4 ? first : 1);
      EXPECT_TRUE(bytesOf(other) == saved[from + 1]) << sleep << " " << from;
    }
  }
}
TEST(Simulation, ContinuesBitForBitAfterLoad) { expectContinuesBitForBitAfterLoad(8, 0.25); }
TEST(Simulation, ContinuesBitForBitAfterAnEarlyLoad) { expectContinuesBitForBitAfterLoad(2, 0.25); }

TEST(Simulation, BrokenStatesAreRefused) {
  Simulation world = richWorld(true);
  run(world, 0.5);
  const std::string good = bytesOf(world);
  const uint64_t hash = world.hash();
  for (const size_t length : {size_t(0), size_t(3), size_t(100), good.size() / 2, good.size() - 1}) {
    EXPECT_THROW(load(world, good.substr(0, length)), Error);
    EXPECT_EQ(world.hash(), hash);
  }
  Simulation other{SimulationSettings{}};
  addGround(other);
  EXPECT_THROW(load(other, good), Error);
}

TEST(Simulation, IslandsSleepAndWake) {
  Simulation world{SimulationSettings{}};
  addGround(world);
  std::vector<BodyIndex> stack, apart;
  for (int i = 0; i < 4; ++i) stack.push_back(addBox(world, Vec3(0.5, 0.5, 0.5), Vec3(0, 0.5 + i, 0)));
  for (int i = 0; i < 2; ++i) apart.push_back(addBox(world, Vec3(0.5, 0.5, 0.5), Vec3(5, 0.5 + i, 0)));
  run(world, 4);
  for (const BodyIndex b : stack) EXPECT_FALSE(world.awake(b));
  EXPECT_EQ(world.report().awake, 0u);
  const uint64_t still = world.hash();
  const Vec3 place = world.centre(stack[3]);
  run(world, 1);
  EXPECT_EQ(world.centre(stack[3]), place);
  EXPECT_NE(world.hash(), still);  // the number of steps is part of the state

  const BodyIndex ball = addBall(world, 0.2, Vec3(0, 4.5, 0));
  run(world, 0.4);
  for (const BodyIndex b : stack) EXPECT_TRUE(world.awake(b));
  for (const BodyIndex b : apart) EXPECT_FALSE(world.awake(b));
  EXPECT_TRUE(world.awake(ball));

  world.removeBody(apart[0]);
  EXPECT_TRUE(world.awake(apart[1]));
  run(world, 1);
  EXPECT_NEAR(world.centre(apart[1]).y(), 0.5, 0.01);
  EXPECT_FALSE(world.exists(apart[0]));
  EXPECT_THROW(world.pose(apart[0]), Error);
}

TEST(Simulation, KinematicBodiesCarryAndPush) {
  Simulation world{SimulationSettings{}};
  BodySettings lift;
  lift.kind = BodyKind::Kinematic;
  lift.shape = makeBox(Vec3(1, 0.1, 1));
  const BodyIndex platform = world.addBody(lift);
  const BodyIndex box = addBox(world, Vec3(0.3, 0.3, 0.3), Vec3(0, 0.4, 0));
  run(world, 2);  // asleep by now
  EXPECT_FALSE(world.awake(box));
  for (int i = 0; i < 120; ++i) {
    Pose pose;
    pose.position = Vec3(1e-4, 1e-4, 0) * ((i + 1) * (i + 1));
    world.moveTo(platform, pose);
    world.step();
    EXPECT_LT((world.pose(platform).position - pose.position).norm(), 1e-12);
  }
  EXPECT_NEAR(world.centre(box).y(), 0.4 + 1.44, 0.01);
  EXPECT_NEAR(world.centre(box).x(), 1.44, 0.02);
  world.step();
  EXPECT_EQ(world.velocity(platform), Vec3::Zero());
}

TEST(Simulation, BulletDoesNotPassAThinWall) {
  for (const double speed : {50.0, 300.0, 3000.0}) {
    for (const double offset : {0.0, 0.3, 0.77}) {
      Simulation world{restless()};
      BodySettings wall;
      wall.kind = BodyKind::Static;
      wall.shape = makeBox(Vec3(0.005, 1, 1));
      world.addBody(wall);
      const BodyIndex bullet = addBall(world, 0.004, Vec3(-3 - offset, 0, 0));
      const BodyIndex brick = addBox(world, Vec3(0.02, 0.01, 0.01), Vec3(-3 - offset, 0.3, 0.2));
      world.setVelocity(bullet, Vec3(speed, 0.2, 0), Vec3::Zero());
      world.setVelocity(brick, Vec3(speed, 0.2, 0), Vec3(20, 30, 40));
      uint64_t stopped = 0;
      for (int i = 0; i < 20; ++i) {
        world.step();
        stopped += world.report().stoppedBodies;
        ASSERT_LT(world.centre(bullet).x(), 0) << speed;
        ASSERT_LT(world.centre(brick).x(), 0) << speed;
      }
      if (speed >= 300) {
        EXPECT_GT(stopped, 0u);
      }
    }
  }
}

TEST(Simulation, FastBodiesDoNotPassEachOther) {
  Simulation world{restless()};
  const BodyIndex a = addBox(world, Vec3(0.01, 0.3, 0.3), Vec3(-2, 0, 0));
  const BodyIndex b = addBox(world, Vec3(0.01, 0.3, 0.3), Vec3(2, 0, 0));
  world.setVelocity(a, Vec3(200, 0, 0), Vec3::Zero());
  world.setVelocity(b, Vec3(-150, 0, 0), Vec3::Zero());
  for (int i = 0; i < 30; ++i) {
    world.step();
    ASSERT_LT(world.centre(a).x(), world.centre(b).x());
  }
}

TEST(Simulation, EventsTellTheImpulse) {
  SimulationSettings settings = restless();
  settings.eventImpulse = 1;
  Simulation world{settings};
  const BodyIndex ground = addGround(world);
  const BodyIndex ball = addBall(world, 0.1, Vec3(0, 0.6, 0), {.restitution = 0.5});
  const double mass = world.mass(ball);
  bool seen = false;
  for (int i = 0; i < 30 && !seen; ++i) {
    world.step();
    for (const ContactEvent& event : world.events()) {
      EXPECT_EQ(event.a, ground);
      EXPECT_EQ(event.b, ball);
      EXPECT_NEAR(event.impulse, 1.5 * mass * std::sqrt(2 * 9.81 * 0.5), 0.03 * event.impulse);
      EXPECT_NEAR(event.approach, std::sqrt(2 * 9.81 * 0.5), 0.2);
      seen = true;
    }
  }
  EXPECT_TRUE(seen);
}

TEST(Simulation, FiltersKeepBodiesApart) {
  Simulation world{restless()};
  addGround(world);
  BodySettings ghost;
  ghost.shape = makeSphere(0.2);
  ghost.pose.position = Vec3(0, 0.5, 0);
  ghost.category = 2;
  ghost.mask = 4;
  const BodyIndex a = world.addBody(ghost);
  run(world, 1);
  EXPECT_LT(world.centre(a).y(), -1);
}

}  // namespace sunder::rigid
