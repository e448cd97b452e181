#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/record/run_reader.h"
#include "sunder/world/run/runner.h"

#include "examples/swarm_part.h"
#include "folders.h"
#include "record/run_faults.h"
#include "temporary_folder.h"
#include "world/parts_of.h"

#include <gtest/gtest.h>

namespace sunder::world {
namespace {

Scene swarmScene(const std::string& text) {
  [[maybe_unused]] static const bool kRegistered = (examples::registerSwarm(), true);
  return readScene(SceneDocument::parse(text, "swarm.json", ".", {}));
}

std::string exampleText() { return readTextFile(sourceFolder() / "examples" / "swarm.json"); }

double statistic(const World& world, const std::string& name) {
  for (const record::Statistic& s : world.statistics())
    if (s.name == name) return s.value;
  ADD_FAILURE() << "no " << name;
  return 0;
}

// A box of 1 kg on the floor, and a point above it.
std::string boxAndPoint(const std::string& pointMass) {
  return R"({"world": {"frames": 300}, "materials": {"test": {"density": 1000, "friction": 0.5, "restitution": 0}},
    "bodies": [{"id": "floor", "shape": {"plane": {}}, "kind": "static", "material": "test"},
               {"id": "box", "shape": {"box": {"size": [0.1, 0.1, 0.1]}}, "material": "test", "position": [0, 0.05, 0]}],
    "swarm": {"count": [1, 1, 1], "spacing": 1, "position": [0.01, 0.13, 0.005], "radius": "1 cm", "mass": )" +
         pointMass + "}}";
}

TEST(Swarm, APartFromOutsideIsSteppedAndFollowsABodyThatBreaks) {
  World world(swarmScene(exampleText()));
  const uint32_t swarm = world.bodyCount() - 1;
  EXPECT_EQ(world.body(swarm).name, "swarm");
  EXPECT_EQ(world.body(swarm).kind, record::BodyKind::Particles);
  while (world.frame() < 10) world.advance();
  EXPECT_GT(statistic(world, "swarm.touching"), 90);  // on the plate, one on another's place or falling
  while (breakageOf(world).changes().empty() && world.frame() < 60) world.advance();
  ASSERT_FALSE(breakageOf(world).changes().empty());
  EXPECT_GT(statistic(world, "swarm.followed"), 10);
  // Pieces have rows behind the swarm's, and numbers of their own part.
  EXPECT_GT(world.bodyCount(), swarm + 2);
  EXPECT_EQ(world.table()[swarm + 1].parent, 3u);
  EXPECT_EQ(world.table()[swarm + 1].origin, 3u);
  EXPECT_EQ(world.table()[swarm + 1].local, 5u);
  while (world.frame() < 90) world.advance();
  // Everything lies on the floor or on what is left: nothing fell through or flew off.
  for (const record::BodyPoints& points : world.points())
    for (const Vec3f& p : points.positions) {
      EXPECT_GT(p.y(), -0.002f);
      EXPECT_LT(p.norm(), 3);
    }
}

TEST(Swarm, StaysBoundedAtMassRatiosOfAThousand) {
  for (const char* mass : {"0.001", "1", "1000"}) {
    World world(swarmScene(boxAndPoint(mass)));
    double fastest = 0, deepest = 0;
    while (world.frame() < 300) {
      world.advance();
      const rigid::Simulation& s = simulationOf(world);
      fastest = std::max(fastest, s.velocity(rigid::BodyIndex(1)).norm());
      const double above = double(world.points().at(0).positions.at(0).y()) - 0.01;
      deepest = std::max(deepest, s.centre(rigid::BodyIndex(1)).y() + 0.05 - above);
    }
    const Vec3 box = simulationOf(world).centre(rigid::BodyIndex(1));
    const float height = world.points().at(0).positions.at(0).y();
    EXPECT_LT(fastest, 1.0) << mass;
    EXPECT_NEAR(box.y(), 0.05, 0.005) << mass;
    EXPECT_NEAR(height, 0.11, 0.01) << mass;  // it still lies on the box
    EXPECT_LT(deepest, 0.01) << mass;
    EXPECT_EQ(world.degradations().empty(), std::string(mass) != "1000");  // it is said that it presses less
  }
}

TEST(Swarm, KeepsMomentumWithTheBodyItStrikes) {
  // Without gravity, and nothing else to touch.
  World world(swarmScene(R"({"world": {"frames": 60, "gravity": [0, 0, 0]},
    "bodies": [{"id": "box", "shape": {"box": {"size": [0.1, 0.2, 0.3]}}, "position": [0, 0, 0]}],
    "swarm": {"count": [2, 1, 2], "spacing": "6 cm", "position": [-0.02, 0.2, -0.01], "radius": "1 cm", "mass": 0.5}})"));
  world.input({0, "swarm", "kick", kNoIndex, {0.5, -3, 0.2}, 0});
  while (world.frame() < 60) world.advance();
  const rigid::Simulation& s = simulationOf(world);
  EXPECT_GT(s.angularVelocity(rigid::BodyIndex(0)).norm(), 0.1);
  const Vec3 box = s.momentum();
  EXPECT_LT(box.y(), -1);
  // What the points have left, by their way in the last frame.
  const auto before = world.points().at(0).positions;
  world.advance();
  Vec3 swarm = Vec3::Zero();
  for (size_t i = 0; i < before.size(); ++i)
    swarm += 0.5 * 60 * (world.points().at(0).positions[i] - before[i]).cast<double>();
  EXPECT_LT((box + swarm - 2 * Vec3(0.5, -3, 0.2)).norm(), 0.01);
}

TEST(Swarm, InputsActInTheirStepAndUnknownOnesAreRefused) {
  World world(swarmScene(boxAndPoint("0.01")));
  EXPECT_THROW(world.input({0, "smoke", "kick", kNoIndex, {0, 1, 0}, 0}), Error);
  world.input({5, "swarm", "kick", kNoIndex, {0, 2, 0}, 0});
  world.input({5, "rigid", "impulse", 1, {0, 3, 0}, 0});
  while (world.frame() < 5) world.advance();
  EXPECT_LT(simulationOf(world).velocity(rigid::BodyIndex(1)).norm(), 0.1);
  // What waits is part of the state.
  World other(swarmScene(boxAndPoint("0.01")));
  other.load(world.save(), "state");
  EXPECT_EQ(other.hash(), world.hash());
  world.advance();
  other.advance();
  EXPECT_GT(simulationOf(world).velocity(rigid::BodyIndex(1)).y(), 1);
  EXPECT_EQ(other.hash(), world.hash());
  EXPECT_THROW(world.input({5, "swarm", "kick", kNoIndex, {0, 1, 0}, 0}), Error);  // that step is over
  EXPECT_THROW(world.input({6, "swarm", "dance", kNoIndex, {}, 0}), Error);
  EXPECT_THROW(world.input({6, "swarm", "kick", kNoIndex, {1}, 0}), Error);
}

TEST(Swarm, IsRecordedResumedAndReplayedAndDoesNotDependOnThreads) {
  const TemporaryFolder folder;
  const auto run = [&](const std::string& name, bool resume, uint64_t frames) {
    Scene scene = swarmScene(exampleText());
    scene.world.frames = frames;
    scene.recording.checkpointFrames = 10;
    RunOptions options;
    options.file = folder / name;
    options.program = "test";
    options.resume = resume;
    return *runScene(std::move(scene), options).hash;
  };
  const uint64_t hash = run("whole.sunder", false, 40);
  run("broken.sunder", false, 33);  // the plate breaks before
  EXPECT_EQ(run("broken.sunder", true, 40), hash);
  const record::RunReader whole(folder / "whole.sunder"), broken(folder / "broken.sunder");
  EXPECT_TRUE(record::everything(broken) == record::everything(whole));
  EXPECT_FALSE(replay(whole).difference.has_value());
  const ThreadLimit one(1);
  EXPECT_EQ(run("one.sunder", false, 40), hash);
}

TEST(Swarm, ABlockThatIsWrongIsRefusedWithItsPlace) {
  for (const auto& [from, to, message] : {std::tuple{"\"spacing\": 1,", "", "spacing"},
                                          {"\"spacing\": 1,", "\"spacing\": -1,", "spacing"},
                                          {"\"radius\"", "\"radios\"", "radios"}}) {
    std::string text = boxAndPoint("1");
    text.replace(text.find(from), std::string_view(from).size(), to);
    try {
      swarmScene(text);
      ADD_FAILURE() << message;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(examples::registerSwarm(), Error);  // the name is taken
}

}  // namespace
}  // namespace sunder::world
