#include "sunder/base/bytes.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/base/rotation.h"

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

namespace {

constexpr double kRadius = 0.1;

struct Flight {
  Vec3 velocity, angularVelocity;
};

// A ball thrown at the ground without gravity: how it moves afterwards.
Flight bounce(const Vec3& velocity, const Vec3& angularVelocity, double friction, double e) {
  SimulationSettings settings = restless();
  settings.gravity = Vec3::Zero();
  Simulation world{settings};
  addGround(world, {.friction = friction, .restitution = e});
  const BodyIndex ball = addBall(world, kRadius, Vec3(0, 0.5, 0), {.friction = friction, .restitution = e});
  world.setVelocity(ball, velocity, angularVelocity);
  run(world, 0.05 + 0.4 / -velocity.y());
  return {world.velocity(ball), world.angularVelocity(ball)};
}

}  // namespace

// Friction stops the sliding of a solid ball with two sevenths of the impulse that would stop the surface of
// a free mass; where mu times the normal impulse is less than that, it is all there is.
TEST(Impacts, SpinningBallsBounceByTheTwoSeventhsLaw) {
  const double angularVelocity = 50, fall = 4;
  for (const double e : {0.0, 0.5, 0.9}) {
    // Sticks: the surface moves at R w = 5 m/s, mu (1 + e) v is more than two sevenths of it.
    const Flight sticks = bounce(Vec3(0, -fall, 0), Vec3(0, 0, angularVelocity), 1, e);
    EXPECT_NEAR(sticks.velocity.x(), -2.0 / 7 * kRadius * angularVelocity,
                0.01 * 2 / 7 * kRadius * angularVelocity)
        << e;
    EXPECT_NEAR(sticks.angularVelocity.z(), 2.0 / 7 * angularVelocity, 0.01 * 2 / 7 * angularVelocity) << e;
    EXPECT_NEAR(sticks.velocity.y(), e * fall, 0.01 * fall) << e;
    // Slips.
    const double mu = 0.1, push = mu * (1 + e) * fall;
    const Flight slips = bounce(Vec3(0, -fall, 0), Vec3(0, 0, angularVelocity), mu, e);
    EXPECT_NEAR(slips.velocity.x(), -push, 0.01 * push) << e;
    EXPECT_NEAR(angularVelocity - slips.angularVelocity.z(), 2.5 * push / kRadius,
                0.01 * 2.5 * push / kRadius)
        << e;
    EXPECT_NEAR(slips.velocity.y(), e * fall, 0.01 * fall) << e;
  }
}

TEST(Impacts, ObliqueBallsLeaveRollingOrSlowedByFriction) {
  for (const double e : {0.3, 0.8}) {
    const Flight sticks = bounce(Vec3(2, -4, 1), Vec3::Zero(), 0.8, e);
    EXPECT_LT((sticks.velocity - Vec3(2 * 5.0 / 7, 4 * e, 5.0 / 7)).norm(), 0.01 * 2) << e;
    EXPECT_LT((sticks.angularVelocity - Vec3(5.0 / 7, 0, -2 * 5.0 / 7) / kRadius).norm(), 0.01 * 20) << e;
    const double push = 0.05 * (1 + e) * 4;
    const Flight slips = bounce(Vec3(3, -4, 0), Vec3::Zero(), 0.05, e);
    EXPECT_NEAR(3 - slips.velocity.x(), push, 0.01 * push) << e;
    // Spin about all three axes: sliding is with (w x r) + v, what turns about the normal stays.
    const Vec3 v(1, -4, -2), w(20, 15, -30), slide = v + w.cross(Vec3(0, -kRadius, 0)) + Vec3(0, 4, 0);
    const Flight all = bounce(v, w, 0.1, e);
    const Vec3 impulse = -0.1 * (1 + e) * 4 * slide.normalized();
    EXPECT_LT((all.velocity - v - Vec3(0, 4 * (1 + e), 0) - impulse).norm(), 0.01 * impulse.norm()) << e;
    EXPECT_LT(
        (all.angularVelocity - w - 2.5 / (kRadius * kRadius) * Vec3(0, -kRadius, 0).cross(impulse)).norm(),
        0.01 * 2.5 / kRadius * impulse.norm())
        << e;
  }
}

TEST(Impacts, RubberBallThatSpinsGoesSideways) {
  Simulation world{restless()};
  const Surface rubber{.friction = 1, .restitution = 0.75, .rollingFriction = 0.002};
  addGround(world, rubber);
  const BodyIndex ball = addBall(world, kRadius, Vec3(0, 1.1, 0), rubber);
  world.setVelocity(ball, Vec3::Zero(), Vec3(0, 0, 50));
  run(world, 0.6);
  EXPECT_NEAR(world.velocity(ball).x(), -2.0 / 7 * 5, 0.01 * 2 / 7 * 5);
  EXPECT_NEAR(world.angularVelocity(ball).z(), 2.0 / 7 * 50, 0.01 * 2 / 7 * 50);
  double highest = 0;
  for (int i = 0; i < 40; ++i) {
    world.step();
    highest = std::max(highest, world.centre(ball).y() - kRadius);
  }
  EXPECT_NEAR(highest, 0.75 * 0.75, 0.02);
}

