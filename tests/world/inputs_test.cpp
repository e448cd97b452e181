#include "sunder/world/run/inputs.h"

#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/record/run_reader.h"
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

TEST(Inputs, ForNobodyAreRefused) {
  World world(twoBoxes());
  EXPECT_THROW(world.input({0, "soup", "impulse", 1, {0, 1, 0}, 0}), Error);
  world.input({0, "rigid", "impulse", 9, {0, 1, 0}, 0});
  EXPECT_THROW(world.advance(), Error);
  World other(twoBoxes());
  other.input({0, "rigid", "impulse", 1, {0, 1}, 0});
  EXPECT_THROW(other.advance(), Error);
}

}  // namespace
}  // namespace sunder::world
