#include "rigid/rigid_scenes.h"

#include <gtest/gtest.h>

namespace sunder::rigid {

namespace {

constexpr double kDegree = kPi / 180;

// How far a box on a slope has gone after two seconds.
double slides(double angle, double friction) {
  Simulation world{restless()};
  BodySettings slope;
  slope.kind = BodyKind::Static;
  slope.shape = makePlane();
  slope.pose.rotation = Quat(Eigen::AngleAxisd(angle, Vec3::UnitZ()));
  slope.surface.friction = friction;
  world.addBody(slope);
  const BodyIndex box = addBox(world, Vec3(0.5, 0.1, 0.5), slope.pose.point(Vec3(0, 0.1, 0)),
                               {.friction = friction}, slope.pose.rotation);
  run(world, 2);
  return (world.centre(box) - slope.pose.point(Vec3(0, 0.1, 0))).norm();
}

// Whether a tall box falls over on a slope.
bool topples(double angle, double halfHeight) {
  Simulation world{restless()};
  BodySettings slope;
  slope.kind = BodyKind::Static;
  slope.shape = makePlane();
  slope.pose.rotation = Quat(Eigen::AngleAxisd(angle, Vec3::UnitZ()));
  slope.surface.friction = 4;
  world.addBody(slope);
  const BodyIndex box = addBox(world, Vec3(0.2, halfHeight, 0.2), slope.pose.point(Vec3(0, halfHeight, 0)),
                               {.friction = 4}, slope.pose.rotation);
  run(world, 4);
  return world.pose(box).direction(Vec3::UnitY()).dot(slope.pose.direction(Vec3::UnitY())) < 0.7;
}

}  // namespace

TEST(Resting, SlidesAtTheFrictionAngle) {
  for (const double friction : {0.2, 0.5, 0.8}) {
    const double limit = std::atan(friction);
    EXPECT_LT(slides(limit - kDegree, friction), 0.002) << friction;
    // s = g (sin - mu cos) t^2 / 2
    const double angle = limit + kDegree;
    const double expected = 9.81 * (std::sin(angle) - friction * std::cos(angle)) * 2;
    EXPECT_NEAR(slides(angle, friction), expected, 0.05 * expected) << friction;
  }
}

TEST(Resting, TopplesAtTheGeometricAngle) {
  for (const double halfHeight : {0.3, 0.6}) {
    const double limit = std::atan(0.2 / halfHeight);
    EXPECT_FALSE(topples(limit - kDegree, halfHeight)) << halfHeight;
    EXPECT_TRUE(topples(limit + kDegree, halfHeight)) << halfHeight;
  }
}

TEST(Resting, BallRollsDownASlopeAsItShould) {
  // a = 5/7 g sin
  Simulation world{restless()};
  const double angle = 20 * kDegree;
  BodySettings slope;
  slope.kind = BodyKind::Static;
  slope.shape = makePlane();
  slope.pose.rotation = Quat(Eigen::AngleAxisd(angle, Vec3::UnitZ()));
  world.addBody(slope);
  const BodyIndex ball = addBall(world, 0.25, slope.pose.point(Vec3(0, 0.25, 0)));
  run(world, 2);
  EXPECT_NEAR(world.velocity(ball).norm(), 5.0 / 7 * 9.81 * std::sin(angle) * 2, 0.03);
  EXPECT_NEAR(world.angularVelocity(ball).norm() * 0.25, world.velocity(ball).norm(), 0.01);
}

TEST(Resting, RollingFrictionStopsABall) {
  Simulation world{restless()};
  addGround(world);
  const BodyIndex ball = addBall(world, 0.25, Vec3(0, 0.25, 0), {.rollingFriction = 0.01});
  world.setVelocity(ball, Vec3(2, 0, 0), Vec3(0, 0, -8));
  run(world, 10);
  EXPECT_LT(world.velocity(ball).norm(), 0.01);
  // The torque slows it at a = g k / r / (1 + 2/5): s = v^2 / 2a
  EXPECT_NEAR(world.centre(ball).x(), 4 / (2 * 9.81 * 0.01 / 0.25 / 1.4), 0.5);
}

void standStill(double seconds) {
  Simulation world{restless()};
  addGround(world);
  std::vector<BodyIndex> stack;
  for (int i = 0; i < 20; ++i) stack.push_back(addBox(world, Vec3(0.5, 0.5, 0.5), Vec3(0, 0.5 + i, 0)));
  run(world, 1);
  std::vector<Vec3> settled;
  for (const BodyIndex b : stack) settled.push_back(world.centre(b));
  run(world, seconds);
  double drift = 0;
  for (size_t i = 0; i < stack.size(); ++i)
    drift = std::max(drift, (world.centre(stack[i]) - settled[i]).norm());
  EXPECT_LT(drift, 0.011);
  EXPECT_NEAR(world.centre(stack[19]).y(), 19.5, 0.05);
  EXPECT_LT(world.velocity(stack[19]).norm(), 0.01);
}
TEST(Resting, StackOfTwentyStands) { standStill(10); }
TEST(RestingFull, StackOfTwentyStandsForAMinute) { standStill(60); }

TEST(Resting, HeavyOnLightDoesNotExplode) {
  Simulation world{restless()};
  addGround(world);
  BodySettings box;
  box.shape = makeBox(Vec3(0.5, 0.5, 0.5));
  box.mass = 1;
  box.pose.position = Vec3(0, 0.5, 0);
  const BodyIndex light = world.addBody(box);
  box.mass = 1e6;
  box.pose.position = Vec3(0, 1.5, 0);
  const BodyIndex heavy = world.addBody(box);
  double fastest = 0;
  for (int i = 0; i < 300; ++i) {
    world.step();
    fastest = std::max({fastest, world.velocity(light).norm(), world.velocity(heavy).norm()});
  }
  EXPECT_LT(fastest, 6.5);
  EXPECT_GT(world.centre(heavy).y(), 0.4);
  EXPECT_LT(world.centre(heavy).norm(), 5);
}

TEST(Resting, OverlapIsPushedOutAtABoundedSpeed) {
  SimulationSettings settings = restless();
  settings.gravity = Vec3::Zero();
  Simulation world{settings};
  const BodyIndex a = addBox(world, Vec3(0.5, 0.5, 0.5), Vec3(0, 0, 0));
  const BodyIndex b = addBox(world, Vec3(0.5, 0.5, 0.5), Vec3(0.6, 0.05, 0.02));
  ASSERT_EQ(world.overlaps().size(), 1u);
  EXPECT_NEAR(world.overlaps()[0].depth, 0.4, 1e-9);
  for (int i = 0; i < 240; ++i) {
    const Vec3 ca = world.centre(a), cb = world.centre(b);
    world.step();
    EXPECT_LT((world.centre(a) - ca).norm() * 60, settings.pushSpeed);
    EXPECT_LT((world.centre(b) - cb).norm() * 60, settings.pushSpeed);
  }
  EXPECT_TRUE(world.overlaps().empty() || world.overlaps()[0].depth < 0.002);
  EXPECT_LT(world.velocity(a).norm(), 0.25);
}

// All corners of a thin rod are below the contact margin: the lower ones must be the contacts.
TEST(Resting, ThinRodsRollWithoutSinkingIn) {
  constexpr double kHalf = 0.002, kLength = 0.15;
  std::vector<Vec3> corners;
  for (int i = 0; i < 8; ++i)
    corners.push_back(Vec3(i & 1 ? kHalf : -kHalf, i & 2 ? kLength : -kLength, i & 4 ? kHalf : -kHalf));
  for (const bool hull : {false, true}) {
    SimulationSettings settings = restless();
    settings.timeStep = 1.0 / 120;
    Simulation world{settings};
    addGround(world);
    BodySettings rod;
    rod.shape = hull ? makeHull(corners) : makeBox(Vec3(kHalf, kLength, kHalf));
    rod.pose = {Vec3(0, 0.003, 0), Quat(Eigen::AngleAxisd(kPi / 2, Vec3::UnitX()))};
    rod.velocity = Vec3(0.6, 0, 0);
    rod.angularVelocity = Vec3(0, 0, -100);
    const BodyIndex body = world.addBody(rod);
    double deepest = 0;
    for (int i = 0; i < 240; ++i) {
      world.step();
      for (const Vec3& corner : corners) deepest = std::max(deepest, -world.pose(body).point(corner).y());
    }
    EXPECT_LT(deepest, 0.0008) << hull;  // a fifth of the thickness
    EXPECT_LT(world.velocity(body).norm(), 0.1) << hull;
  }
}

}  // namespace sunder::rigid
