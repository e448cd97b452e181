// Runs of scenes that a program puts together.
#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/record/run_reader.h"
#include "sunder/world/run/runner.h"

#include "temporary_folder.h"

#include <gtest/gtest.h>

namespace sunder::world {
namespace {

// A cut ring falls on the ground beside a ball that hangs.
Scene programScene(uint64_t frames) {
  Scene scene;
  scene.world.frames = frames;
  BodySpec ground;
  ground.id = "ground";
  ground.shape = scene.addShape(PlaneShape{});
  ground.kind = rigid::BodyKind::Static;
  scene.addBody(ground);
  BodySpec ring;
  ring.id = "ring";
  MeshShape torus;
  torus.make = "torus";
  torus.with = {{"radius", "0.3"}, {"tube", "0.1"}};
  torus.solid.surfacePoints = 100;
  torus.solid.fieldError = 0.02;
  ring.shape = scene.addShape(torus, "ring");
  ring.pose.position = Vec3(0, 0.3, 0);
  ring.material = scene.materialNamed("oak");
  ring.cut = {{Vec3::Zero(), Vec3(1, 0.1, 0)}};
  scene.addBody(ring);
  BodySpec ball;
  ball.id = "ball";
  ball.shape = scene.addShape(SphereShape{0.1});
  ball.pose.position = Vec3(1, 0.5, 0);
  ball.pose.rotation = Quat(Eigen::AngleAxisd(0.3, Vec3(1, 2, 3).normalized()));
  JointSpec rope;
  rope.id = "rope";
  rope.settings.kind = rigid::JointKind::Distance;
  rope.settings.b = rigid::BodyIndex(scene.addBody(ball));
  rope.settings.anchorA = Vec3(1.5, 1, 0);
  rope.settings.anchorB = ball.pose.position;
  scene.joints.push_back(rope);
  return scene;
}

RunResult runProgram(Scene scene, const std::filesystem::path& file, bool resume = false) {
  RunOptions options;
  options.file = file;
  options.program = "test";
  options.resume = resume;
  return runScene(std::move(scene), options);
}

TEST(ProgramScene, RunsResumesAndReplays) {
  const TemporaryFolder folder;
  const RunResult whole = runProgram(programScene(12), folder / "whole.sunder");
  EXPECT_EQ(whole.bodies, 4u);
  runProgram(programScene(5), folder / "half.sunder");
  const RunResult resumed = runProgram(programScene(12), folder / "half.sunder", true);
  EXPECT_EQ(resumed.resumed, 5u);
  EXPECT_EQ(resumed.hash, whole.hash);
  const record::RunReader run(folder / "half.sunder");
  const ReplayResult again = replay(run);
  EXPECT_FALSE(again.difference) << again.difference->what;
  EXPECT_EQ(again.frames, 13u);
  EXPECT_EQ(run.info().sceneName, "scene");
}

TEST(ProgramScene, AnotherSceneIsNotResumed) {
  const TemporaryFolder folder;
  runProgram(programScene(3), folder / "run.sunder");
  Scene other = programScene(6);
  other.bodies[2].velocity = Vec3(1, 0, 0);
  EXPECT_THROW(runProgram(std::move(other), folder / "run.sunder", true), Error);
}

// A scene that was read goes on as values once its document is dropped.
TEST(ProgramScene, AChangeOfASceneThatWasReadIsRecorded) {
  const TemporaryFolder folder;
  Scene scene = readScene(SceneDocument::parse(
      R"({"world": {"frames": 4}, "bodies": [{"id": "a", "shape": {"sphere": {"radius": "1 cm"}}}]})",
      "scene.json", "."));
  scene.document = {};
  scene.bodies[0].velocity = Vec3(0, 0, 2);
  runProgram(std::move(scene), folder / "run.sunder");
  const record::RunReader run(folder / "run.sunder");
  EXPECT_EQ(recordedScene(run).bodies[0].velocity, Vec3(0, 0, 2));
  EXPECT_FALSE(replay(run).difference);
}

TEST(ProgramScene, TheGroundIsSaid) {
  const TemporaryFolder folder;
  Scene scene = programScene(1);
  BodySpec wall = scene.bodies[2];
  wall.id = "slab";
  wall.kind = rigid::BodyKind::Static;
  wall.shape = scene.addShape(BoxShape{Vec3(9, 0.1, 9)});
  wall.pose.position = Vec3(0, -0.5, 0);
  scene.addBody(wall);
  runProgram(std::move(scene), folder / "run.sunder");
  const record::RunReader run(folder / "run.sunder");
  for (const record::BodyEntry& body : run.bodies())
    EXPECT_EQ(body.ground, body.name == "ground") << body.name;
}

}  // namespace
}  // namespace sunder::world
