#include "sunder/fracture/pieces/fragment_shape.h"

#include "sunder/rigid/solver/simulation.h"
#include "sunder/tet/stuffing.h"

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

struct World {
  Simulation world;
  std::vector<rigid::BodyIndex> bodies;

  static rigid::SimulationSettings restless() {
    rigid::SimulationSettings settings;
    settings.sleep = false;
    return settings;
  }
  // On the ground, at the pose of what they broke from.
  World(const std::vector<Piece>& pieces, const rigid::Pose& pose, const Vec3& velocity = Vec3::Zero())
      : world(restless()) {
    BodySettings ground;
    ground.kind = rigid::BodyKind::Static;
    ground.shape = rigid::makePlane();
    world.addBody(ground);
    for (const Piece& piece : pieces) {
      BodySettings body;
      body.shape = piece.fragment.shape;
      body.pose = pose;
      body.velocity = velocity;
      bodies.push_back(world.addBody(body));
    }
  }
  double fastest() const {
    double speed = 0;
    for (const auto b : bodies)
      speed = std::max(
          speed, world.velocity(b).norm() + world.angularVelocity(b).norm() * world.shape(b)->outerRadius());
    return speed;
  }
};

// The largest part of the energy at the start that is gained after it was lost.
double energyGained(World& w, double seconds) {
  const double start = w.world.energy().total();
  double least = start, gained = 0;
  for (int step = 0; step < int(60 * seconds); ++step) {
    w.world.step();
    const double now = w.world.energy().total();
    gained = std::max(gained, (now - least) / start);
    least = std::min(least, now);
  }
  return gained;
}

class FragmentsOf : public ::testing::TestWithParam<FlatCracks> {};
const char* nameOf(FlatCracks flat) {
  constexpr const char* kNames[] = {"Polygons", "HalfSpaces", "Hulls"};
  return kNames[size_t(flat)];
}
INSTANTIATE_TEST_SUITE_P(FlatCracks, FragmentsOf,
                         ::testing::Values(FlatCracks::Polygons, FlatCracks::HalfSpaces, FlatCracks::Hulls),
                         [](const auto& suite) { return nameOf(suite.param); });

TEST_P(FragmentsOf, BrokenButNotApartDoesNotExplode) {
  const FlatCracks flat = GetParam();
  for (const uint64_t seed : {1, 2, 3}) {
    Broken broken(cubeMesh(6, seed, flat));
    broken.shatter(8, seed, seed == 3 ? 0.04 : 0);
    World w(broken.pieces, {Vec3(0, 1, 0), Quat(Eigen::AngleAxisd(0.2 * double(seed), Vec3::UnitX()))});
    // In free fall nothing happens to the pieces.
    for (int step = 0; step < 5; ++step) w.world.step();
    for (const auto b : w.bodies) {
      EXPECT_LT(w.world.angularVelocity(b).norm(), 1e-9);
      EXPECT_LT(std::hypot(w.world.velocity(b).x(), w.world.velocity(b).z()), 1e-9);
    }
    EXPECT_LT(energyGained(w, 2), 0.01) << seed;
  }
}

TEST_P(FragmentsOf, PiecesThatLieOnEachOtherStayAtRest) {
  const FlatCracks flat = GetParam();
  Broken broken(cubeMesh(6, 5, flat));
  broken.crack(0, planeCrack(Vec3(0.5, 0.52, 0.5), Vec3(0.05, 1, 0.1)));
  broken.crack(0, planeCrack(Vec3(0.52, 0.5, 0.5), Vec3(1, 0.02, 0.05)));
  broken.crack(1, planeCrack(Vec3(0.5, 0.5, 0.47), Vec3(0.1, 0, 1)));
  ASSERT_EQ(broken.pieces.size(), 4u);
  World w(broken.pieces, {});
  for (int step = 0; step < 120; ++step) w.world.step();
  double fastest = 0;
  for (int step = 0; step < 60; ++step) {
    w.world.step();
    fastest = std::max(fastest, w.fastest());
  }
  EXPECT_LT(fastest, 2e-3);
  for (const auto b : w.bodies) EXPECT_LT(w.world.pose(b).position.norm(), 0.01);
}

// A body that is not the union of its tetrahedra: the field is that of the ball.
TEST(FragmentShape, FieldAndTetrahedraNeedNotAgree) {
  const sdf::FieldPtr ball = sdf::makeSphereField(Vec3::Zero(), 1);
  tet::FillReport report;
  Broken broken(std::make_shared<RestMesh>(tet::fill(*ball, {.edge = 0.25}, report), ball));
  broken.shatter(6, 5);
  RandomStream random(3);
  for (int i = 0; i < 20000; ++i) {
    const Vec3 p = 1.1 * random.uniform() * random.unitVector();
    size_t inside = 0;
    double nearest = Box3::kInfinity;
    for (const Piece& piece : broken.pieces) {
      const double value = piece.fragment.field->value(p);
      inside += value < 0;
      nearest = std::min(nearest, std::abs(value));
    }
    // Pieces may disagree by as much as cracks bend around vertices.
    if (nearest > kNearestVertex * broken.rest->edge()) {
      EXPECT_EQ(inside, p.norm() < 1 ? 1u : 0u) << p.norm();
    }
  }
  World w(broken.pieces, {Vec3(0, 1.3, 0), Quat::Identity()});
  EXPECT_LT(energyGained(w, 1.5), 0.01);
}

// The step after the fracture asks no more than those that follow.
TEST_P(FragmentsOf, TheStepOfTheFractureIsNoSpike) {
  const FlatCracks flat = GetParam();
  Broken broken(cubeMesh(8, 5, flat));
  broken.shatter(10, 4);
  World w(broken.pieces, {Vec3(0, 2, 0), Quat::Identity()});
  w.world.step();
  const uint64_t first = w.world.report().work.visited;
  uint64_t later = 0;
  for (int i = 0; i < 10; ++i) {
    w.world.step();
    later += w.world.report().work.visited;
  }
  EXPECT_LE(double(first), 2 * double(later) / 10);
}

TEST_P(FragmentsOf, FastPiecesAreNotHeldUpByEachOther) {
  const FlatCracks flat = GetParam();
  Broken broken(cubeMesh(5, 5, flat));
  broken.shatter(6, 9);
  // Far from the ground, all at one speed: no piece may stop another.
  World w(broken.pieces, {Vec3(0, 100, 0), Quat::Identity()}, Vec3(40, 0, 0));
  for (int step = 0; step < 20; ++step) {
    w.world.step();
    EXPECT_EQ(w.world.report().stoppedBodies, 0u);
  }
  for (const auto b : w.bodies) EXPECT_NEAR(w.world.velocity(b).x(), 40, 1e-9);
}

}  // namespace
}  // namespace sunder::fracture
