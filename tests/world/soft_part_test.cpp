#include "sunder/world/parts/soft_part.h"

#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/base/parallel.h"
#include "sunder/record/body_meshes.h"
#include "sunder/record/losses.h"
#include "sunder/world/run/runner.h"

#include "record/run_faults.h"
#include "temporary_folder.h"
#include "world/parts_of.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sunder::world {
namespace {

Scene sceneOf(const std::string& text) { return readScene(SceneDocument::parse(text, "soft.json", ".", {})); }

const SoftPart& softOf(const World& world) { return *world.find<SoftPart>(); }

constexpr const char* kMaterials = R"("materials": {
  "jelly": {"density": 1000, "young": "20 kPa", "poisson": 0.4, "friction": 0.5, "restitution": 0},
  "hard": {"density": 8000, "friction": 0.5, "restitution": 0}})";

std::string scene(const std::string& world, const std::string& bodies) {
  return fmt::format(R"({{"world": {{{}}}, {}, "bodies": [{}]}})", world, kMaterials, bodies);
}

constexpr const char* kFloor =
    R"({"id": "floor", "shape": {"plane": {}}, "kind": "static", "material": "hard"})";

std::string block(const std::string& id, const std::string& more, const std::string& soft = R"("tets": 60)",
                  const std::string& size = "[0.2, 0.2, 0.2]") {
  return fmt::format(R"({{"id": "{}", "kind": "deformable", "shape": {{"box": {{"size": {}}}}},
    "material": "jelly", {}, "soft": {{{}}}}})",
                     id, size, more, soft);
}

// A bar that is pulled apart by a grip.
std::string pulled(int frames) {
  return scene(fmt::format(R"("frames": {}, "gravity": [0, 0, 0], "timeStep": "1/60 s")", frames),
               block("bar", R"("position": [0, 0, 0])",
                     R"("tets": 90, "tear": {"strength": "6 kPa", "surfaceEnergy": "20 J/m2"}, "pins": [
      {"lower": [-1, -1, -1], "upper": [-0.2, 1, 1]},
      {"lower": [0.2, -1, -1], "upper": [1, 1, 1], "keyFrames": [{"time": 0, "position": [0, 0, 0]},
        {"time": "1 s", "position": [0.6, 0, 0]}]}])",
                     "[0.6, 0.1, 0.1]"));
}

Vec3 centreOf(const World& world, uint32_t soft) {
  const fem::Motion& motion = softOf(world).motion();
  Vec3 centre = Vec3::Zero();
  double mass = 0;
  for (const uint32_t v : softOf(world).verticesOf(soft)) {
    centre += motion.solid().masses()[v] * motion.positions()[v];
    mass += motion.solid().masses()[v];
  }
  return centre / mass;
}

TEST(SoftPart, HasTheMassOfItsVolumeAndFallsAsAllBodiesDo) {
  World world(
      sceneOf(scene(R"("frames": 60)", block("a", R"("position": [0, 5, 0], "velocity": [1, 0, 0])"))));
  EXPECT_NEAR(world.body(0).mass, 8, 1e-6);
  EXPECT_EQ(world.body(0).kind, record::BodyKind::Deformable);
  const Vec3 start = centreOf(world, 0);
  EXPECT_NEAR((start - Vec3(0, 5, 0)).norm(), 0, 0.01);
  const double h = world.scene().world.simulation.timeStep;
  while (world.frame() < 30) world.advance();
  // Implicit Euler's parabola.
  const auto n = static_cast<double>(world.step());
  EXPECT_NEAR((centreOf(world, 0) - start - Vec3(n * h, -9.81 * h * h * n * (n + 1) / 2, 0)).norm(), 0, 1e-9);
}

TEST(SoftPart, RestsOnTheFloorWithItsWeight) {
  World world(sceneOf(scene(R"("frames": 300, "timeStep": "1/120 s")",
                            std::string(kFloor) + "," + block("a", R"("position": [0, 0.12, 0])"))));
  while (world.frame() < 300) world.advance();
  EXPECT_LT(softOf(world).motion().kineticEnergy(), 1e-6 * 8 * 9.81 * 0.02);
  double force = 0;
  EXPECT_LT(softOf(world).contacts().report().deepest, 1e-3);
  for (const soft::Contact& contact : softOf(world).contacts().contacts())
    force += contact.normal.y() * contact.normalForce;
  EXPECT_NEAR(force, 8 * 9.81, 1e-3 * 8 * 9.81);
  const Vec3 centre = centreOf(world, 0);
  EXPECT_LT(centre.y(), 0.1);  // its own weight presses it
  EXPECT_GT(centre.y(), 0.085);
}

