#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/base/random.h"
#include "sunder/base/stop.h"
#include "sunder/record/losses.h"
#include "sunder/world/run/runner.h"

#include "record/rehash.h"
#include "record/run_faults.h"
#include "temporary_folder.h"

#include <optional>

#include <gtest/gtest.h>

namespace sunder::world {
namespace {

// Pieces are born in many frames between checkpoints.
const char* kBreaking = R"({
  "world": {"frames": 24, "timeStep": "1/120 s", "seed": 3},
  "shapes": {"bar": {"box": {"size": ["40 cm", "4 cm", "6 cm"]}}},
  "bodies": [
    {"id": "ground", "shape": {"plane": {}}, "kind": "static", "material": "concrete"},
    {"id": "block", "shape": {"box": {"size": [0.1, 0.2, 0.3]}}, "kind": "static", "material": "steel", "position": [0, 0.1, 0]},
    {"id": "low", "shape": "bar", "material": "porcelain", "position": [0.02, 0.24, 0], "velocity": [0, -6, 0], "fracture": {"edge": "4 cm"}},
    {"id": "plain", "shape": "bar", "material": "oak", "position": [0.5, 0.1, 0], "velocity": [0, -3, 0],
     "fracture": {"model": "voronoi", "pieces": 7, "impulse": "0.1 N s", "edge": "4 cm"}},
    {"id": "other", "shape": "bar", "material": "oak", "position": [-0.5, 0.7, 0], "velocity": [0, -2, 0],
     "fracture": {"model": "voronoi", "pieces": 5, "impulse": "0.1 N s", "edge": "4 cm"}}
  ],
  "recording": {"checkpointFrames": 5, "eventImpulse": 0.01, "fields": ["impulse", "asleep"]}
})";

RunResult breakingRun(const std::filesystem::path& file, bool resume) {
  RunOptions options;
  options.file = file;
  options.program = "test";
  options.resume = resume;
  return runScene(readScene(SceneDocument::parse(kBreaking, "scene.json", ".", {})), options);
}

class BrokenRun : public testing::Test {
 protected:
  BrokenRun() {
    hash_ = breakingRun(folder_ / "whole.sunder", false).hash;
    whole_ = readTextFile(folder_ / "whole.sunder");
    wanted_ = record::everything(record::RunReader(folder_ / "whole.sunder"));
    const record::RunReader run(folder_ / "whole.sunder");
    for (const record::BodyEntry& body : run.bodies()) born_ += body.born > 5 && body.born % 5 != 0;
  }

  void expectResumed(const std::string& bytes, const std::string& what) {
    writeFile(folder_ / "cut.sunder", bytes);
    EXPECT_EQ(breakingRun(folder_ / "cut.sunder", true).hash, hash_) << what;
    const record::RunReader run(folder_ / "cut.sunder");
    const record::Losses losses = record::findLosses(run);
    ASSERT_FALSE(losses.any()) << what << ": " << losses.problems.front();
    ASSERT_TRUE(record::everything(run) == wanted_) << what;
  }

  void test(int cuts) {
    EXPECT_GT(born_, 3u) << "pieces between checkpoints";
    RandomStream random(9);
    for (int k = 0; k < cuts; ++k) {
      const size_t cut = record::kFileHeaderSize +
                         random.below(static_cast<uint32_t>(whole_.size() - record::kFileHeaderSize));
      std::string bytes = whole_.substr(0, cut);
      if (k % 3 == 1)
        bytes += std::string(random.below(5000), '\0');  // a file that grew before its bytes came
      if (k % 3 == 2) {
        // A hole of zeros in what came last.
        const size_t length = std::min<size_t>(cut, 1 + random.below(300));
        bytes.replace(cut - length, length / 2, length / 2, '\0');
        if (cut - length < record::kFileHeaderSize) continue;
      }
      ASSERT_NO_FATAL_FAILURE(expectResumed(bytes, "cut at " + std::to_string(cut)));
    }
  }

  TemporaryFolder folder_;
  std::string whole_, wanted_;
  std::optional<uint64_t> hash_;
  size_t born_ = 0;
};
class BrokenRunFull : public BrokenRun {};

TEST_F(BrokenRun, ResumedIsTheRunWithoutABreak) { test(5); }
TEST_F(BrokenRunFull, ResumedIsTheRunWithoutABreak) { test(100); }

