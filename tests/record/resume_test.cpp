#include "sunder/base/error.h"

#include "record/run_faults.h"
#include "temporary_folder.h"

#include <set>

#include <gtest/gtest.h>

namespace sunder::record {
namespace {

// Breaks recordings and resumes them; what comes out must be the run without a break.
class ResumeTest : public testing::Test {
 protected:
  ResumeTest() {
    FaultyOutput::State state;
    RunWriter writer(std::make_unique<FaultyOutput>(state), sampleInfo());
    writeBirths(writer, 0, kBirthFrames);
    finishBirths(writer);
    operations_ = state.operations;
    whole_ = state.bytes;
    put(whole_);
    wanted_ = everything(RunReader(path_));
  }

  void put(const std::string& bytes) { writeBytes(path_, bytes); }

  // A run that goes on from `bytes` until it is done or the disk fails. Returns the file.
  FaultyOutput::State goOn(const std::string& bytes, size_t failAt = SIZE_MAX, size_t keep = 0) {
    put(bytes);
    FaultyOutput::State state;
    state.failAt = failAt;
    state.keep = keep;
    std::optional<RunReader> run;
    std::optional<ResumePoint> at;
    if (bytes.size() >= kFileHeaderSize) {
      run.emplace(path_);
      at = run->resumePoint();
    }
    try {
      std::optional<RunWriter> writer;
      if (at) {
        state.bytes = state.synced = bytes;
        from_ = run->checkpointFrame(at->checkpoint) + 1;
        writer.emplace(std::make_unique<FaultyOutput>(state), *run, *at);
      } else {
        from_ = 0;
        writer.emplace(std::make_unique<FaultyOutput>(state), sampleInfo());
      }
      writeBirths(*writer, from_, kBirthFrames);
      finishBirths(*writer);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Write);
      EXPECT_NE(failAt, SIZE_MAX);
    }
    return state;
  }

  // Nothing that was there changed, and the recording is that of the run without a break.
  void expectWhole(const std::string& bytes, const std::string& before, const std::string& what) {
    if (from_ > 0) {
      ASSERT_EQ(bytes.substr(0, before.size()), before) << what;
    }
    put(bytes);
    const RunReader run(path_);
    ASSERT_TRUE(run.verify().empty()) << what << ": " << run.verify().front();
    ASSERT_EQ(everything(run), wanted_) << what;
    ASSERT_TRUE(run.indexed()) << what;
    // The same without the index.
    put(bytes.substr(0, bytes.size() - 1));
    const RunReader scanned(path_);
    ASSERT_FALSE(scanned.indexed());
    ASSERT_TRUE(scanned.verify().empty()) << what << ": " << scanned.verify().front();
    ASSERT_EQ(everything(scanned), wanted_) << what;
  }

  void expectResumed(const std::string& bytes, const std::string& what) {
    const FaultyOutput::State state = goOn(bytes);
    expectWhole(state.bytes, bytes, what);
  }

  void cutEvery(size_t step) {
    for (size_t length = 0; length < whole_.size(); length += step)
      ASSERT_NO_FATAL_FAILURE(expectResumed(whole_.substr(0, length), fmt::format("cut at {}", length)));
  }