TEST(Impacts, BoxThrownFlatSlidesOnWithoutTurning) {
  for (const double mu : {0.1, 0.4, 1.0}) {
    for (const double e : {0.2, 0.7}) {
      SimulationSettings settings = restless();
      settings.gravity = Vec3::Zero();
      Simulation world{settings};
      addGround(world, {.friction = mu, .restitution = e});
      const BodyIndex box =
          addBox(world, Vec3(0.3, 0.1, 0.4), Vec3(0, 0.3, 0), {.friction = mu, .restitution = e});
      world.setVelocity(box, Vec3(3, -2, 0), Vec3::Zero());
      double energy = world.energy().kinetic, first = 0;
      for (int i = 0; i < 30; ++i) {
        world.step();
        EXPECT_LE(world.energy().kinetic, energy * (1 + 1e-9)) << mu << " " << e << " " << i;
        energy = world.energy().kinetic;
        if (first == 0 && world.velocity(box).y() > -1.9) first = world.velocity(box).x();
      }
      // By the first impact: the box may land again on an edge.
      EXPECT_LT(first, 3);
      EXPECT_GE(first, 3 - 1.001 * mu * (1 + e) * 2) << mu << " " << e;
      EXPECT_NEAR(world.velocity(box).z(), 0, 1e-3) << mu << " " << e;
      EXPECT_NEAR(world.angularVelocity(box).y(), 0, 1e-3) << mu << " " << e;
      EXPECT_NEAR(world.angularVelocity(box).x(), 0, 1e-3) << mu << " " << e;
      if (mu * (1 + e) < 0.2) {
        EXPECT_LT(world.angularVelocity(box).norm(), 0.01) << mu << " " << e;
        EXPECT_NEAR(first, 3 - mu * (1 + e) * 2, 0.01 * mu * 2);
      }
    }
  }
}