TEST(SoftPart, AndARigidBodyKeepTheirMomentum) {
  World world(sceneOf(scene(
      R"("frames": 60, "gravity": [0, 0, 0], "timeStep": "1/120 s")",
      R"({"id": "ball", "shape": {"sphere": {"radius": 0.05}}, "material": "hard", "position": [0, 0.2, 0.02], "velocity": [0, -2, 0]},)" +
          block("a", R"("position": [0, 0, 0])"))));
  const double mass = simulationOf(world).mass(rigid::BodyIndex(0));
  const auto momentum = [&]() -> Vec3 {
    return mass * simulationOf(world).velocity(rigid::BodyIndex(0)) + softOf(world).motion().momentum();
  };
  const Vec3 before = momentum();
  while (world.frame() < 60) {
    world.advance();
    ASSERT_NEAR((momentum() - before).norm(), 0, 1e-10 * before.norm()) << world.frame();
  }
  EXPECT_GT(simulationOf(world).velocity(rigid::BodyIndex(0)).y(), -1.6);
  EXPECT_LT(softOf(world).motion().momentum().y(), -0.2 * mass);
}

// A brick on a block of jelly on a slab on the floor.
// A ball in the middle of a block, tied to the block's vertices around it.
std::string filled() {
  return scene(
      R"("frames": 60, "gravity": [0, 0, 0], "timeStep": "1/120 s")",
      R"({"id": "ball", "shape": {"sphere": {"radius": 0.05}}, "material": "hard"},)" +
          block("a", R"("position": [0, 0, 0], "velocity": [0.1, 0, 0])",
                R"("tets": 400, "stiffnessDamping": "50 ms", "attach": [{"lower": [-0.08, -0.08, -0.08],
                  "upper": [0.08, 0.08, 0.08], "body": "ball", "collide": false}])"));
}

TEST(SoftPart, CarriesWhatLiesInsideWithoutTouchingIt) {
  World world(sceneOf(filled()));
  const double mass = simulationOf(world).mass(rigid::BodyIndex(0));
  const auto momentum = [&]() -> Vec3 {
    return mass * simulationOf(world).velocity(rigid::BodyIndex(0)) + softOf(world).motion().momentum();
  };
  const Vec3 before = momentum();
  const double block = world.body(1).mass;
  EXPECT_NEAR(before.x(), 0.1 * block, 1e-9);
  while (world.frame() < 60) {
    world.advance();
    ASSERT_EQ(softOf(world).contacts().report().contacts, 0u);
    ASSERT_NEAR((momentum() - before).norm(), 0, 1e-10 * before.norm()) << world.frame();
  }
  // Both have the velocity of what they are together, and what is tied is where it was in the ball's frame.
  const double together = before.x() / (block + mass);
  EXPECT_NEAR(simulationOf(world).velocity(rigid::BodyIndex(0)).x(), together, 0.05 * together);
  const geometry::TetMesh& rest = softOf(world).cageAtRest(0);
  int tied = 0;
  for (size_t v = 0; v < rest.positions.size(); ++v) {
    if (rest.positions[v].cwiseAbs().maxCoeff() > 0.08) continue;
    ++tied;
    const Vec3 wanted = simulationOf(world).pose(rigid::BodyIndex(0)).point(rest.positions[v]);
    EXPECT_LT((softOf(world).motion().positions()[softOf(world).verticesOf(0)[v]] - wanted).norm(), 1e-4);
  }
  EXPECT_GT(tied, 4);
}

std::string stacked() {
  return scene(
      R"("frames": 480, "timeStep": "1/120 s")",
      std::string(kFloor) +
          R"(,{"id": "slab", "shape": {"box": {"size": [0.3, 0.02, 0.3]}}, "material": "hard", "position": [0, 0.01, 0]},
      {"id": "brick", "shape": {"box": {"size": [0.1, 0.05, 0.1]}}, "material": "hard", "position": [0, 0.245, 0]},)" +
          block("a", R"("position": [0, 0.12, 0])", R"("tets": 60, "young": "100 kPa")"));
}

TEST(SoftPart, CarriesARigidBodyAndIsCarriedByOne) {
  World world(sceneOf(stacked()));
  while (world.frame() < 90) world.advance();
  const rigid::Simulation& s = simulationOf(world);
  const Vec3 brick = s.centre(rigid::BodyIndex(2));
  EXPECT_GT(brick.y(), 0.23);
  EXPECT_LT(brick.y(), 0.246);
  EXPECT_GT(centreOf(world, 0).y(), 0.11);
  while (world.frame() < 180) world.advance();
  EXPECT_NEAR((s.centre(rigid::BodyIndex(2)) - brick).norm(), 0, 2e-3);
  EXPECT_NEAR(s.centre(rigid::BodyIndex(1)).y(), 0.01, 1e-3);
}

