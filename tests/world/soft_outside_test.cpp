// What acts on soft bodies from outside: the forces of a scene and the bounds of the world.
#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/world/parts/soft_part.h"
#include "sunder/world/scene/scene_text.h"

#include "world/parts_of.h"

#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sunder::world {
namespace {

constexpr double kForcedStep = 1.0 / 60;

Scene forcedSceneOf(const std::string& text) {
  return readScene(SceneDocument::parse(text, "soft.json", ".", {}));
}
const SoftPart& softPartOf(const World& world) { return *world.find<SoftPart>(); }

std::string softCube(const std::string& id, const std::string& more, double size = 0.2) {
  return fmt::format(R"({{"id": "{}", "kind": "deformable", "shape": {{"box": {{"size": [{}, {}, {}]}}}},
    "soft": {{"tets": 40, "young": "1 MPa", "density": 1000}}, {}}})",
                     id, size, size, size, more);
}

std::string forced(const std::string& bodies, const std::string& forces, const std::string& world = "") {
  return fmt::format(
      R"({{"world": {{"frames": 60, "timeStep": "1/60 s", "gravity": [0, 0, 0]{}}}, "bodies": [{}], "forces": [{}]}})",
      world, bodies, forces);
}

struct MassCentre {
  Vec3 place = Vec3::Zero(), velocity = Vec3::Zero();
  double mass = 0;
};
MassCentre massCentreOf(const World& world, uint32_t soft) {
  const fem::Motion& motion = softPartOf(world).motion();
  MassCentre c;
  for (const uint32_t v : softPartOf(world).verticesOf(soft)) {
    const double m = motion.solid().masses()[v];
    c.place += m * motion.positions()[v];
    c.velocity += m * motion.velocities()[v];
    c.mass += m;
  }
  c.place /= c.mass;
  c.velocity /= c.mass;
  return c;
}