// A request to stop that comes in the middle of a frame, several times in a run.
TEST_F(BrokenRun, StoppedInsideFramesAndResumedIsTheRunWithoutABreak) {
  const std::filesystem::path file = folder_ / "stopped.sunder";
  std::optional<RunResult> result;
  for (int stops = 0; !result || !result->finished; ++stops) {
    ASSERT_LT(stops, 25);
    RunOptions options;
    options.file = file;
    options.program = "test";
    options.resume = stops > 0;
    options.patience = 0;
    uint64_t from = UINT64_MAX;
    options.progress = [&](const RunStatus& status) {
      if (from == UINT64_MAX) from = status.frame;
      if (status.frame == from + 6) requestStop();
    };
    result = runScene(readScene(SceneDocument::parse(kBreaking, "scene.json", ".", {})), options);
    clearStop();
    if (result->finished) break;
    const record::RunReader run(file);
    EXPECT_EQ(run.end()->kind, record::EndKind::Stopped);
    EXPECT_EQ(run.frameCount(), result->frames + 1);
    EXPECT_TRUE(run.verify().empty());
    if (result->hash) {
      EXPECT_EQ(run.checkpointFrame(run.checkpointCount() - 1), result->frames);
    }
  }
  EXPECT_EQ(result->hash, hash_);
  ASSERT_TRUE(record::everything(record::RunReader(file)) == wanted_);
}

// One flipped bit: what is before it is kept, the rest is simulated again, and nothing is lost.
TEST_F(BrokenRun, DamageIsSimulatedAgain) {
  std::string bytes = whole_;
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
  expectResumed(bytes, "a flipped bit");
}

// A frame's number is not simulated up to where nothing explains it, and lost frames are not compared.
TEST_F(BrokenRun, ReplayIsBounded) {
  const record::RunReader run(folder_ / "whole.sunder");
  writeFile(folder_ / "far.sunder", record::rehashed(run, [](record::ChunkHead& head, std::string&) {
              if (head.frame == 24 && head.type == record::ChunkType::KeyFrame)
                head.frame = uint64_t(1) << 32;
              if (head.frame == 24 && head.type == record::ChunkType::Frame) head.frame = uint64_t(1) << 32;
            }));
  EXPECT_THROW(replay(record::RunReader(folder_ / "far.sunder")), Error);
  std::string bytes = whole_;
  for (const record::Chunk& chunk : run.chunks())
    if (chunk.head.type == record::ChunkType::Frame && chunk.head.frame == 3)
      bytes[chunk.payloadAt() + 3] = static_cast<char>(bytes[chunk.payloadAt() + 3] ^ 1);
  writeFile(folder_ / "lost.sunder", bytes);
  const ReplayResult result = replay(record::RunReader(folder_ / "lost.sunder"));
  EXPECT_FALSE(result.difference.has_value());
  EXPECT_GT(result.lost, 0u);
  EXPECT_EQ(result.frames + result.lost, 25u);
}

// All that later frames depend on changes the hash: impulses of liquids, emitters, breaks.
TEST(WorldHash, CoversWhatIsSaved) {
  const char* text = R"({
    "world": {"frames": 8, "timeStep": "1/120 s", "seed": 3},
    "bodies": [{"id": "cork", "shape": {"sphere": {"radius": "8 cm"}}, "material": "oak", "position": [0.3, 0.3, 0.25]}],
    "fluid": {"radius": "3 cm", "tank": {"lower": [0, 0, 0], "upper": [0.6, 1, 0.5]},
      "liquids": [{"id": "water", "blocks": [{"lower": [0, 0, 0], "upper": [0.6, 0.32, 0.5]}]}]}})";
  const auto scene = [&] { return readScene(SceneDocument::parse(text, "scene.json", ".", {})); };
  World world(scene()), other(scene());
  for (int i = 0; i < 4; ++i) world.advance();
  const std::string state = world.save();
  other.load(state, "state");
  EXPECT_EQ(other.hash(), world.hash());
  // The state ends with what liquids do to bodies in the next step: nine numbers a body, the cork's first.
  const size_t impulse = state.size() - 72 * world.bodyCount() + 8;
  ByteReader in(std::as_bytes(std::span(state)), "state");
  in.seek(impulse, "impulse");
  EXPECT_NE(in.f64("impulse"), 0.0);
  std::string pushed = state;
  ByteWriter(pushed).overwrite<double>(impulse, 1e-3);
  other.load(pushed, "state");
  EXPECT_NE(other.hash(), world.hash());
}

}  // namespace
}  // namespace sunder::world
