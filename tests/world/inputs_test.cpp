#include "sunder/world/run/inputs.h"

#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/record/repair.h"
#include "sunder/record/run_reader.h"
#include "sunder/world/build/ready_scene.h"
#include "sunder/world/run/runner.h"

#include "record/run_faults.h"
#include "temporary_folder.h"
#include "world/parts_of.h"

#include <gtest/gtest.h>

namespace sunder::world {
namespace {

Scene twoBoxes() {
  return readScene(SceneDocument::parse(R"({"world": {"frames": 40, "timeStep": "1/120 s"},
    "bodies": [{"id": "floor", "shape": {"plane": {}}, "kind": "static"},
               {"id": "a", "shape": {"box": {"size": [0.2, 0.2, 0.2]}}, "position": [0, 0.1, 0]},
               {"id": "b", "shape": {"box": {"size": [0.2, 0.2, 0.2]}}, "position": [1, 0.1, 0]}],
    "recording": {"checkpointFrames": 10}})",
                                        "boxes.json", ".", {}));
}

const char* kPushes = R"([
  {"time": 0.4, "part": "rigid", "what": "impulse", "body": "b", "values": [0, 30, 0, 1.05, 0.1, 0]},
  {"time": "100 ms", "part": "rigid", "what": "impulse", "body": "a", "values": [0, 20, 0]}])";

TEST(Inputs, ActAtTheirTimesAreRecordedAndReplayed) {
  const TemporaryFolder folder;
  writeFile(folder / "pushes.json", kPushes);
  const std::vector<Input> inputs = readInputs(folder / "pushes.json", twoBoxes());
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].step, 48u);
  EXPECT_EQ(inputs[1].step, 12u);
  const auto run = [&](const std::string& name, bool resume, uint64_t frames) {
    Scene scene = twoBoxes();
    scene.world.frames = frames;
    RunOptions options;
    options.file = folder / name;
    options.resume = resume;
    if (!resume) options.inputs = inputs;
    return *runScene(std::move(scene), options).hash;
  };
  const uint64_t hash = run("whole.sunder", false, 40);
  const record::RunReader whole(folder / "whole.sunder");
  // The frame that the step leads to, in the order in which they acted.
  ASSERT_EQ(whole.inputs(7).size(), 1u);
  ASSERT_EQ(whole.inputs(25).size(), 1u);
  EXPECT_EQ(fromRecord(whole.inputs(7)[0], "").body, 1u);
  EXPECT_LT(whole.inputs(7)[0].sequence, whole.inputs(25)[0].sequence);
  record::Frame frame;
  whole.readFrame(8, frame);
  EXPECT_GT(frame.bodies[1].velocity.y(), 1);
  EXPECT_FALSE(replay(whole).difference.has_value());
  // One acts before the break, one after it: the state knows that it waits.
  run("broken.sunder", false, 15);
  EXPECT_EQ(run("broken.sunder", true, 40), hash);
  EXPECT_TRUE(record::everything(record::RunReader(folder / "broken.sunder")) == record::everything(whole));
}

TEST(Inputs, FilesThatAreWrongAreRefusedWithTheEntry) {
  const TemporaryFolder folder;
  for (const auto& [text, message] :
       {std::pair{"{}", "no JSON list"},
        {"[1]", "input 0"},
        {R"([{"time": 0, "part": "rigid"}])", "missing"},
        {R"([{"time": "1 kg", "part": "rigid", "what": "impulse"}])", "input 0"},
        {R"([{"time": -1, "part": "rigid", "what": "impulse"}])", "out of range"},
        {R"([{"time": 0, "part": "rigid", "what": "impulse", "body": "c"}])", "\"c\""},
        {R"([{"time": 0, "part": "rigid", "what": "x", "bodie": "c"}])", "bodie"}}) {
    writeFile(folder / "bad.json", text);
    try {
      readInputs(folder / "bad.json", twoBoxes());
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("bad.json"), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(readInputs(folder / "absent.json", twoBoxes()), Error);
  EXPECT_THROW(fromRecord({0, 0, "impulse", "[]"}, "run"), Error);
}

// When they are given, not when they act: hours may lie between.
TEST(Inputs, ThatNobodyCanTakeAreRefusedWhenTheyAreGiven) {
  World world(twoBoxes());
  EXPECT_THROW(world.input({0, "soup", "impulse", 1, {0, 1, 0}, 0}), Error);
  EXPECT_THROW(world.input({9, "rigid", "soup", 1, {0, 1, 0}, 0}), Error);
  EXPECT_THROW(world.input({9, "rigid", "impulse", 9, {0, 1, 0}, 0}), Error);
  EXPECT_THROW(world.input({9, "rigid", "impulse", kNoIndex, {0, 1, 0}, 0}), Error);
  EXPECT_THROW(world.input({9, "rigid", "impulse", 1, {0, 1}, 0}), Error);
  // A state could not be loaded with it.
  EXPECT_THROW(world.input({9, "rigid", "impulse", 1, {0, 1e300, 0}, 0}), Error);
  EXPECT_TRUE(world.waitingInputs().empty());
  world.input({9, "rigid", "impulse", 1, {0, 1, 0}, 0});
  world.advance();
}

// Pieces of a cut body have numbers of their own, and those of the bodies behind them shift.
TEST(Inputs, ActOnTheBodyThatTheyNameWhereAnotherIsCut) {
  const TemporaryFolder folder;
  const Scene scene = readyScene(readScene(SceneDocument::parse(
      R"({"world": {"frames": 3, "gravity": [0, 0, 0]}, "bodies": [
          {"id": "ring", "group": 1, "shape": {"make": "torus"}, "cut": [{"normal": [1, 0.03, 0.02]}]},
          {"id": "ball", "shape": {"sphere": {"radius": 0.1}}, "position": [9, 0, 0]},
          {"id": "other", "shape": {"sphere": {"radius": 0.1}}, "position": [12, 0, 0]}]})",
      "cut.json", ".", {})));
  writeFile(folder / "push.json", R"([ // as scenes have it
    {"time": 0, "part": "rigid", "what": "impulse", "body": "ball", "values": [0, 1, 0]},
    {"time": 0, "part": "rigid", "what": "impulse", "body": "ring.1", "values": [0, 1, 0]}])");
  World world(scene);
  for (const Input& input : readInputs(folder / "push.json", scene)) world.input(input);
  world.advance();
  const auto states = world.states();
  for (uint32_t b = 0; b < world.bodyCount(); ++b) {
    const std::string name = world.body(b).name;
    EXPECT_EQ(states[b].velocity.norm() > 0, name == "ball" || name == "ring.1") << name;
  }
}

