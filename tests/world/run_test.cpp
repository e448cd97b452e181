#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/base/json_parse.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/record/run_reader.h"
#include "sunder/record/run_writer.h"
#include "sunder/world/run/runner.h"
#include "sunder/world/scene/scene_sample.h"
#include "sunder/world/scene/scene_schema.h"

#include "temporary_folder.h"
#include "world/parts_of.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace sunder::world {
namespace {

Scene runFrom(const std::string& text, const std::vector<std::string>& sets = {}) {
  return readScene(SceneDocument::parse(text, "scene.json", ".", sets));
}

const char* kHeap = R"({
  "world": {"frames": 60, "seed": 3, "sleep": true, "bounds": {"lower": [-2, -1, -2], "upper": [2, 9, 2]}},
  "bodies": [
    {"id": "ground", "shape": {"plane": {}}, "kind": "static"},
    {"id": "mill", "shape": {"box": {"size": [1, 0.1, 0.1]}}, "kind": "kinematic", "keyFrames": [
      {"time": 0, "position": [0, 0.2, 0]}, {"time": 0.5, "position": [0, 0.2, 0], "rotation": {"degrees": [0, 90, 0]}}]},
    {"id": "lost", "shape": {"sphere": {"radius": 0.1}}, "position": [1.8, 1, 0], "velocity": [3, 0, 0]}
  ],
  "arrays": [{"id": "heap", "body": {}, "shapes": [{"sphere": {"radius": 0.06}}, {"box": {"size": [0.1, 0.1, 0.1]}},
      {"capsule": {"length": 0.08, "radius": 0.04}}], "turned": true,
    "fill": {"count": 30, "box": {"lower": [-0.3, 0.2, -0.3], "upper": [0.3, 3, 0.3]}, "spacing": 0.2}}],
  "joints": [{"id": "thread", "kind": "distance", "b": "heap[29]", "anchor": [0, 0.3, 0], "relative": true, "breakForce": 0.5}],
  "forces": [{"wind": {"velocity": [1, 0, 0]}, "from": 0.2, "until": 0.4},
    {"explosion": {"position": [0, 0, 0], "time": 0.5, "impulse": 0.3, "radius": 1}}],
  "recording": {"checkpointFrames": 7, "eventImpulse": 0.05, "fields": ["impulse", "asleep"]}
})";

RunResult runTo(const std::filesystem::path& file, const std::vector<std::string>& sets = {},
                bool resume = false) {
  RunOptions options;
  options.file = file;
  options.program = "test";
  options.resume = resume;
  return runScene(runFrom(kHeap, sets), options);
}

TEST(WorldRun, RecordsWhatHappens) {
  const TemporaryFolder folder;
  const RunResult result = runTo(folder / "run.sunder");
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.frames, 60u);
  EXPECT_GT(result.contacts, 0u);
  const record::RunReader run(folder / "run.sunder");
  EXPECT_TRUE(run.verify().empty());
  ASSERT_EQ(run.frameCount(), 61u);
  ASSERT_EQ(run.bodies().size(), 33u);
  EXPECT_EQ(run.end()->hash, result.hash);
  record::Frame first, last;
  run.readFrame(0, first);
  run.readFrame(60, last);
  EXPECT_TRUE(first.bodies[2].present);
  EXPECT_FALSE(last.bodies[2].present) << "left the bounds";
  EXPECT_LT(last.bodies[1].rotation.angularDistance(
                record::Quatf(Eigen::AngleAxisf(float(kPi / 2), Vec3f::UnitY()))),
            1e-3f);
  size_t deaths = 0, breaks = 0, contacts = 0;
  for (size_t i = 0; i < run.frameCount(); ++i)
    for (const record::Event& event : run.events(i)) {
      deaths += event.kind == record::EventKind::Death;
      breaks += event.kind == record::EventKind::JointBreak;
      contacts += event.kind == record::EventKind::Contact;
    }
  EXPECT_EQ(deaths, 1u);
  EXPECT_EQ(breaks, 1u);
  EXPECT_GT(contacts, 0u);
}

