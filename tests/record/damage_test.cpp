#include "sunder/base/error.h"
#include "sunder/record/losses.h"
#include "sunder/record/repair.h"
#include "sunder/record/tables.h"

#include "folders.h"
#include "record/rehash.h"
#include "record/run_faults.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

namespace sunder::record {
namespace {

class DamageTest : public testing::Test {
 protected:
  DamageTest() {
    RunWriter writer(path_, sampleInfo());
    writeBirths(writer, 0, kBirthFrames);
    finishBirths(writer);
  }

  // The recording with one byte of the n-th chunk of a type flipped, from 0.
  void flip(ChunkType type, size_t number, size_t at) {
    std::string bytes = fileBytes(path_);
    const RunReader run(path_);
    for (const Chunk& chunk : run.chunks()) {
      if (chunk.head.type != type || number-- > 0) continue;
      bytes[chunk.offset + at] = static_cast<char>(bytes[chunk.offset + at] ^ 1);
      break;
    }
    writeBytes(bad_, bytes);
  }
  // The same with right hashes: `change` gets the payload of each chunk.
  void change(const std::function<void(ChunkHead&, std::string&)>& change) {
    writeBytes(bad_, rehashed(RunReader(path_), change));
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "run.sunder", bad_ = folder_ / "bad.sunder";
  static constexpr size_t kHead = 12, kPayload = kChunkHeadSize + 4;
};

using Ranges = std::vector<NumberRange>;

TEST_F(DamageTest, ALostFrameIsNamedAndTheRestIsRead) {
  for (const size_t at : {kHead, kPayload})
    for (const bool indexed : {true, false}) {
      flip(ChunkType::Frame, 4, at);  // frame 6: key frames are 0, 5 and 10
      if (!indexed) std::filesystem::resize_file(bad_, std::filesystem::file_size(bad_) - 1);
      const RunReader run(bad_);
      EXPECT_EQ(run.indexed(), indexed);
      const Losses losses = findLosses(run);
      EXPECT_TRUE(losses.any());
      if (indexed && at == kHead) {
        EXPECT_TRUE(losses.names().empty()) << "the index has what the head said";
        EXPECT_EQ(run.checkpointFrame(run.resumePoint()->checkpoint), 4u) << "but not after a resume";
        continue;
      }
      EXPECT_EQ(losses.frames, (Ranges{{6, 9}}));
      EXPECT_TRUE(losses.bodies.empty() && losses.meshes.empty() && losses.events.empty());
      ASSERT_EQ(losses.names().size(), 1u);
      EXPECT_EQ(losses.names()[0], "frames 6 to 9");
      EXPECT_FALSE(losses.problems.empty());
      // It goes on from the checkpoint before the damage.
      EXPECT_EQ(run.checkpointFrame(run.resumePoint()->checkpoint), 4u);
    }
}

TEST_F(DamageTest, LostBodiesAndMeshesKeepTheirNumbers) {
  for (const size_t at : {kHead, kPayload})
    for (const ChunkType type : {ChunkType::Body, ChunkType::Mesh})
      for (const size_t number : {0u, 4u, 7u}) {
        flip(type, number, at);
        std::filesystem::resize_file(bad_, std::filesystem::file_size(bad_) - 1);
        const RunReader run(bad_);
        const Losses losses = findLosses(run);
        EXPECT_TRUE(losses.frames.empty());
        EXPECT_EQ(type == ChunkType::Body ? losses.bodies : losses.meshes, (Ranges{{number, number}}));
        EXPECT_TRUE((type == ChunkType::Body ? losses.meshes : losses.bodies).empty());
        ASSERT_EQ(run.bodies().size(), bodiesAt(kBirthFrames));
        Frame frame;
        for (size_t i = 0; i < run.frameCount(); ++i) {
          run.readFrame(i, frame);
          ASSERT_LE(frame.bodies.size(), run.bodies().size());
          for (uint32_t b = 0; b < frame.bodies.size(); ++b)
            ASSERT_EQ(frame.bodies[b].present, sampleState(i, b, bodiesAt(i)).present) << i << " " << b;
        }
      }
}

TEST_F(DamageTest, RepairSavesWhatIsSound) {
  flip(ChunkType::Frame, 4, kPayload);
  const std::string before = fileBytes(bad_);
  const Repaired repaired = repairRun(bad_, folder_ / "new.sunder");
  EXPECT_EQ(fileBytes(bad_), before);
  EXPECT_EQ(repaired.frames, kBirthFrames - 4);
  EXPECT_EQ(repaired.bodies, bodiesAt(kBirthFrames));
  EXPECT_EQ(repaired.checkpoints, 2u);
  const RunReader run(folder_ / "new.sunder"), whole(path_);
  EXPECT_FALSE(findLosses(run).any());
  ASSERT_EQ(run.lostBefore().size(), 1u);
  EXPECT_EQ(run.lostBefore()[0], "frames 6 to 9");
  Frame got, wanted;
  for (size_t i = 0; i < run.frameCount(); ++i) {
    run.readFrame(i, got);
    const size_t same = i < 6 ? i : i + 4;
    whole.readFrame(same, wanted);
    EXPECT_EQ(got.number, wanted.number);
    ASSERT_EQ(got.bodies.size(), wanted.bodies.size());
    for (size_t b = 0; b < got.bodies.size(); ++b)
      EXPECT_EQ(quantise(got.bodies[b]), quantise(wanted.bodies[b]));
    EXPECT_EQ(run.statistics(i), whole.statistics(same));
    EXPECT_EQ(run.events(i), whole.events(same));
  }
  // Going on simulates what is missing, and the recording is whole.
  {
    const auto at = run.resumePoint();
    ASSERT_EQ(run.checkpointFrame(at->checkpoint), 4u);
    RunWriter writer(run, *at);
    writeBirths(writer, 5, kBirthFrames);
    finishBirths(writer);
  }
  EXPECT_EQ(everything(RunReader(folder_ / "new.sunder")), everything(whole));
  EXPECT_THROW(repairRun(bad_, folder_ / "new.sunder"), Error) << "nothing is replaced";
}

TEST_F(DamageTest, NothingToSaveWritesNothing) {
  writeBytes(bad_, fileBytes(path_).substr(0, 200));
  EXPECT_TRUE(repairRun(bad_, folder_ / "new.sunder").output.empty());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new.sunder"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new.sunder.new"));
}

// Hashes are right from here on.

TEST_F(DamageTest, FramesThatNameBodiesThatAreNotThereAreRefused) {
  change([](ChunkHead& head, std::string& payload) {
    if (head.type != ChunkType::KeyFrame || head.frame != 5) return;
    // Section, length, number of bodies; then the step to the first body.
    ByteWriter(payload).overwrite<uint32_t>(14, 1000);
  });
  const RunReader run(bad_);
  Frame frame;
  EXPECT_THROW(run.readFrame(5, frame), Error);
  EXPECT_NO_THROW(run.readFrame(4, frame));
  EXPECT_NO_THROW(run.readFrame(10, frame));
  EXPECT_EQ(findLosses(run).frames, (Ranges{{5, 9}}));
}

TEST_F(DamageTest, NumbersAreBoundedByTheFile) {
  for (const ChunkType type : {ChunkType::Body, ChunkType::Mesh, ChunkType::StatisticNames}) {
    change([&](ChunkHead& head, std::string& payload) {
      if (head.type == type && head.frame >= 2) ByteWriter(payload).overwrite<uint32_t>(0, 60000);
    });
    const RunReader run(bad_);
    EXPECT_LT(run.bodies().size(), run.fileSize() / kChunkHeadSize);
    EXPECT_LT(run.meshCount(), run.fileSize() / kChunkHeadSize);
    EXPECT_FALSE(run.problems().empty());
    Frame frame;
    for (size_t i = 0; i < run.frameCount(); ++i) {
      try {
        run.readFrame(i, frame);
        EXPECT_LE(frame.bodies.size(), run.bodies().size());
      } catch (const Error&) {
      }
    }
  }
}

TEST_F(DamageTest, FramesThatDoNotFollowAreRefused) {
  change([](ChunkHead& head, std::string&) {
    if (head.type == ChunkType::Frame && head.frame == 3) head.frame = 1;
    if (head.type == ChunkType::Frame && head.frame == 7)
      head.time = std::numeric_limits<double>::quiet_NaN();
    if (head.type == ChunkType::Frame && head.frame == 12) head.time = 0;
  });
  const RunReader run(bad_);
  for (size_t i = 1; i < run.frameCount(); ++i) {
    EXPECT_GT(run.frameNumber(i), run.frameNumber(i - 1));
    EXPECT_GE(run.frameTime(i), run.frameTime(i - 1));
  }
  EXPECT_EQ(run.frameCount(), kBirthFrames - 3);
  EXPECT_EQ(run.problems().size(), 3u);
}

TEST_F(DamageTest, EpochsThatContinueFromNowhereAreRefused) {
  const RunReader whole(path_);
  const std::string bytes = fileBytes(path_);
  const std::string wanted = everything(whole);
  const uint64_t inside = whole.chunks()[5].offset + 7;
  for (const uint64_t from : {uint64_t(0), uint64_t(5), inside, uint64_t(bytes.size() + 99), UINT64_MAX}) {
    std::string file = bytes;
    appendChunk(file, ChunkType::Epoch, 4, 0, encode(Epoch{from, 0, 1}));
    writeBytes(bad_, file);
    const RunReader run(bad_);
    ASSERT_EQ(run.problems().size(), 1u) << from;
    EXPECT_EQ(everything(run), wanted);
    EXPECT_TRUE(run.resumed().empty());
  }
}

// Commits notice what is gone without a trace: a chunk that was never written, with all hashes right.
TEST_F(DamageTest, CommitsNoticeWhatIsGone) {
  const RunReader whole(path_);
  std::string file = fileHeader();
  for (const Chunk& chunk : whole.chunks()) {
    if (chunk.head.type == ChunkType::Index || (chunk.head.type == ChunkType::Body && chunk.head.frame == 5))
      continue;
    appendChunk(file, chunk.head.type, chunk.head.frame, chunk.head.time, whole.payload(chunk));
  }
  writeBytes(bad_, file);
  const RunReader run(bad_);
  EXPECT_FALSE(run.problems().empty());
  EXPECT_EQ(findLosses(run).bodies, (Ranges{{4, 4}}));
  EXPECT_EQ(run.checkpointFrame(run.resumePoint()->checkpoint), 4u);
}

TEST_F(DamageTest, Version1IsReadButNotResumed) {
  const RunReader whole(path_);
  writeBytes(bad_, asVersion1(whole));
  const RunReader run(bad_);
  EXPECT_EQ(run.version(), 1u);
  EXPECT_EQ(everything(run), everything(whole));
  EXPECT_FALSE(findLosses(run).any());
  EXPECT_THROW(run.resumePoint(), Error);
  const Repaired saved = repairRun(bad_, folder_ / "new.sunder");
  EXPECT_EQ(saved.frames, kBirthFrames);
  EXPECT_EQ(everything(RunReader(folder_ / "new.sunder")), everything(whole));
}

// What earlier programs left after a resume: bodies and meshes that frames name and nobody wrote.
TEST_F(DamageTest, Version1WithoutItsBodiesIsReadAsFarAsItGoes) {
  const RunReader whole(path_);
  writeBytes(folder_ / "one.sunder", asVersion1(whole));
  const RunReader one(folder_ / "one.sunder");
  std::string file = fileHeader(1);
  for (const Chunk& chunk : one.chunks())
    if ((chunk.head.type != ChunkType::Body && chunk.head.type != ChunkType::Mesh) || chunk.head.frame < 5 ||
        chunk.head.frame > 6)
      appendChunk(file, chunk.head.type, chunk.head.frame, chunk.head.time, one.payload(chunk));
  writeBytes(bad_, file);
  const RunReader run(bad_);
  const Losses losses = findLosses(run);
  EXPECT_EQ(losses.bodies, (Ranges{{4, 5}}));
  EXPECT_EQ(losses.meshes, (Ranges{{4, 5}}));
  EXPECT_TRUE(losses.frames.empty());
}

// Recordings that earlier programs left open for good.
TEST(OldRecordings, CanBeRead) {
  const std::filesystem::path folder = sourceFolder() / "tests/record/old";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no recordings in " << folder;
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".sunder") continue;
    ++count;
    const RunReader run(entry.path());
    EXPECT_GT(run.frameCount(), 1u) << entry.path();
    const Losses losses = findLosses(run);
    EXPECT_FALSE(losses.any()) << entry.path() << ": " << (losses.any() ? losses.problems.front() : "");
    EXPECT_FALSE(everything(run).empty());
  }
  EXPECT_GT(count, 0u);
}

}  // namespace
}  // namespace sunder::record