// Boxes and balls thrown at the ground and against each other: kinetic energy never grows.
TEST(Impacts, NoImpactOfAWorldAddsEnergy) {
  SimulationSettings settings = restless();
  settings.gravity = Vec3::Zero();
  for (const double e : {0.5, 1.0}) {
    Simulation world{settings};
    for (int k = 0; k < 3; ++k) {
      for (const double side : {-1.0, 1.0}) {
        BodySettings wall;
        wall.kind = BodyKind::Static;
        wall.shape = makePlane();
        wall.pose.rotation = rotationBetween(Vec3::UnitY(), -side * Vec3::Unit(k));
        wall.pose.position = side * 1.5 * Vec3::Unit(k);
        wall.surface = {.friction = 0.6, .restitution = e};
        world.addBody(wall);
      }
    }
    for (int k = 0; k < 27; ++k) {
      BodySettings body;
      body.shape = k % 2 ? makeBox(Vec3(0.2, 0.1, 0.25)) : makeSphere(0.2);
      body.pose.position = 0.8 * Vec3(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
      body.pose.rotation = Quat(Eigen::AngleAxisd(0.7 * k, Vec3(1, 1, 2).normalized()));
      body.velocity = 2 * Vec3(std::sin(k), std::cos(2 * k), std::sin(3 * k));
      body.angularVelocity = 5 * Vec3(std::cos(k), std::sin(2 * k), 1);
      body.surface = {.friction = 0.6, .restitution = e};
      world.addBody(body);
    }
    const double start = world.energy().kinetic;
    double most = start, growth = 0;
    for (int i = 0; i < 600; ++i) {
      const double before = world.energy().kinetic;
      world.step();
      growth = std::max(growth, world.energy().kinetic / before - 1);
      most = std::max(most, world.energy().kinetic);
    }
    EXPECT_LT(most, 1.001 * start) << e;
    EXPECT_LT(growth, 1e-3) << e;
    EXPECT_LT(world.energy().kinetic, 0.8 * start) << e;
  }
}

// What contacts and events tell of a bounce is what the ball felt.
TEST(Impacts, EventsTellTheWholeImpulse) {
  SimulationSettings settings = restless();
  settings.gravity = Vec3::Zero();
  settings.eventImpulse = 1e-6;
  Simulation world{settings};
  addGround(world, {.friction = 0.3, .restitution = 0.6});
  const BodyIndex ball = addBall(world, kRadius, Vec3(0, 0.5, 0), {.friction = 0.3, .restitution = 0.6});
  world.setVelocity(ball, Vec3(1, -4, 0.5), Vec3(0, 10, 40));
  const Vec3 before = world.momentum();
  Vec3 sum = Vec3::Zero(), viewed = Vec3::Zero();
  for (int i = 0; i < 12; ++i) {
    world.step();
    for (const ContactEvent& event : world.events()) {
      EXPECT_NEAR(event.tangential.dot(event.normal), 0, 1e-6);
      EXPECT_GT(event.tangential.norm(), 0.1 * event.impulse);
      EXPECT_LE(event.tangential.norm(), 0.3001 * event.impulse);
      sum += event.impulse * event.normal + event.tangential;
    }
    for (const ContactView& contact : world.contacts()) viewed += contact.impulse;
  }
  EXPECT_LT((world.momentum() - before - sum).norm(), 1e-5 * sum.norm());
  EXPECT_LT((viewed - sum).norm(), 1e-5 * sum.norm());
}

// The same of friction without bounces: over all substeps, however it changes between them.
TEST(Impacts, EventsTellTheFrictionOfWhatSlides) {
  SimulationSettings settings = restless();
  settings.eventImpulse = 1e-6;
  Simulation world{settings};
  addGround(world);
  const BodyIndex box = addBox(world, Vec3(0.2, 0.1, 0.2), Vec3(0, 0.1, 0));
  world.setVelocity(box, Vec3(1, 0, 0), Vec3::Zero());
  for (int i = 0; i < 60; ++i) {
    const Vec3 before = world.momentum();
    world.step();
    Vec3 sum = world.mass(box) * settings.timeStep * settings.gravity;
    for (const ContactEvent& event : world.events()) sum += event.impulse * event.normal + event.tangential;
    EXPECT_LT((world.momentum() - before - sum).norm(), 1e-5 * world.mass(box)) << i;
  }
  EXPECT_LT(world.velocity(box).norm(), 0.01);
}

TEST(Impacts, SameHashForAnyNumberOfThreadsAndAfterResume) {
  const auto make = [] {
    Simulation world{restless()};
    addGround(world, {.friction = 0.7, .restitution = 0.4});
    for (int k = 0; k < 60; ++k) {
      const Surface surface{.friction = 0.5, .restitution = 0.5};
      const Vec3 at(0.5 * (k % 4), 0.6 + 0.5 * (k / 16), 0.5 * (k / 4 % 4));
      const Quat turn(Eigen::AngleAxisd(0.3 * k, Vec3(1, 2, 3).normalized()));
      if (k % 3)
        addBox(world, Vec3(0.15, 0.1, 0.2), at, surface, turn);
      else
        addBall(world, 0.15, at, surface);
    }
    return world;
  };
  std::vector<uint64_t> hashes;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    Simulation world = make();
    run(world, 1.5);
    hashes.push_back(world.hash());
  }
  EXPECT_EQ(hashes[1], hashes[0]);
  EXPECT_EQ(hashes[2], hashes[0]);
  for (const double stop : {0.3, 0.45, 0.6}) {
    Simulation world = make();
    run(world, stop);
    std::string bytes;
    ByteWriter out(bytes);
    world.save(out);
    Simulation other = make();
    ByteReader in(std::as_bytes(std::span(bytes.data(), bytes.size())), "state");
    other.load(in);
    const auto seen = world.contacts(), loaded = other.contacts();
    ASSERT_EQ(seen.size(), loaded.size());
    for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i].impulse, loaded[i].impulse);
    run(other, 1.5 - stop);
    EXPECT_EQ(other.hash(), hashes[0]) << stop;
  }
}

namespace {

// A floor and four walls around it.
void addPit(Simulation& world, double half, const Surface& surface) {
  addGround(world, surface);
  for (const double sign : {-1.0, 1.0}) {
    for (const bool x : {false, true}) {
      BodySettings wall;
      wall.kind = BodyKind::Static;
      wall.shape = makeBox(x ? Vec3(0.2, 10, 3) : Vec3(3, 10, 0.2));
      wall.pose.position = sign * (half + 0.2) * (x ? Vec3::UnitX() : Vec3::UnitZ()) + Vec3(0, 10, 0);
      wall.surface = surface;
      world.addBody(wall);
    }
  }
}

// Boxes above a pit in layers of `side` times `side`, turned at random.
Simulation pitOfBoxes(int count, int side, double half, uint64_t seed, double e, double step) {
  Simulation world{restless()};
  addPit(world, half, {.friction = 0.5, .restitution = e});
  RandomStream random(seed);
  for (int i = 0; i < count; ++i) {
    const Vec3 cell(i % side - side / 2, i / (side * side), i / side % side - side / 2);
    const double angle = random.uniform(0, 3);
    addBox(world, Vec3(0.15, 0.1, 0.125), 0.42 * cell + Vec3(0, 0.3, 0),
           {.friction = 0.5, .restitution = e + step * (i % 4)},
           Quat(Eigen::AngleAxisd(angle, random.unitVector())));
  }
  return world;
}

// Mean of the kinetic energy over the next half second, and the rows of impacts that were cut off.
double meanKinetic(Simulation& world, uint64_t& cutOff) {
  double sum = 0;
  for (int i = 0; i < 30; ++i) {
    world.step();
    sum += world.energy().kinetic;
    cutOff += world.report().slowImpacts;
  }
  return sum / 30;
}

}  // namespace

