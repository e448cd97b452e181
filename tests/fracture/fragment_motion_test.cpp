// Fragments through the solver, and what searching them costs: specification 05, checks 19, 21, 23 and 24.
#include "sunder/rigid/contact/contact.h"
#include "sunder/rigid/solver/simulation.h"

#include "fracture/fragment_cases.h"

#include <gtest/gtest.h>

namespace sunder::fracture {
namespace {

using rigid::BodyIndex;
using rigid::BodySettings;
using rigid::Simulation;

rigid::SimulationSettings restless() {
  rigid::SimulationSettings settings;
  settings.sleep = false;
  return settings;
}

// Check 19: pieces that lie on the ground and on each other, after two seconds. All points are looked at, not
// only those with contacts.
TEST(FragmentMotion, NoPointOfPiecesAtRestIsDeep) {
  for (const FlatCracks flat : {FlatCracks::Polygons, FlatCracks::HalfSpaces, FlatCracks::Hulls}) {
    Broken broken(cubeMesh(6, 5, flat));
    broken.crack(0, planeCrack(Vec3(0.5, 0.52, 0.5), Vec3(0.05, 1, 0.1)));
    broken.crack(0, planeCrack(Vec3(0.52, 0.5, 0.5), Vec3(1, 0.02, 0.05)));
    ASSERT_EQ(broken.pieces.size(), 3u);
    Simulation world(restless());
    BodySettings ground;
    ground.kind = rigid::BodyKind::Static;
    ground.shape = rigid::makePlane();
    world.addBody(ground);
    double smallest = Box3::kInfinity;
    for (const Piece& piece : broken.pieces) {
      BodySettings body;
      body.shape = piece.fragment.shape;
      world.addBody(body);
      smallest = std::min(smallest, body.shape->outerRadius());
    }
    for (int step = 0; step < 120; ++step) world.step();
    double deepest = 0;
    for (uint32_t a = 1; a < world.bodyCount(); ++a)
      for (uint32_t b = 0; b < a; ++b) {
        const BodyIndex first(a), second(b);
        rigid::ContactScratch scratch;
        rigid::PairMemory memory;
        std::vector<rigid::Contact> all;
        rigid::findContacts(*world.shape(first), world.pose(first), *world.shape(second), world.pose(second),
                            0, {.full = true}, memory, scratch, all);
        for (const rigid::Contact& c : all) deepest = std::max(deepest, -c.separation);
      }
    // What the springs of the solver give way under two bodies.
    const auto& s = world.settings();
    const double rate = 2 * kPi * s.contactRate * s.substeps / s.timeStep;
    EXPECT_LT(deepest, 0.002 * smallest + 2 * s.gravity.norm() / (rate * rate));
    constexpr const char* kNames[] = {"deepest_polygons", "deepest_half_spaces", "deepest_hulls"};
    RecordProperty(kNames[size_t(flat)], std::to_string(deepest / smallest));
  }
}

// Check 23: pieces that hit each other far from everything else.
TEST(FragmentMotion, AFreeCloudKeepsItsMomentum) {
  for (const double amplitude : {0.0, 0.04}) {
    rigid::SimulationSettings settings = restless();
    settings.gravity = Vec3::Zero();
    Simulation world(settings);
    Broken broken(cubeMesh(6, 5, FlatCracks::HalfSpaces));
    broken.shatter(10, 6, amplitude);
    RandomStream random(7);
    double scale = 0;
    for (const Piece& piece : broken.pieces) {
      BodySettings body;
      body.shape = piece.fragment.shape;
      const Vec3 out = body.shape->mass().centre - Vec3::Constant(0.5);
      body.velocity = Vec3(3, -2, 1) - 2 * out + 0.5 * random.unitVector();  // towards each other
      body.angularVelocity = 2 * random.unitVector();
      const BodyIndex added = world.addBody(body);
      scale += world.mass(added) * body.velocity.norm();
    }
    const Vec3 momentum = world.momentum(), angular = world.angularMomentum();
    uint64_t contacts = 0;
    for (int step = 0; step < 120; ++step) {
      world.step();
      contacts += world.report().contacts;
    }
    EXPECT_GT(contacts, 100u);
    RecordProperty(amplitude > 0 ? "momentum_bumpy" : "momentum_flat",
                   std::to_string(1e15 * (world.momentum() - momentum).norm() / scale) + "e-15");
    RecordProperty(amplitude > 0 ? "angular_bumpy" : "angular_flat",
                   std::to_string(1e9 * (world.angularMomentum() - angular).norm() / scale) + "e-9");
    EXPECT_LT((world.momentum() - momentum).norm(), 2 * 1e-5 * scale);
    EXPECT_LT((world.angularMomentum() - angular).norm(), 2 * 1e-5 * scale);
  }
}

// Check 24: a piece on a slope of 20 degrees, whose tangent is 0.364, on the face of the cube that it has.
TEST(FragmentMotion, APieceSticksAndSlidesOnASlope) {
  Broken broken(cubeMesh(6, 5, FlatCracks::HalfSpaces));
  ASSERT_TRUE(broken.crack(0, planeCrack(Vec3(0.5, 0.35, 0.5), Vec3(0.15, 1, 0.2))));
  ASSERT_EQ(broken.pieces.size(), 2u);
  const bool first = broken.pieces[0].fragment.shape->mass().centre.y() < 0.5;
  const Piece& low = broken.pieces[first ? 0 : 1];
  for (const double friction : {0.5, 0.3}) {
    Simulation world(restless());
    BodySettings slope;
    slope.kind = rigid::BodyKind::Static;
    slope.shape = rigid::makePlane();
    slope.pose.rotation = Quat(Eigen::AngleAxisd(20 * kPi / 180, Vec3::UnitZ()));
    slope.surface.friction = friction;
    world.addBody(slope);
    BodySettings body;
    body.shape = low.fragment.shape;
    body.pose = slope.pose;
    body.surface.friction = friction;
    const BodyIndex piece = world.addBody(body);
    const Vec3 start = world.centre(piece);
    for (int step = 0; step < 120; ++step) world.step();
    const double gone = (world.centre(piece) - start).norm();
    const double expected = 9.81 * (std::sin(20 * kPi / 180) - friction * std::cos(20 * kPi / 180)) * 2;
    if (friction > 0.4) {
      EXPECT_LT(gone, 0.002);
    } else {
      EXPECT_NEAR(gone, expected, 0.05 * expected);
    }
  }
}

// Check 21, the second half: pieces that fit together are found to touch at once as long as what is about to
// touch counts; without that margin nothing touches and the search goes through all of the crack.
struct Searched {
  size_t contacts = 0;
  rigid::ContactWork work;
};
Searched search(const Broken& broken, double margin, const rigid::SelectionSettings& selection) {
  const rigid::Shape &a = *broken.pieces[0].fragment.shape, &b = *broken.pieces[1].fragment.shape;
  // A hair apart, so that no point is inside by rounding.
  const auto apart = [&](const rigid::Shape& s) {
    return rigid::Pose{1e-9 * (s.mass().centre - Vec3::Constant(0.5)), Quat::Identity()};
  };
  rigid::ContactScratch scratch;
  std::vector<rigid::Contact> contacts;
  rigid::PairMemory memory;
  rigid::PairGap gap;
  findContacts(rigid::ShapeHead(a), apart(a), rigid::ShapeHead(b), apart(b),
               margin * std::min(a.outerRadius(), b.outerRadius()), selection, memory, scratch, contacts,
               &gap);
  return {contacts.size(), scratch.work};
}

TEST(FragmentMotion, WithoutAMarginTheSearchGoesThroughTheWholeCrack) {
  for (const uint32_t n : {12u, 20u}) {
    Broken broken(cubeMesh(n, 5, FlatCracks::Polygons));
    ASSERT_TRUE(broken.crack(0, planeCrack(Vec3(0.5, 0.48, 0.5), Vec3(0.1, 1, 0.2))));
    // A search that ends with enough contacts, as the claim has it.
    const Searched with = search(broken, 0.002, {.growth = 0}), without = search(broken, 0, {.growth = 0});
    EXPECT_EQ(with.contacts, 8u);
    EXPECT_LE(without.contacts, 1u);
    EXPECT_GT(without.work.visited, 5 * with.work.visited);
    // Ours looks on for points that are deeper than the tolerance: about as much work either way, as spheres
    // are larger than that.
    const Searched on = search(broken, 0.002, {}), onWithout = search(broken, 0, {});
    EXPECT_EQ(on.contacts, 8u);
    EXPECT_GT(onWithout.work.fieldQueries, on.work.fieldQueries);
  }
}

// Where both pieces know the crack as a flat side, nothing can be deep, and the search ends as the claim has
// it.
TEST(FragmentMotion, FlatSidesEndTheSearch) {
  for (const uint32_t n : {12u, 20u}) {
    Broken broken(cubeMesh(n, 5, FlatCracks::HalfSpaces));
    ASSERT_TRUE(broken.crack(0, planeCrack(Vec3(0.5, 0.48, 0.5), Vec3(0.1, 1, 0.2))));
    const Searched with = search(broken, 0.002, {}), without = search(broken, 0, {});
    EXPECT_EQ(with.contacts, 8u);
    EXPECT_LE(with.work.visited, 128u);
    EXPECT_EQ(without.work.visited, 0u);
  }
}

}  // namespace
}  // namespace sunder::fracture
