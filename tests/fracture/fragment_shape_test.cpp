#include "sunder/fracture/fragment_shape.h"

#include "sunder/rigid/simulation.h"

#include "fracture/fragment_cases.h"

#include <gtest/gtest.h>

namespace sunder::fracture {
namespace {

using rigid::BodySettings;
using rigid::Simulation;

TEST(FragmentShape, MassesAddUp) {
  Broken broken(cubeMesh(6));
  broken.shatter(8, 3);
  geometry::MassProperties sum = broken.pieces[0].fragment.shape->mass();
  for (size_t i = 1; i < broken.pieces.size(); ++i)
    sum = geometry::combine(sum, broken.pieces[i].fragment.shape->mass());
  EXPECT_NEAR(sum.volume, 1, 1e-12);
  EXPECT_NEAR((sum.centre - Vec3::Constant(0.5)).norm(), 0, 1e-12);
  EXPECT_NEAR((sum.inertia - Mat3::Identity() / 6).norm(), 0, 1e-12);
}

struct Fall {
  double gained = 0;   // of the energy at the start, at most
  double fastest = 0;  // of a piece relative to free fall before the ground
  double drift = 0;    // of the pieces' places at the end, the most
  uint64_t contacts = 0;
};

Fall drop(const std::vector<Piece>& pieces, double height, double seconds,
          const Quat& turn = Quat::Identity()) {
  rigid::SimulationSettings settings;
  settings.sleep = false;
  Simulation world(settings);
  BodySettings ground;
  ground.kind = rigid::BodyKind::Static;
  ground.shape = rigid::makePlane();
  world.addBody(ground);
  std::vector<rigid::BodyIndex> bodies;
  for (const Piece& piece : pieces) {
    BodySettings body;
    body.shape = piece.fragment.shape;
    body.pose.rotation = turn;
    body.pose.position = Vec3(0, height, 0);
    bodies.push_back(world.addBody(body));
  }
  Fall fall;
  const double start = world.energy().total();
  double least = start;
  for (int step = 0; step < int(60 * seconds); ++step) {
    world.step();
    const double now = world.energy().total();
    fall.gained = std::max(fall.gained, (now - least) / start);
    least = std::min(least, now);
    fall.contacts = std::max(fall.contacts, world.report().contacts);
    if (step == 5)
      for (const auto b : bodies)
        fall.fastest = std::max(fall.fastest, std::hypot(world.velocity(b).x(), world.velocity(b).z()) +
                                                  world.angularVelocity(b).norm());
  }
  for (const auto b : bodies) {
    const Vec3 moved = world.pose(b).position - Vec3(0, height, 0);
    fall.drift = std::max(fall.drift, std::hypot(moved.x(), moved.z()));
  }
  return fall;
}

TEST(FragmentShape, BrokenButNotApartDoesNotExplode) {
  for (const uint64_t seed : {1, 2, 3}) {
    Broken broken(cubeMesh(6, seed));
    broken.shatter(8, seed);
    const Fall fall = drop(broken.pieces, 0.5, 2);
    printf("gained %g fastest %g drift %g contacts %lu\n", fall.gained, fall.fastest, fall.drift,
           fall.contacts);
    EXPECT_LT(fall.gained, 0.01) << seed;
    EXPECT_LT(fall.fastest, 1e-3) << seed;
  }
}

}  // namespace
}  // namespace sunder::fracture