// Boxes that tumble into a pit, bouncing off each other and the walls, come to rest, and no row of their
// impacts is cut off. Impacts without friction left 0.006 to 2.7 J, 0.11 J in the geometric mean.
TEST(Impacts, BoxesInAPitCalmDown) {
  double sum = 0;
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    Simulation world = pitOfBoxes(150, 5, 1.1, seed, 0.4, 0);
    const double before = world.energy().potential;
    uint64_t cutOff = 0;
    double kinetic = 0;
    for (int i = 0; i < 10; ++i) kinetic = meanKinetic(world, cutOff);
    EXPECT_EQ(cutOff, 0u);
    const double released = before - world.energy().potential;
    EXPECT_GT(released, 0.3 * before);
    EXPECT_LT(world.energy().kinetic, 1e-4 * released);
    sum += std::log(kinetic);
  }
  EXPECT_LT(std::exp(sum / 6), 0.11);
}

// Ten boxes, each dropped by 5 cm onto the one below, a little beside it and turned, fall asleep within 5 s
// in at least 18 of 24 stacks; in 12 with impacts without friction.
TEST(Impacts, StacksOfTurnedBoxesFallAsleep) {
  int asleep = 0;
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    Simulation world{SimulationSettings{}};
    const Surface surface{.friction = 0.5, .restitution = 0.4};
    addGround(world, surface);
    RandomStream random(seed);
    for (int i = 0; i < 10; ++i) {
      const double x = random.uniform(-0.02, 0.02);
      const double z = random.uniform(-0.02, 0.02);
      const double turn = random.uniform(-0.1, 0.1);
      addBox(world, Vec3(0.5, 0.5, 0.5), Vec3(x, 0.55 + 1.05 * i, z), surface,
             Quat(Eigen::AngleAxisd(turn, Vec3::UnitY())));
    }
    run(world, 5);
    if (world.report().awake == 0) ++asleep;
  }
  EXPECT_GE(asleep, 18);
}

// Balls, boxes, capsules and hulls in a pit. A little rolling friction, because nothing else slows a ball
// that spins on one contact.
TEST(Impacts, HeapsOfMixedShapesFallAsleep) {
  for (const uint64_t seed : {1, 2, 3}) {
    Simulation world{SimulationSettings{}};
    const Surface surface{.friction = 0.5, .restitution = 0.4, .rollingFriction = 0.005};
    addPit(world, 1.1, surface);
    RandomStream random(seed);
    for (int i = 0; i < 120; ++i) {
      BodySettings body;
      if (i % 4 == 0) body.shape = makeSphere(0.14);
      if (i % 4 == 1) body.shape = makeBox(Vec3(0.15, 0.1, 0.125));
      if (i % 4 == 2) body.shape = makeCapsule(0.08, 0.1);
      if (i % 4 == 3) {
        std::vector<Vec3> points;
        for (int k = 0; k < 12; ++k) points.push_back(0.15 * random.unitVector());
        body.shape = makeHull(points);
      }
      const Vec3 cell(i % 5 - 2, i / 25, i / 5 % 5 - 2);
      const double angle = random.uniform(0, 3);
      body.pose = {0.42 * cell + Vec3(0, 0.3, 0), Quat(Eigen::AngleAxisd(angle, random.unitVector()))};
      body.surface = surface;
      world.addBody(body);
    }
    run(world, 6);
    EXPECT_EQ(world.report().awake, 0u) << seed;
  }
}

// A thousand boxes of restitution 0.3 to 0.45, 24 seeds, geometric means over half a second. The bounds are
// what impacts without friction left.
TEST(ImpactsFull, PitOfAThousandBoxesCalmsDown) {
  double early = 0, late = 0;
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    Simulation world = pitOfBoxes(1000, 7, 1.63, seed, 0.3, 0.05);
    uint64_t cutOff = 0;
    for (int i = 1; i <= 12; ++i) {
      const double kinetic = meanKinetic(world, cutOff);
      if (i == 8) early += std::log(kinetic) / 24;
      if (i == 12) late += std::log(kinetic) / 24;
    }
    EXPECT_EQ(cutOff, 0u) << seed;
  }
  EXPECT_LT(std::exp(early), 3.9);
  EXPECT_LT(std::exp(late), 1.3);
}

}  // namespace sunder::rigid
