// Self-adapting contacts through the solver: few of them, and bodies rest where all contacts would let them.
#include "sunder/base/bytes.h"
#include "sunder/shapes/catalogue.h"

#include "rigid/rigid_scenes.h"

#include <gtest/gtest.h>

namespace sunder::rigid {

namespace {

constexpr double kTolerance = 0.002;  // of the radius: what selection may leave

BodyIndex addSolid(Simulation& world, const ShapePtr& shape, const Pose& pose,
                   BodyKind kind = BodyKind::Dynamic, const Surface& surface = {}) {
  BodySettings body;
  body.kind = kind;
  body.shape = shape;
  body.pose = pose;
  body.surface = surface;
  return world.addBody(body);
}

SimulationSettings selecting(bool full) {
  SimulationSettings settings = restless();
  settings.selection.full = full;
  return settings;
}

// Depth of the deepest of all points of both.
double deepest(const Simulation& world, BodyIndex a, BodyIndex b) {
  ContactScratch scratch;
  PairMemory memory;
  std::vector<Contact> all;
  findContacts(*world.shape(a), world.pose(a), *world.shape(b), world.pose(b), 0, {.full = true}, memory,
               scratch, all);
  double depth = 0;
  for (const Contact& c : all) depth = std::max(depth, -c.separation);
  return depth;
}

// What the springs of the solver give way under a body that rests on another.
double sinking(const SimulationSettings& s) {
  const double rate = 2 * kPi * s.contactRate * s.substeps / s.timeStep;
  return s.gravity.norm() / (rate * rate);
}

struct Rest {
  Pose pose;
  uint64_t most = 0, last = 0;  // contacts
  double depth = 0;
};

// A shape that falls a little onto one that does not move.
Rest settle(const ShapePtr& shape, const Pose& pose, const ShapePtr& below, double seconds, bool full,
            const Pose& poseBelow = {}) {
  Simulation world{selecting(full)};
  const BodyIndex ground = addSolid(world, below, poseBelow, BodyKind::Static);
  const BodyIndex body = addSolid(world, shape, pose);
  Rest rest;
  for (int i = 0; i < seconds * 60; ++i) {
    world.step();
    rest.most = std::max(rest.most, world.report().contacts);
  }
  rest.last = world.report().contacts;
  rest.pose = world.pose(body);
  rest.depth = deepest(world, body, ground);
  return rest;
}

Pose lifted(double height, double about = 0) {
  return {Vec3(0, height, 0), Quat(Eigen::AngleAxisd(about, Vec3::UnitY()))};
}

// The same place as with all contacts, with a third of them or less.
void restsTheSame(const char* name, const ShapePtr& shape, const Pose& start, const ShapePtr& below,
                  const Pose& poseBelow = {}) {
  const Rest few = settle(shape, start, below, 3, false, poseBelow),
             all = settle(shape, start, below, 3, true, poseBelow);
  const double outer = shape->outerRadius();
  EXPECT_GE(double(all.last), 3 * double(few.last)) << name;
  EXPECT_GE(few.last, 3u) << name;
  EXPECT_LT((few.pose.position - all.pose.position).norm(), kTolerance * outer) << name;
  const double turned = 2 * (few.pose.rotation * all.pose.rotation.conjugate()).vec().norm();
  EXPECT_LT(turned * outer, kTolerance * outer) << name;
  EXPECT_LT(few.depth, kTolerance * outer + 2 * sinking(restless())) << name;
}

}  // namespace

TEST(Selection, RestingPairsNeedAThirdOfTheContacts) {
  const ShapePtr ring = makeSolid(shapes::makeTorus({.radius = 0.1, .tube = 0.03})), ground = makePlane();
  restsTheSame("ring on ring", ring, lifted(0.0605), ring);
  const ShapePtr cup = makeSolid(shapes::makeBowl({.radius = 0.1, .height = 0.08, .wall = 0.012}));
  restsTheSame("cup on the ground", cup, lifted(0.0005 - cup->localBounds().lower.y()), ground);
  const ShapePtr letter = makeSolid(shapes::makeLetters({.text = "E", .height = 0.2, .depth = 0.06}));
  const Box3& box = letter->localBounds();
  const Quat flat(Eigen::AngleAxisd(-kPi / 2, Vec3::UnitX()));
  restsTheSame("letter on letter", letter, {Vec3(0, box.extent().z() + 0.0005, 0), flat}, letter,
               {Vec3::Zero(), flat});
}

// A plate of 5,120 triangles that is set down on its rim, turning, and comes to rest.
TEST(Selection, ARollingPlateHasFewContacts) {
  const ShapePtr plate = makeSolid(shapes::makePlate(
      {.width = 0.4, .depth = 0.4, .thickness = 0.02, .corner = 0.2, .cornerSegments = 32, .rings = 19}));
  EXPECT_GT(plate->surface().triangles.size(), 4500u);
  const double outer = plate->outerRadius();
  double height[2];
  for (const bool full : {false, true}) {
    Simulation world{selecting(full)};
    const BodyIndex ground = addGround(world);
    Pose tilted;
    tilted.rotation = Quat(Eigen::AngleAxisd(0.5, Vec3::UnitZ()));
    tilted.position = Vec3(0, 0.2 * std::sin(0.5) + 0.012, 0);
    const BodyIndex body = addSolid(world, plate, tilted);
    world.setVelocity(body, Vec3::Zero(), Vec3(0, 3, 0));
    uint64_t most = 0;
    for (int i = 0; i < 300; ++i) {
      world.step();
      most = std::max(most, world.report().contacts);
    }
    if (full) {
      EXPECT_GE(most, 100u);
    } else {
      EXPECT_LE(most, 9u);  // one more in the step in which it slaps down
      EXPECT_LE(world.report().contacts, 8u);
      EXPECT_LT(deepest(world, body, ground), kTolerance * outer + 2 * sinking(world.settings()));
    }
    EXPECT_LT(world.velocity(body).norm(), 0.01);
    height[full] = world.centre(body).y();
  }
  EXPECT_NEAR(height[0], height[1], kTolerance * outer);
}

// A plate on sixteen bumps of one body: eight contacts do not hold it, the limit has to grow.
TEST(Selection, TheLimitGrowsUntilEveryBumpCarries) {
  geometry::TriMesh bumps;
  const geometry::TriMesh ball = shapes::makeIcosphere({.radius = 0.02, .frequency = 6});
  for (int x = 0; x < 4; ++x)
    for (int z = 0; z < 4; ++z) {
      const auto first = uint32_t(bumps.positions.size());
      for (const Vec3& p : ball.positions)
        bumps.positions.push_back(p + Vec3(0.1 * x - 0.15, 0, 0.1 * z - 0.15));
      for (const geometry::Triangle& t : ball.triangles)
        bumps.triangles.push_back({first + t[0], first + t[1], first + t[2]});
    }
  const ShapePtr bed = makeSolid(bumps, {.surfacePoints = 1600});
  const ShapePtr plate = makeSolid(shapes::makePlate({.width = 0.4, .depth = 0.4, .thickness = 0.04}));
  const Rest rest = settle(plate, lifted(0.0405), bed, 2, false);
  EXPECT_LT(rest.depth, kTolerance * plate->outerRadius() + 2 * sinking(restless()));
  EXPECT_NEAR(rest.pose.position.y(), 0.04, 0.002);
}

// Pairs that were far apart are not searched again until they moved. A twin that forgets what it knew before
// every step goes the same way, bit for bit.
void expectPairsKnownToBeApartChangeNothing(int bodies, int steps, uint64_t leastSkipped) {
  const ShapePtr shapes[] = {
      makeSolid(shapes::makeBowl({.radius = 0.15, .height = 0.11, .foot = 0.06, .wall = 0.012})),
      makeSolid(shapes::makeTorus({.radius = 0.11, .tube = 0.035}))};
  const auto heap = [&] {
    Simulation world{restless()};
    addGround(world);
    for (int i = 0; i < bodies; ++i) {
      Pose pose;
      pose.position = Vec3(i % 2 ? 0.15 : -0.15, 0.25 + 0.35 * (i / 4), i / 2 % 2 ? 0.15 : -0.15);
      pose.rotation = Quat(Eigen::AngleAxisd(0.7 * i, Vec3(1, 2, 3).normalized()));
      addSolid(world, shapes[i % 2], pose);
    }
    return world;
  };
  Simulation whole = heap(), forgetful = heap();
  uint64_t skipped = 0;
  for (int step = 0; step < steps; ++step) {
    whole.step();
    skipped += whole.report().work.skipped;
    std::string bytes;
    ByteWriter out(bytes);
    forgetful.save(out);
    ByteReader in(std::as_bytes(std::span(bytes.data(), bytes.size())), "state");
    forgetful.load(in);
    forgetful.step();
    EXPECT_EQ(forgetful.report().work.skipped, 0u);
    ASSERT_EQ(whole.hash(), forgetful.hash()) << "step " << step;
  }
  EXPECT_GT(skipped, leastSkipped);
}
TEST(Selection, PairsKnownToBeApartChangeNothing) { expectPairsKnownToBeApartChangeNothing(24, 150, 500); }
TEST(Selection, AFewPairsKnownToBeApartChangeNothing) { expectPairsKnownToBeApartChangeNothing(8, 30, 5); }

// What fell together at several metres a second lies apart: walls of bowls and rings end on their own side.
TEST(Selection, ThinWallsThatFellTogetherDoNotStick) {
  const ShapePtr shapes[] = {
      makeSolid(shapes::makeBowl({.radius = 0.15, .height = 0.11, .foot = 0.06, .wall = 0.006})),
      makeSolid(shapes::makeTorus({.radius = 0.11, .tube = 0.035}))};
  Simulation world{restless()};
  addGround(world);
  for (const double sign : {-1.0, 1.0})
    for (const int k : {0, 2}) {
      BodySettings wall;
      wall.kind = BodyKind::Static;
      wall.shape = makeBox(k == 0 ? Vec3(0.2, 3, 0.8) : Vec3(0.8, 3, 0.2));
      wall.pose.position[k] = sign * 0.65;
      wall.pose.position.y() = 3;
      world.addBody(wall);
    }
  for (int i = 0; i < 32; ++i) {
    Pose pose;
    pose.position = Vec3(i % 2 ? 0.2 : -0.2, 0.3 + 0.4 * (i / 4), i / 2 % 2 ? 0.2 : -0.2);
    pose.rotation = Quat(Eigen::AngleAxisd(0.7 * i, Vec3(1, 2, 3).normalized()));
    addSolid(world, shapes[i % 2], pose);
  }
  run(world, 4);
  EXPECT_LT(world.report().deepest, 0.004);
  EXPECT_LT(world.report().meanDepth, 0.001);
  EXPECT_LT(double(world.report().contacts), 10 * double(world.report().touching));
}

TEST(Selection, SolidsStickAndSlideOnASlope) {
  // tan 20 degrees = 0.364
  const ShapePtr piece = makeSolid(shapes::makeLetters({.text = "S", .height = 0.2, .depth = 0.08}));
  for (const double friction : {0.5, 0.3}) {
    Simulation world{restless()};
    BodySettings slope;
    slope.kind = BodyKind::Static;
    slope.shape = makePlane();
    slope.pose.rotation = Quat(Eigen::AngleAxisd(20 * kPi / 180, Vec3::UnitZ()));
    slope.surface.friction = friction;
    world.addBody(slope);
    Pose lying;  // flat on its back
    lying.rotation = slope.pose.rotation * Quat(Eigen::AngleAxisd(-kPi / 2, Vec3::UnitX()));
    lying.position = slope.pose.direction(Vec3::UnitY()) * -piece->localBounds().lower.z();
    const BodyIndex body = addSolid(world, piece, lying, BodyKind::Dynamic, {.friction = friction});
    const Vec3 start = world.centre(body);
    run(world, 2);
    const double gone = (world.centre(body) - start).norm();
    if (friction > 0.4) {
      EXPECT_LT(gone, 0.002);
    } else {
      const double expected = 9.81 * (std::sin(20 * kPi / 180) - friction * std::cos(20 * kPi / 180)) * 2;
      EXPECT_NEAR(gone, expected, 0.1 * expected);
    }
  }
}

TEST(Selection, BallsRestOnSolidsWithoutSinkingIn) {
  const ShapePtr ball = makeSphere(0.05);
  const ShapePtr slab = makeSolid(shapes::makeBox({.size = Vec3(1, 0.2, 1), .nx = 8, .ny = 2, .nz = 8}));
  const ShapePtr bowl =
      makeSolid(shapes::makeBowl({.radius = 0.3, .height = 0.2, .foot = 0.1, .wall = 0.03}));
  const Rest onSlab = settle(ball, lifted(0.152), slab, 2, false);
  EXPECT_NEAR(onSlab.pose.position.y(), 0.15, 1e-3 * 0.05 + slab->fieldError());
  EXPECT_LT(onSlab.depth, 1e-3 * 0.05);
  const Rest inBowl = settle(ball, {Vec3(0.03, 0.12, 0), Quat::Identity()}, bowl, 8, false);
  EXPECT_LT(inBowl.depth, 1e-3 * 0.05 + 2 * sinking(restless()));
  EXPECT_LT(inBowl.pose.position.head<1>().norm(), 0.1);
}

// A thousand marbles in a bowl: none goes through, and they come to rest.
TEST(SelectionFull, MarblesInABowlComeToRest) {
  SimulationSettings settings = restless();
  Simulation world{settings};
  const ShapePtr bowl = makeSolid(shapes::makeBowl({.radius = 1, .height = 0.8, .foot = 0.4, .wall = 0.05}));
  addSolid(world, bowl, {}, BodyKind::Static);
  const double floor = bowl->localBounds().lower.y();
  std::vector<BodyIndex> marbles;
  double height = 0;
  for (int i = 0; i < 1000; ++i) {
    const Vec3 at(0.1 * (i % 10) - 0.45, 0.6 + 0.1 * (i / 100), 0.1 * (i / 10 % 10) - 0.45);
    marbles.push_back(addBall(world, 0.04, at + Vec3(1e-3 * (i % 7), 0, 1e-3 * (i % 5)),
                              {.friction = 0.4, .rollingFriction = 0.002}));
    height += (at.y() - floor) / 1000;
  }
  run(world, 10);
  double kinetic = 0, least = 1e9;
  for (const BodyIndex m : marbles) {
    kinetic += 0.5 * world.mass(m) * world.velocity(m).squaredNorm() / 1000;
    least = std::min(least, world.centre(m).y());
  }
  EXPECT_GT(least, floor);
  EXPECT_LT(kinetic, 1e-4 * world.mass(marbles[0]) * 9.81 * height);
}

}  // namespace sunder::rigid
