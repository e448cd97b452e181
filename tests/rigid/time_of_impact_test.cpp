#include "sunder/base/random.h"
#include "sunder/rigid/contact/contact.h"
#include "sunder/shapes/catalogue.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sunder::rigid {
namespace {

Motion motionOf(const Shape& shape, const Pose& start, const Vec3& displacement,
                const Vec3& turn = Vec3::Zero()) {
  return {start, shape.mass().centre, displacement, turn, shape.outerRadius()};
}

constexpr double kTimeTolerance = 1e-4;

// Never late, and tight: nearer than the separation and the tolerance only from the time given on.
void compareWithSampling(const ShapePtr& a, const ShapePtr& b, int cases, int samples, uint64_t seed,
                         double looseness = 0) {
  RandomStream random(seed);
  ContactScratch scratch;
  const double separation = 0.002;
  int hits = 0;
  for (int i = 0; i < cases; ++i) {
    const auto pose = [&](double x) {
      return Pose{Vec3(x, random.uniform(-0.2, 0.2), random.uniform(-0.2, 0.2)),
                  Quat(Eigen::AngleAxisd(random.uniform(0, 6), random.unitVector()))};
    };
    const Motion ma = motionOf(*a, pose(-1.5), Vec3(random.uniform(2, 4), 0, 0),
                               random.uniform(0, 6) * random.unitVector());
    const Motion mb =
        motionOf(*b, pose(1), 0.3 * random.unitVector(), random.uniform(0, 3) * random.unitVector());
    const double time = timeOfImpact(*a, ma, *b, mb, separation, kTimeTolerance, scratch);
    const double error = a->fieldError() + b->fieldError();
    for (int k = 0; k <= samples; ++k) {
      const double t = double(k) / samples;
      if (t >= time) break;
      EXPECT_GE(distanceBelow(*a, ma.at(t), *b, mb.at(t), 1, 1e-6, scratch), separation - 1e-5 - error)
          << i << ' ' << t;
    }
    if (time >= 1) continue;
    ++hits;
    EXPECT_LE(distanceBelow(*a, ma.at(time), *b, mb.at(time), 1, 1e-6, scratch),
              separation + kTimeTolerance + looseness)
        << i;
  }
  EXPECT_GT(hits, cases / 5);
}

ShapePtr someHull() {
  RandomStream random(8);
  std::vector<Vec3> points;
  for (int i = 0; i < 20; ++i) points.push_back(0.4 * random.unitVector());
  return makeHull(points);
}

TEST(TimeOfImpact, IsNeverLateAndTightForConvexShapes) {
  const std::vector<ShapePtr> shapes{makeSphere(0.2), makeCapsule(0.3, 0.1), makeBox(Vec3(0.5, 0.02, 0.3)),
                                     someHull()};
  for (const ShapePtr& a : shapes)
    for (const ShapePtr& b : shapes) compareWithSampling(a, b, 20, 300, 3);
}

TEST(TimeOfImpact, IsNeverLateForSolids) {
  const ShapePtr torus = makeSolid(shapes::makeTorus({}), {.surfacePoints = 300});
  compareWithSampling(makeSphere(0.1), torus, 20, 200, 5);
  compareWithSampling(torus, torus, 10, 50, 6);
  compareWithSampling(makeBox(Vec3(0.1, 0.3, 0.05)), torus, 10, 50, 7);
}

TEST(TimeOfImpact, ABulletDoesNotPassAThinWall) {
  ContactScratch scratch;
  const ShapePtr bullet = makeSphere(0.01), wall = makeBox(Vec3(0.005, 1, 1));
  const ShapePtr mesh = makeSolid(shapes::makeBox({.size = Vec3(0.01, 0.4, 0.4)}));
  const double distance = 300.0 / 60;
  for (const ShapePtr& target : {wall, mesh})
    for (const double start : {-0.1, -1.0, -2.7, -4.9}) {
      const Motion fast =
          motionOf(*bullet, {Vec3(start, 0.03, 0.11), Quat::Identity()}, Vec3(distance, 0, 0));
      const double time = timeOfImpact(*bullet, fast, *target, motionOf(*target, {}, Vec3::Zero()), 0.001,
                                       kTimeTolerance, scratch);
      const double gap = -0.005 - (start + time * distance) - 0.01;
      EXPECT_GT(gap, 0) << start;
      EXPECT_LT(gap, 0.0015 + 2 * target->fieldError()) << start;
    }
  // A bullet of triangles against a wall of triangles.
  const ShapePtr slug =
      makeSolid(shapes::makeIcosphere({.radius = 0.01, .frequency = 4}), {.surfacePoints = 100});
  const Motion fast =
      motionOf(*slug, {Vec3(-2, 0.03, 0.11), Quat::Identity()}, Vec3(distance, 0, 0), Vec3(0, 20, 0));
  const double time =
      timeOfImpact(*slug, fast, *mesh, motionOf(*mesh, {}, Vec3::Zero()), 0.001, kTimeTolerance, scratch);
  EXPECT_LT(-2 + time * distance, -0.014);
  EXPECT_GT(-2 + time * distance, -0.03);
}

TEST(TimeOfImpact, ASpinningBarHitsWhatItSweeps) {
  ContactScratch scratch;
  const ShapePtr bar = makeBox(Vec3(1, 0.02, 0.02)), ball = makeSphere(0.05);
  // At rest but for a full turn; the ball is in the way after a quarter.
  const Motion angularVelocity = motionOf(*bar, {}, Vec3::Zero(), Vec3(0, 0, 2 * kPi));
  const double time = timeOfImpact(*bar, angularVelocity, *ball,
                                   motionOf(*ball, {Vec3(0, 0.9, 0), Quat::Identity()}, Vec3::Zero()), 0.001,
                                   kTimeTolerance, scratch);
  EXPECT_LT(time, 0.25);
  EXPECT_GT(time, 0.25 - (0.08 / 0.9) / (2 * kPi) - 0.002);
}

TEST(TimeOfImpact, PassingByTakesFewSteps) {
  ContactScratch scratch;
  const ShapePtr bullet = makeSphere(0.01), wall = makeBox(Vec3(5, 0.1, 5)), plane = makePlane();
  const Motion along = motionOf(*bullet, {Vec3(-2.5, 0.1121, 0), Quat::Identity()}, Vec3(5, 0, 0));
  EXPECT_EQ(
      timeOfImpact(*bullet, along, *wall, motionOf(*wall, {}, Vec3::Zero()), 0.001, kTimeTolerance, scratch),
      1);
  Motion ground;
  ground.reach = Box3::kInfinity;
  const Motion low = motionOf(*bullet, {Vec3(-2.5, 0.0121, 0), Quat::Identity()}, Vec3(5, 0, 0));
  EXPECT_EQ(timeOfImpact(*bullet, low, *plane, ground, 0.001, kTimeTolerance, scratch), 1);
  const Motion down = motionOf(*bullet, {Vec3(0, 1, 0), Quat::Identity()}, Vec3(0, -5, 0));
  EXPECT_NEAR(timeOfImpact(*bullet, down, *plane, ground, 0.001, kTimeTolerance, scratch), (1 - 0.011) / 5,
              1e-4);
}

TEST(TimeOfImpact, StartsAtZeroWhereTheyTouch) {
  ContactScratch scratch;
  const ShapePtr box = makeBox(Vec3::Ones());
  const Motion still = motionOf(*box, {}, Vec3::Zero()),
               moving = motionOf(*box, {Vec3(0, 1.5, 0), Quat::Identity()}, Vec3(1, 0, 0));
  EXPECT_EQ(timeOfImpact(*box, still, *box, moving, 0.01, kTimeTolerance, scratch), 0);
  EXPECT_EQ(timeOfImpact(*box, still, *box, still, 0.01, kTimeTolerance, scratch), 0);
  const Motion away = motionOf(*box, {Vec3(0, 3, 0), Quat::Identity()}, Vec3::Zero());
  EXPECT_EQ(timeOfImpact(*box, still, *box, away, 0.01, kTimeTolerance, scratch), 1);
}

}  // namespace
}  // namespace sunder::rigid