TEST(SoftForces, AnotherGravityAndDragFollowTheirClosedForms) {
  World world(
      forcedSceneOf(forced(softCube("falls", R"("position": [0, 0, 0])") + "," +
                               softCube("slows", R"("position": [5, 0, 0], "velocity": [0, 2, 0])") + "," +
                               softCube("free", R"("position": [9, 0, 0], "velocity": [0, 2, 0])"),
                           R"({"gravity": {"acceleration": [0, 0, 3]}, "bodies": ["falls"]},
                               {"drag": {"linear": 1.5}, "bodies": ["slows"], "until": 0.5})")));
  const Vec3 start = massCentreOf(world, 0).place;
  for (int n = 1; n <= 60; ++n) {
    world.advance();
    const double way = 3 * kForcedStep * kForcedStep * n * (n + 1) / 2;
    ASSERT_NEAR((massCentreOf(world, 0).place - start - Vec3(0, 0, way)).norm(), 0, 1e-9);
    ASSERT_NEAR(massCentreOf(world, 1).velocity.y(), 2 / std::pow(1 + 1.5 * kForcedStep, std::min(n, 30)),
                1e-9);
    ASSERT_NEAR(massCentreOf(world, 2).velocity.y(), 2, 1e-9);
  }
}

TEST(SoftForces, AngularDragSlowsRotation) {
  const std::string turning = R"("angularVelocity": [0, 0, 2], "position": )";
  World world(forcedSceneOf(
      forced(softCube("free", turning + "[0, 0, 0]") + "," + softCube("slows", turning + "[5, 0, 0]"),
             R"({"drag": {"angular": 2}, "bodies": ["slows"]})")));
  const auto spin = [&](uint32_t soft) {
    const fem::Motion& motion = softPartOf(world).motion();
    const MassCentre c = massCentreOf(world, soft);
    Vec3 sum = Vec3::Zero();
    for (const uint32_t v : softPartOf(world).verticesOf(soft))
      sum += motion.solid().masses()[v] *
             (motion.positions()[v] - c.place).cross(motion.velocities()[v] - c.velocity);
    return sum.z();
  };
  const double start = spin(0);
  EXPECT_NEAR(spin(1), start, 1e-9 * start);
  while (world.frame() < 30) world.advance();
  // Implicit Euler slows a rotation by itself, the faster one more.
  const double expected = std::pow(1 + 2 * kForcedStep, -30);
  EXPECT_NEAR(spin(1) / spin(0), expected, 0.05 * expected);
}

TEST(SoftForces, AnExplosionGivesEachVertexItsShareOnce) {
  World world(forcedSceneOf(
      forced(softCube("near", R"("position": [1, 0, 0])") + "," + softCube("far", R"("position": [9, 0, 0])"),
             R"({"explosion": {"position": [0, 0, 0], "time": 0.1, "impulse": 5, "radius": 4}})")));
  const fem::Motion& motion = softPartOf(world).motion();
  Vec3 expected = Vec3::Zero();
  const double mass = massCentreOf(world, 0).mass;
  for (const uint32_t v : softPartOf(world).verticesOf(0)) {
    const double distance = motion.positions()[v].norm();
    expected += motion.solid().masses()[v] / mass * 5 * (1 - distance / 4) * motion.positions()[v] / distance;
  }
  while (world.frame() < 6) world.advance();
  EXPECT_NEAR(massCentreOf(world, 0).velocity.norm(), 0, 1e-12);
  world.advance();
  EXPECT_NEAR((massCentreOf(world, 0).mass * massCentreOf(world, 0).velocity - expected).norm(), 0, 1e-9);
  EXPECT_NEAR(expected.x(), 5 * 0.75, 0.05);  // nearly that of a point
  EXPECT_NEAR(massCentreOf(world, 1).velocity.norm(), 0, 1e-12);
  while (world.frame() < 12) world.advance();
  EXPECT_NEAR((massCentreOf(world, 0).mass * massCentreOf(world, 0).velocity - expected).norm(), 0, 1e-9);
}

TEST(SoftForces, WindAndAttractorPullAsTheirFormulasSay) {
  World world(forcedSceneOf(forced(
      softCube("blown", R"("position": [0, 0, 0])") + "," + softCube("drawn", R"("position": [20, 0, 0])"),
      R"({"wind": {"velocity": [0, 0, 30], "density": 1.2, "dragCoefficient": 0.5}, "bodies": ["blo*"]},
         {"attractor": {"position": [10, 0, 0], "acceleration": 4, "radius": 5}, "bodies": ["drawn"]})")));
  Vec3 drawn = Vec3::Zero();  // what the attractor adds in a step
  for (const uint32_t v : softPartOf(world).verticesOf(1)) {
    const Vec3 way = Vec3(10, 0, 0) - softPartOf(world).motion().positions()[v];
    drawn += softPartOf(world).motion().solid().masses()[v] * 4 * kForcedStep * std::pow(5 / way.norm(), 2) *
             way.normalized();
  }
  world.advance();
  const MassCentre pulled = massCentreOf(world, 1);
  EXPECT_NEAR((pulled.mass * pulled.velocity - drawn).norm(), 0, 1e-9);
  const double mass = massCentreOf(world, 0).mass, radius = std::cbrt(0.75 / kPi * 0.008);
  const double force = 0.5 * 1.2 * 0.5 * kPi * radius * radius * 30 * 30;
  EXPECT_NEAR(mass * massCentreOf(world, 0).velocity.z(), force * kForcedStep, 1e-6 * force * kForcedStep);
  EXPECT_NEAR(massCentreOf(world, 1).velocity.x(), -4.0 / 4 * kForcedStep, 1e-3 * kForcedStep);
  while (world.frame() < 60) world.advance();
  EXPECT_LT(massCentreOf(world, 0).velocity.z(), 30);
}

TEST(SoftForces, NamesFindSoftBodiesAndTheTextKeepsThem) {
  const std::string ball = R"({"id": "ball", "shape": {"sphere": {"radius": 0.1}}, "position": [3, 0, 0]},)";
  const std::string bodies =
      ball + softCube("a", R"("position": [0, 0, 0])") + "," + softCube("b", R"("position": [1, 0, 0])");
  const Scene read = forcedSceneOf(forced(bodies, R"({"drag": {"linear": 1}},
      {"drag": {"linear": 1}, "bodies": ["b"]}, {"drag": {"linear": 1}, "bodies": ["*"]},
      {"drag": {"linear": 1}, "bodies": ["ball"]}, {"drag": {"linear": 1}, "bodies": []})"));
  const Scene again = forcedSceneOf(sceneText(read));
  for (const Scene* s : {&read, &again}) {
    EXPECT_EQ(s->forces[0].softBodies, (std::vector<uint32_t>{0, 1}));
    EXPECT_EQ(s->forces[0].bodies, (std::vector<uint32_t>{0}));
    EXPECT_EQ(s->forces[1].softBodies, (std::vector<uint32_t>{1}));
    EXPECT_EQ(s->forces[1].bodies, std::vector<uint32_t>());
    EXPECT_EQ(s->forces[2].softBodies, (std::vector<uint32_t>{0, 1}));
    EXPECT_EQ(s->forces[3].softBodies, std::vector<uint32_t>());
    EXPECT_EQ(s->forces[4].softBodies, std::vector<uint32_t>());
  }
  EXPECT_THROW(forcedSceneOf(forced(bodies, R"({"drag": {"linear": 1}, "bodies": ["c"]})")), Error);
}

// One falls out of the world; the other one, which it was glued to, rests on the floor and stays.
TEST(SoftBounds, WhatLeavesIsRemovedAndTheOthersGoOn) {
  const std::string floor = R"({"id": "floor", "shape": {"box": {"size": [2, 0.2, 2]}}, "kind": "static",
    "position": [0, -0.1, 0]},)";
  const std::string text = forced(floor + softCube("rests", R"("position": [0, 0.11, 0])") + "," +
                                      softCube("leaves", R"("position": [3, 0.1, 0])"),
                                  R"({"gravity": {"acceleration": [0, -9.81, 0]}})",
                                  R"(, "bounds": {"lower": [-5, -1, -5], "upper": [5, 5, 5]})");
  World world(forcedSceneOf(text));
  uint64_t left = 0;
  while (world.frame() < 60) {
    world.advance();
    for (const record::Event& event : world.events())
      if (event.kind == record::EventKind::Death) {
        EXPECT_EQ(event.a, 2u);
        EXPECT_EQ(event.text, "left the bounds");
        EXPECT_EQ(left, 0u);
        left = world.frame();
      }
    std::vector<record::BodyState> states = world.states();
    EXPECT_TRUE(states[1].present);
    EXPECT_EQ(states[2].present, left == 0);
  }
  // It has fallen 1.1 m.
  EXPECT_NEAR(double(left), 60 * std::sqrt(2 * 1.1 / 9.81), 2);
  EXPECT_NEAR(massCentreOf(world, 0).place.y(), 0.1, 0.01);
  World other(forcedSceneOf(text));
  other.load(world.save(), "state");
  for (int i = 0; i < 10; ++i) {
    world.advance();
    other.advance();
    ASSERT_EQ(other.hash(), world.hash()) << i;
  }
  EXPECT_NEAR(massCentreOf(world, 0).place.y(), 0.1, 0.01);
  // An earlier state brings it back.
  World early(forcedSceneOf(text));
  early.advance();
  other.load(early.save(), "state");
  EXPECT_EQ(other.hash(), early.hash());
  other.advance();
  early.advance();
  EXPECT_EQ(other.hash(), early.hash());
}

}  // namespace
}  // namespace sunder::world