TEST(SoftPartFull, ABrickOnJellyComesToRest) {
  World world(sceneOf(stacked()));
  double fastest = 0;
  while (world.frame() < 480) {
    world.advance();
    if (world.frame() > 420)
      fastest = std::max(fastest, simulationOf(world).velocity(rigid::BodyIndex(2)).norm());
  }
  EXPECT_LT(fastest, 0.01);
}

TEST(SoftPart, TakesImpulses) {
  World world(sceneOf(scene(
      R"("frames": 10, "gravity": [0, 0, 0])",
      R"({"id": "ball", "shape": {"sphere": {"radius": 0.05}}, "material": "hard", "position": [3, 0, 0]},)" +
          block("a", R"("position": [0, 0, 0])"))));
  const auto push = [&](uint32_t body, std::vector<double> values) {
    Input input;
    input.part = "soft";
    input.what = "impulse";
    input.body = body;
    input.values = std::move(values);
    world.input(input);
  };
  push(1, {4, 0, 0});
  push(1, {0, 2, 0, 0.1, 0, 0});
  EXPECT_THROW(push(0, {1, 0, 0}), Error);  // rigid
  EXPECT_THROW(push(1, {1, 0}), Error);
  EXPECT_THROW(push(1, {1e300, 0, 0}), Error);
  world.advance();
  EXPECT_NEAR((softOf(world).motion().momentum() - Vec3(4, 2, 0)).norm(), 0, 1e-9);
  EXPECT_GT(softOf(world).motion().angularMomentum(centreOf(world, 0)).z(), 0.1);
}

TEST(SoftPart, EachBodyHasADampingOfItsOwn) {
  World world(sceneOf(scene(R"("frames": 60, "gravity": [0, 0, 0], "timeStep": "1/60 s")",
                            block("free", R"("position": [0, 0, 0], "velocity": [0, 1, 0])") + "," +
                                block("damped", R"("position": [1, 0, 0], "velocity": [0, 1, 0])",
                                      R"("tets": 60, "massDamping": 2)"))));
  const Vec3 a = centreOf(world, 0), b = centreOf(world, 1);
  while (world.frame() < 60) world.advance();
  EXPECT_NEAR((centreOf(world, 0) - a).y(), 1, 1e-9);
  double way = 0, speed = 1;
  for (int i = 0; i < 60; ++i) {
    speed /= 1 + 2.0 / 60;
    way += speed / 60;
  }
  EXPECT_NEAR((centreOf(world, 1) - b).y(), way, 1e-9);
}

TEST(SoftPart, GripsPullABarApart) {
  World world(sceneOf(pulled(60)));
  size_t corners = 0, events = 0;
  while (world.frame() < 60) {
    world.advance();
    for (const record::MeshChange& change : world.meshChanges()) corners += change.tetCorners.size();
    for (const record::Event& event : world.events()) events += event.kind == record::EventKind::Fracture;
  }
  EXPECT_GT(corners, 10u);
  EXPECT_GT(events, 0u);
  const soft::Torn& torn = softOf(world).torn(0);
  EXPECT_GE(torn.pieces().count, 2u);
  EXPECT_GT(torn.openArea(), 0.008);
  // What holds the whole section together is spent; tears beside it that did not open far took little.
  const double spent = softOf(world).bonds().spent();
  EXPECT_GT(spent, 0.9 * 20 * 0.01);
  EXPECT_LT(spent, 20 * torn.openArea());
  // The grip took its end along.
  double farthest = 0;
  for (const Vec3& x : softOf(world).motion().positions()) farthest = std::max(farthest, x.x());
  EXPECT_GT(farthest, 0.88);
}

std::string stateAfter(int frames, unsigned threads) {
  const ThreadLimit limit(threads);
  World world(sceneOf(pulled(60)));
  while (world.frame() < uint64_t(frames)) world.advance();
  return world.save();
}

TEST(SoftPart, HasTheSameStateForAnyNumberOfThreads) {
  const std::string one = stateAfter(25, 1);
  EXPECT_EQ(one, stateAfter(25, 2));
  EXPECT_EQ(one, stateAfter(25, 4));
}