  void testEpochsInTornChunks(size_t everyByteTo, size_t most);

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "run.sunder";
  std::string whole_, wanted_;
  size_t operations_ = 0;
  uint64_t from_ = 0;  // frame that the last run went on with
};

class ResumeFull : public ResumeTest {};

TEST_F(ResumeTest, AfterACutAnywhereIsWhole) { cutEvery(29); }
TEST_F(ResumeTest, AfterSomeCutsIsWhole) { cutEvery(1009); }
TEST_F(ResumeFull, AfterACutAtEveryByteIsWhole) { cutEvery(1); }
TEST_F(ResumeTest, OfAFinishedRunChangesNothing) { expectResumed(whole_, "no cut"); }

// A disk that is full at any write or sync, first of the run and then of the run that goes on.
void everyFailure(size_t operations, const std::function<void(size_t, size_t)>& test) {
  for (size_t n = 0; n < operations; ++n)
    for (const size_t keep : {size_t(0), size_t(30), size_t(100), size_t(333), SIZE_MAX}) test(n, keep);
}

TEST_F(ResumeTest, AfterAFailureOfAnyWriteIsWhole) {
  everyFailure(operations_, [&](size_t n, size_t keep) {
    const FaultyOutput::State broken = goOn("", n, keep);
    expectResumed(broken.bytes, fmt::format("operation {} of the run fails after {} bytes", n, keep));
  });
}

TEST_F(ResumeTest, AfterAFailureOfSomeWritesIsWhole) {
  for (size_t n = 0; n < operations_; n += 7) {
    const FaultyOutput::State broken = goOn("", n, 30 * n);
    expectResumed(broken.bytes, fmt::format("operation {} of the run fails after {} bytes", n, 30 * n));
  }
}

TEST_F(ResumeTest, AFailingResumeTakesNothingAway) {
  // Killed in frame 11, three frames behind the checkpoint of frame 8, and torn in the middle of a chunk.
  put(whole_);
  const RunReader run(path_);
  size_t cut = 0;
  for (const Chunk& chunk : run.chunks())
    if (chunk.head.type == ChunkType::Statistics && chunk.head.frame == 12) cut = chunk.end() - 5;
  const std::string before = whole_.substr(0, cut);
  put(before);
  const std::string seen = everything(RunReader(path_));
  ASSERT_EQ(RunReader(path_).frameCount(), 12u);
  std::set<size_t> frames;
  everyFailure(12, [&](size_t n, size_t keep) {
    const FaultyOutput::State broken = goOn(before, n, keep);
    ASSERT_EQ(from_, 9u);
    ASSERT_EQ(broken.bytes.substr(0, before.size()), before);
    put(broken.bytes);
    const RunReader again(path_);
    ASSERT_TRUE(again.verify().empty()) << again.verify().front();
    ASSERT_GE(again.frameCount(), 12u) << "operation " << n << ", " << keep << " bytes";
    if (again.frameCount() == 12) {
      ASSERT_EQ(everything(again), seen);
    }
    frames.insert(again.frameCount());
    expectResumed(broken.bytes, fmt::format("operation {} of the resume fails after {} bytes", n, keep));
    ASSERT_TRUE(from_ == 9 || (from_ == 13 && again.frameCount() > 12));
  });
  EXPECT_GT(frames.size(), 2u);
}

TEST_F(ResumeFull, AfterAnyTwoFailuresIsWhole) {
  everyFailure(operations_, [&](size_t n, size_t keep) {
    const FaultyOutput::State first = goOn("", n, keep);
    everyFailure(operations_ - n, [&](size_t m, size_t kept) {
      const FaultyOutput::State second = goOn(first.bytes, m, kept);
      ASSERT_NO_FATAL_FAILURE(
          expectResumed(second.bytes, fmt::format("operations {} ({}) and {} ({})", n, keep, m, kept)));
    });
  });
}

// Power that goes: what was not synced is there in part, in any order, with zeros in between.
void losePower(ResumeTest&, const std::string& synced,
               const std::vector<std::pair<size_t, std::string>>& writes, RandomStream& random,
               std::string& out) {
  constexpr size_t kSector = 64;
  out = synced;
  for (const auto& [at, bytes] : writes)
    for (size_t start = 0; start < bytes.size(); start += kSector) {
      if (random.below(3) == 0) continue;
      const size_t count = std::min(kSector, bytes.size() - start);
      if (out.size() < at + start + count) out.resize(at + start + count, '\0');
      out.replace(at + start, count, bytes, start, count);
    }
}

class PowerTest : public ResumeTest {
 protected:
  void test(int rounds) {
    RandomStream random(3);
    for (int round = 0; round < rounds; ++round) {
      std::string bytes;
      for (int loss = 0; loss < 3; ++loss) {  // again in the run that goes on
        const FaultyOutput::State state =
            goOn(bytes, random.below(static_cast<uint32_t>(operations_)), random.below(400));
        std::string after;
        losePower(*this, state.synced, state.writes, random, after);
        if (after.size() >= kFileHeaderSize && !state.synced.empty()) {
          put(state.synced);
          const auto committed = RunReader(path_).resumePoint();
          put(after);
          const auto now = RunReader(path_).resumePoint();
          if (committed) {
            ASSERT_TRUE(now.has_value());
            ASSERT_GE(now->counts.frames, committed->counts.frames) << "a commit is gone";
          }
        }
        // A run that loses its very start begins again.
        bytes = after.size() >= kFileHeaderSize && after.starts_with("SUNDRUN\n") ? after : "";
      }
      ASSERT_NO_FATAL_FAILURE(expectResumed(bytes, fmt::format("round {}", round)));
    }
  }
};
class PowerFull : public PowerTest {};

TEST_F(PowerTest, LosesNoCommit) { test(100); }
TEST_F(PowerTest, LosesNoCommitInAFewRounds) { test(4); }
TEST_F(PowerFull, LosesNoCommit) { test(5000); }

// Wherever a torn chunk claims to end, the epoch inside what it claims is found.
void ResumeTest::testEpochsInTornChunks(size_t everyByteTo, size_t most) {
  put(whole_);
  const RunReader run(path_);
  uint64_t end = 0;
  for (const Chunk& chunk : run.chunks())
    if (chunk.head.type == ChunkType::Commit && chunk.head.frame == 8) end = chunk.end();
  const std::string before = whole_.substr(0, end);
  for (size_t claimed = 1; claimed < most; claimed += claimed < everyByteTo ? 1 : 7) {
    std::string torn;
    appendChunk(torn, ChunkType::Frame, 9, 9.0 / 60, std::string());
    const std::string payload = [&] {
      std::string bytes;
      RandomStream random(claimed);
      for (size_t i = 0; i < claimed; ++i) bytes += char(random.below(256));
      return bytes;
    }();
    torn.clear();
    appendChunk(torn, ChunkType::Frame, 9, 9.0 / 60, payload);
    torn.resize(kChunkHeadSize);  // the head alone
    ASSERT_NO_FATAL_FAILURE(expectResumed(before + torn, fmt::format("claims {}", claimed)));
  }
}

TEST_F(ResumeTest, AnEpochInsideWhatATornChunkClaimsIsFound) { testEpochsInTornChunks(200, 600); }
TEST_F(ResumeTest, AnEpochInsideWhatASmallTornChunkClaimsIsFound) { testEpochsInTornChunks(5, 100); }

// Nothing is written after a failed sync, whatever a second one would say.
TEST_F(ResumeTest, AFailedSyncIsNotTriedAgain) {
  FaultyOutput::State state;
  state.failAt = 3;
  RunWriter writer(std::make_unique<FaultyOutput>(state), sampleInfo());
  EXPECT_THROW(writeBirths(writer, 0, 1), Error);
  EXPECT_EQ(state.operations, 4u) << "scene, frame, checkpoint, sync";
  const std::string bytes = state.bytes;
  EXPECT_THROW(writeBirths(writer, 1, 2), Error);
  EXPECT_THROW(writer.checkpoint(sampleCheckpoint(1), 0), Error);
  EXPECT_THROW(finishBirths(writer), Error);
  EXPECT_EQ(state.operations, 4u);
  EXPECT_EQ(state.bytes, bytes);
}

// A finished run that goes on, twice; the recording as it was before can still be read.
TEST_F(ResumeTest, EpochsFollowEachOther) {
  std::string bytes = whole_;
  for (const uint64_t to : {kBirthFrames + 3, kBirthFrames + 9}) {
    put(bytes);
    const std::string old = everything(RunReader(path_));
    FaultyOutput::State state;
    state.bytes = bytes;
    {
      const RunReader run(path_);
      const auto at = run.resumePoint();
      RunWriter writer(std::make_unique<FaultyOutput>(state), run, *at);
      writeBirths(writer, run.checkpointFrame(at->checkpoint) + 1, to);
      finishBirths(writer);
    }
    put(state.bytes);
    const RunReader now(path_);
    ASSERT_EQ(now.frameCount(), to);
    ASSERT_TRUE(now.verify().empty());
    const auto resumed = now.resumed();
    ASSERT_FALSE(resumed.empty());
    const RunReader before(path_, resumed.back().epochAt);
    EXPECT_EQ(before.fileSize(), bytes.size());
    EXPECT_EQ(everything(before), old);
    bytes = state.bytes;
  }
  put(bytes);
  EXPECT_EQ(RunReader(path_).resumed().size(), 2u);
}

// Who follows a file while it is torn and resumed sees, at every size, what a fresh reader sees.
TEST_F(ResumeTest, AFollowerSeesWhatAFreshReaderSees) {
  const std::string torn = whole_.substr(0, whole_.size() * 3 / 4);
  const FaultyOutput::State broken = goOn(torn, 3, 120);
  const std::string bytes = goOn(broken.bytes).bytes;
  put(bytes.substr(0, kFileHeaderSize));
  RunReader follower(path_);
  for (size_t length = kFileHeaderSize; length <= bytes.size(); length += 37) {
    // Appends: the follower has the file open.
    std::ofstream out(path_, std::ios::binary | std::ios::app);
    const size_t have = std::filesystem::file_size(path_);
    out << bytes.substr(have, length - have);
    out.close();
    follower.refresh();
    const RunReader fresh(path_);
    ASSERT_EQ(everything(follower), everything(fresh)) << length;
    ASSERT_EQ(follower.problems(), fresh.problems()) << length;
  }
}

}  // namespace
}  // namespace sunder::record