TEST(WorldRun, ThreadsDoNotChangeTheHash) {
  const TemporaryFolder folder;
  std::set<uint64_t> hashes;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    hashes.insert(runTo(folder / std::to_string(threads)).hash.value());
  }
  EXPECT_EQ(hashes.size(), 1u);
}

// The file as it is after a crash at any byte: going on from it ends in the same state.
TEST(WorldRun, GoesOnFromAnyByte) {
  const TemporaryFolder folder;
  const RunResult whole = runTo(folder / "run.sunder");
  const std::string bytes = readTextFile(folder / "run.sunder");
  RandomStream random(5);
  for (int k = 0; k < 12; ++k) {
    const size_t cut =
        record::kFileHeaderSize + random.below(static_cast<uint32_t>(bytes.size() - record::kFileHeaderSize));
    writeFile(folder / "cut.sunder", bytes.substr(0, cut));
    const RunResult again = runTo(folder / "cut.sunder", {}, true);
    EXPECT_EQ(again.hash, whole.hash) << "cut at " << cut;
    const record::RunReader run(folder / "cut.sunder");
    EXPECT_EQ(run.frameCount(), 61u);
    EXPECT_TRUE(run.verify().empty());
  }
}

TEST(WorldRun, StopsAndGoesOnLonger) {
  const TemporaryFolder folder;
  const RunResult longer = runTo(folder / "longer", {"world.frames=80"});
  RunOptions options;
  options.file = folder / "run.sunder";
  options.program = "test";
  uint64_t frames = 0;
  options.progress = [&](const RunStatus& status) { frames = status.frame; };
  options.stop = [&] { return frames == 20; };
  const RunResult stopped = runScene(runFrom(kHeap), options);
  EXPECT_FALSE(stopped.finished);
  EXPECT_EQ(stopped.frames, 20u);
  {
    const record::RunReader run(options.file);
    EXPECT_EQ(run.end()->kind, record::EndKind::Stopped);
    const Scene recorded = recordedScene(run, {"world.frames=80"});
    EXPECT_EQ(recorded.bodies.size(), 33u);
  }
  const RunResult again = runTo(folder / "run.sunder", {"world.frames=80"}, true);
  EXPECT_EQ(again.resumed, 20u);
  EXPECT_EQ(again.hash, longer.hash);
  EXPECT_THROW(runTo(folder / "run.sunder", {"world.gravity=[0,-5,0]"}, true), Error) << "another scene";
}

TEST(WorldRun, ReplayFindsNothingAndFindsAChange) {
  const TemporaryFolder folder;
  runTo(folder / "run.sunder", {"world.frames=20"});
  const ReplayResult same = replay(record::RunReader(folder / "run.sunder"));
  EXPECT_FALSE(same.difference.has_value());
  EXPECT_EQ(same.frames, 21u);
  EXPECT_GE(same.checkpoints, 3u);

  // The same recording under a scene in which one body starts elsewhere.
  const record::RunReader old(folder / "run.sunder");
  record::RunInfo info = old.info();
  Json scene = readJson(info.scene);
  scene["bodies"][2]["velocity"][1] = 0.5;
  info.scene = scene.text();
  {
    record::RunWriter writer(folder / "changed.sunder", info);
    for (const auto& body : old.bodies()) writer.addBody(body);
    record::Frame frame;
    for (size_t i = 0; i < old.frameCount(); ++i) {
      old.readFrame(i, frame);
      writer.frame(frame.number, frame.time, frame.bodies, {}, {}, {});
    }
  }
  const ReplayResult changed = replay(record::RunReader(folder / "changed.sunder"));
  ASSERT_TRUE(changed.difference.has_value());
  EXPECT_EQ(changed.difference->body, "lost");
}