TEST(Inputs, OfARunThatWasEndedBeforeItsFirstCheckpointAreKept) {
  const TemporaryFolder folder;
  writeFile(folder / "pushes.json", kPushes);
  RunOptions options;
  options.inputs = readInputs(folder / "pushes.json", twoBoxes());
  options.file = folder / "whole.sunder";
  runScene(twoBoxes(), options);
  const record::RunReader whole(options.file);
  EXPECT_EQ(whole.info().inputs.size(), 2u);
  const std::string bytes = readTextFile(options.file);
  options.inputs.clear();
  options.resume = true;
  options.file = folder / "killed.sunder";
  writeFile(options.file, bytes.substr(0, whole.chunks()[0].end()));
  runScene(twoBoxes(), options);
  EXPECT_TRUE(record::everything(record::RunReader(options.file)) == record::everything(whole));
  // Another scene has other bodies.
  writeFile(options.file, bytes.substr(0, whole.chunks()[0].end()));
  Scene scene = readScene(SceneDocument::parse(
      R"({"world": {"frames": 2}, "bodies": [{"id": "x", "shape": {"sphere": {"radius": 1}}}]})", "x.json",
      ".", {}));
  EXPECT_EQ(runScene(std::move(scene), options).notes.size(), 1u);
  EXPECT_TRUE(record::RunReader(options.file).info().inputs.empty());
}

TEST(Inputs, ForLaterThanTheEndAreTold) {
  const TemporaryFolder folder;
  Scene scene = twoBoxes();
  scene.world.frames = 2;
  RunOptions options;
  options.file = folder / "run.sunder";
  options.inputs = {{1'000'000, "rigid", "impulse", 1, {0, 1, 0}, 0}};
  const RunResult result = runScene(std::move(scene), options);
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_NE(result.notes[0].find("later than the end"), std::string::npos) << result.notes[0];
}

// Frames are lost with what they show; what acted on the way to them still acts.
TEST(Inputs, OfLostFramesAreReplayedAndSaved) {
  const TemporaryFolder folder;
  writeFile(folder / "pushes.json", kPushes);
  RunOptions options;
  options.inputs = readInputs(folder / "pushes.json", twoBoxes());
  options.file = folder / "whole.sunder";
  runScene(twoBoxes(), options);
  const record::RunReader whole(options.file);
  for (const size_t at : {size_t(20), record::kChunkHeadSize + 4}) {  // in the head, in the payload
    std::string bytes = readTextFile(options.file);
    for (const record::Chunk& chunk : whole.chunks())
      if (chunk.head.type == record::ChunkType::Frame && chunk.head.frame == 7) bytes[chunk.offset + at] ^= 1;
    bytes.pop_back();  // the index would have the head
    writeFile(folder / "bad.sunder", bytes);
    const ReplayResult replayed = replay(record::RunReader(folder / "bad.sunder"));
    EXPECT_FALSE(replayed.difference.has_value()) << at << ": " << replayed.difference->frame;
    EXPECT_LT(replayed.frames, 41u);
    const std::filesystem::path saved = folder / fmt::format("saved{}.sunder", at);
    record::repairRun(folder / "bad.sunder", saved, std::nullopt);
    const record::RunReader run(saved);
    size_t inputs = 0;
    for (size_t f = 0; f < run.frameCount(); ++f) inputs += run.inputs(f).size();
    EXPECT_EQ(inputs, 2u);
    EXPECT_FALSE(replay(run).difference.has_value());
  }
}

// As many as a hand gives in hours, without a cost that grows with the square of their number.
TEST(Inputs, MayBeMany) {
  constexpr uint32_t kMany = 300'000;
  World world(twoBoxes());
  for (uint32_t i = 0; i < kMany; ++i) world.input({i / 200'000, "rigid", "impulse", 1, {0, 1e-9, 0}, 0});
  world.advance();
  EXPECT_EQ(world.appliedInputs().size(), kMany);
}

}  // namespace
}  // namespace sunder::world