TEST(SoftPart, GoesOnFromASavedStateInTheMiddleOfATear) {
  World world(sceneOf(pulled(60))), other(sceneOf(pulled(60)));
  while (softOf(world).report().splits == 0 && world.frame() < 60) world.advance();
  world.advance();
  ASSERT_GT(softOf(world).report().splits, 0u);
  other.load(world.save(), "state");
  EXPECT_EQ(other.save(), world.save());
  for (int i = 0; i < 10; ++i) {
    world.advance();
    other.advance();
    ASSERT_EQ(other.hash(), world.hash()) << i;
  }
}

TEST(SoftPart, RecordsATearAndResumes) {
  const TemporaryFolder folder;
  const auto run = [&](const std::string& name, int frames, bool resume) {
    int done = 0;
    RunOptions options;
    options.file = folder / name;
    options.program = "test";
    options.resume = resume;
    options.stop = [&] { return ++done == frames; };
    return runScene(sceneOf(pulled(50)), options);
  };
  const auto whole = run("whole.sunder", 50, false);
  run("two.sunder", 30, false);
  EXPECT_EQ(run("two.sunder", 50, true).hash, whole.hash);
  const record::RunReader reader(folder / "whole.sunder");
  EXPECT_TRUE(record::everything(reader) == record::everything(record::RunReader(folder / "two.sunder")));
  EXPECT_FALSE(record::findLosses(reader).any());
  EXPECT_FALSE(replay(reader).difference);
  record::BodyMeshes meshes(reader);
  record::Frame first, last;
  reader.readFrame(0, first);
  reader.readFrame(reader.frameCount() - 1, last);
  const record::BodyShape start = meshes.shape(first, 0, 0),
                          end = meshes.shape(last, reader.frameCount() - 1, 0);
  // Walls are shown where it came apart.
  EXPECT_GT(end.mesh->triangles.size(), start.mesh->triangles.size());
  float farthest = 0;
  for (const Vec3f& x : end.vertices()) farthest = std::max(farthest, x.x());
  EXPECT_GT(farthest, 0.7f);
}

// A bar without lateral contraction, drawn out slowly: Hooke's law with the strain of its middle.
TEST(SoftPart, RecordsItsStress) {
  const std::string text = scene(R"("frames": 40, "gravity": [0, 0, 0], "timeStep": "1/60 s")",
                                 block("bar", R"("position": [0, 0, 0])",
                                       R"("tets": 200, "poisson": 0, "massDamping": 20, "pins": [
      {"lower": [-1, -1, -1], "upper": [-0.28, 1, 1]},
      {"lower": [0.28, -1, -1], "upper": [1, 1, 1], "keyFrames": [{"time": 0},
        {"time": "0.3 s", "position": [0.03, 0, 0]}]}])",
                                       "[0.6, 0.1, 0.1]"));
  std::string wanted = text;
  wanted.insert(wanted.size() - 1, R"(, "recording": {"fields": ["stress"]})");
  for (const std::string& each : {text, wanted}) {
    World world(sceneOf(each));
    while (world.frame() < 40) world.advance();
    const std::vector<record::BodyPoints> points = world.points();
    ASSERT_EQ(points.size(), 1u);
    if (each == text) {
      EXPECT_TRUE(points[0].fields.empty());
      continue;
    }
    ASSERT_EQ(points[0].fields.size(), 1u);
    const record::PointField& field = points[0].fields[0];
    EXPECT_EQ(field.name, "stress");
    ASSERT_EQ(field.values.size(), points[0].positions.size());
    const geometry::TetMesh& rest = softOf(world).cageAtRest(0);
    double stress = 0, moved = 0, square = 0;
    int count = 0;
    for (size_t v = 0; v < field.values.size(); ++v) {
      const double x = rest.positions[v].x();
      if (std::abs(x) > 0.15) continue;
      const double middle = double(points[0].positions[v].x()) - 0.015 - x;
      moved += x * middle;
      square += x * x;
      stress += double(field.values[v]);
      ++count;
    }
    ASSERT_GT(count, 8);
    const double strain = moved / square;
    EXPECT_NEAR(strain, 0.05, 0.01);
    EXPECT_NEAR(stress / count, 2e4 * strain, 0.05 * 2e4 * strain);
  }
}

TEST(SoftPart, APinWithoutVerticesIsRefused) {
  try {
    World world(
        sceneOf(scene(R"("frames": 1)", block("a", R"("position": [0, 1, 0])",
                                              R"("pins": [{"lower": [2, 2, 2], "upper": [3, 3, 3]}])"))));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no vertex of the cage"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("soft.json"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace sunder::world