TEST(WorldRun, StrictStopsAtTheFirstDegradation) {
  const TemporaryFolder folder;
  RunOptions options;
  options.file = folder / "run.sunder";
  options.strict = true;
  const char* overlapping = R"({"world": {"frames": 5}, "bodies": [
    {"id": "a", "shape": {"sphere": {"radius": 1}}}, {"id": "b", "shape": {"sphere": {"radius": 1}}, "position": [0.5, 0, 0]}]})";
  EXPECT_THROW(runScene(runFrom(overlapping), options), Error);
  options.strict = false;
  const RunResult result = runScene(runFrom(overlapping), options);
  ASSERT_EQ(result.degradations.size(), 1u);
  EXPECT_NE(result.degradations[0].what.find("overlap"), std::string::npos);
}

TEST(WorldRun, ForcesFollowTheirFormulas) {
  const char* text = R"({"world": {"gravity": [0, 0, 0], "frames": 60, "sleep": false}, "bodies": [
    {"id": "free", "shape": {"sphere": {"radius": 0.1}}, "mass": 2},
    {"id": "moon", "shape": {"sphere": {"radius": 0.1}}, "position": [5, 0, 0]},
    {"id": "slow", "shape": {"sphere": {"radius": 0.1}}, "position": [10, 0, 0], "velocity": [0, 0, 1]},
    {"id": "blown", "shape": {"sphere": {"radius": 0.1}}, "position": [15, 0, 0], "mass": "1 g"},
    {"id": "near", "shape": {"sphere": {"radius": 0.1}}, "position": [20, 0, 0], "mass": 0.5}],
   "forces": [{"gravity": {"acceleration": [0, -2, 0]}, "bodies": ["moon"]},
    {"drag": {"linear": 1}, "bodies": ["slow"]}, {"wind": {"velocity": [0, 3, 0]}, "bodies": ["blown"]},
    {"explosion": {"position": [19.5, 0, 0], "time": 0.5, "impulse": 2, "radius": 1}, "bodies": ["near"]}]})";
  World world(runFrom(text));
  for (int i = 0; i < 60; ++i) world.advance();
  const rigid::Simulation& s = simulationOf(world);
  EXPECT_EQ(s.velocity(rigid::BodyIndex(0)), Vec3::Zero());
  EXPECT_NEAR(s.velocity(rigid::BodyIndex(1)).y(), -2, 1e-9);
  EXPECT_NEAR(s.velocity(rigid::BodyIndex(2)).z(), std::exp(-1.0), 0.01);
  EXPECT_GT(s.velocity(rigid::BodyIndex(3)).y(), 2.5);
  EXPECT_LT(s.velocity(rigid::BodyIndex(3)).y(), 3.0 + 1e-9);
  EXPECT_NEAR(s.velocity(rigid::BodyIndex(4)).x(), 2 * 0.5 / 0.5, 1e-9)
      << "half the impulse at half the radius";
}

TEST(WorldRun, TheSampleShowsEveryKeyAndIsAScene) {
  const std::string sample = sampleScene();
  const Scene scene = runFrom(sample);
  EXPECT_GT(scene.bodies.size(), 10u);
  const auto schema = readJson(sceneSchemaText());
  const auto has = [&](const std::string& key) {
    return sample.find("\"" + key + "\"") != std::string::npos;
  };
  for (const char* definition : {"world", "solver", "material", "shape", "rotation", "body", "soft", "pin",
                                 "glue", "array", "joint", "force", "recording"})
    for (const auto& [key, value] : schema["definitions"][definition]["properties"].members())
      EXPECT_TRUE(has(key)) << definition << "." << key;
  for (const SampleBlock& block : sampleBlocks())
    EXPECT_NO_THROW(SceneDocument::parse(std::string("{") + block.text + "\n}", "block.json", "."))
        << block.name;
}

}  // namespace
}  // namespace sunder::world
