#include "sunder/base/error.h"
#include "sunder/base/random.h"
#include "sunder/base/stop.h"
#include "sunder/base/stopwatch.h"

#include "record/sample_run.h"
#include "temporary_folder.h"

#include <csignal>
#include <fstream>
#include <numeric>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sunder::record {
namespace {

void expectFrame(const RunReader& run, size_t i, uint32_t bodies) {
  Frame frame;
  run.readFrame(i, frame);
  EXPECT_EQ(frame.number, run.frameNumber(i));
  ASSERT_EQ(frame.bodies.size(), bodies);
  for (uint32_t b = 0; b < bodies; ++b) {
    const BodyState want = sampleState(frame.number, b, bodies);
    const BodyState& got = frame.bodies[b];
    ASSERT_EQ(got.present, want.present) << "frame " << i << " body " << b;
    if (!want.present) continue;
    EXPECT_EQ(got.position, want.position);
    EXPECT_LT(got.rotation.angularDistance(want.rotation), 1e-3f);  // float acos near 1 is coarse
    EXPECT_GT(std::abs(got.rotation.dot(want.rotation)), 1 - 1e-6f);
    EXPECT_LT((got.velocity - want.velocity).norm(), 1e-3f * (1 + want.velocity.norm()));
    EXPECT_LT((got.angularVelocity - want.angularVelocity).norm(), 2e-3f);
  }
  EXPECT_EQ(run.statistics(i), sampleStatistics(frame.number));
  EXPECT_EQ(run.events(i), sampleEvents(frame.number));
  ASSERT_EQ(frame.fields.size(), 1u);
  EXPECT_EQ(frame.fields[0].values[0], float(frame.number));
}

TEST(RunFile, HalfFloatsRoundToNearest) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const float value = floatFromHalf(static_cast<uint16_t>(bits));
    EXPECT_EQ(halfFromFloat(value), bits);
    EXPECT_EQ(halfFromFloat(-value), bits | 0x8000);
    if (bits == 0 || bits + 1 >= 0x7c00) continue;
    const float next = floatFromHalf(static_cast<uint16_t>(bits + 1));
    EXPECT_EQ(halfFromFloat(value + 0.3f * (next - value)), bits);
    EXPECT_EQ(halfFromFloat(value + 0.7f * (next - value)), bits + 1);
  }
  EXPECT_EQ(floatFromHalf(halfFromFloat(1e9f)), 65504.0f);
  EXPECT_EQ(floatFromHalf(halfFromFloat(-1e9f)), -65504.0f);
}

TEST(RunFile, RotationsKeepTwoMicroradians) {
  RandomStream random(3);
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    BodyState state;
    state.present = true;
    Vec4 c(random.normal(), random.normal(), random.normal(), random.normal());
    if (i % 5 == 0) c *= 1e-4, c[i % 4] = 1;
    c.normalize();
    state.rotation.coeffs() = c.cast<float>();
    const Quat back = restore(quantise(state)).rotation.cast<double>().normalized();
    const Quat exact = state.rotation.cast<double>().normalized();
    const double sine = (back.conjugate() * exact).vec().norm();
    worst = std::max(worst, 2 * std::asin(std::min(1.0, sine)));
  }
  EXPECT_LT(worst, 4e-6);
}

TEST(RunFile, GivesBackWhatWasWrittenInAnyOrder) {
  const TemporaryFolder folder;
  const uint32_t bodies = 7;
  writeSample(folder / "run.sunder", 23, bodies);
  const RunReader run(folder / "run.sunder");
  EXPECT_TRUE(run.indexed());
  EXPECT_TRUE(run.problems().empty());
  EXPECT_TRUE(run.verify().empty());
  EXPECT_EQ(run.info().scene, sampleInfo().scene);
  EXPECT_EQ(run.info().program, "sunder test");
  ASSERT_EQ(run.frameCount(), 23u);
  ASSERT_EQ(run.bodies().size(), bodies);
  EXPECT_EQ(run.bodies()[2].name, "body[2]");
  EXPECT_EQ(run.bodies()[2].mass, 3.0);
  const MeshEntry mesh = run.mesh(0);
  EXPECT_EQ(mesh.positions, sampleMesh().positions);
  EXPECT_EQ(mesh.triangles, sampleMesh().triangles);
  EXPECT_EQ(mesh.tets, sampleMesh().tets);
  EXPECT_EQ(mesh.interior, sampleMesh().interior);
  RandomStream random(1);
  for (int k = 0; k < 200; ++k) expectFrame(run, random.below(23), bodies);
  ASSERT_EQ(run.checkpointCount(), 6u);
  EXPECT_EQ(run.checkpoint(2).state, sampleCheckpoint(8).state);
  EXPECT_EQ(run.checkpoint(2).hash, 1008u);
  ASSERT_TRUE(run.end().has_value());
  EXPECT_EQ(run.end()->hash, 77u);
  EXPECT_EQ(run.frameAt(-1), 0u);
  EXPECT_EQ(run.frameAt(5.5 / 60), 5u);
  EXPECT_EQ(run.frameAt(100), 22u);
}

TEST(RunFile, WithoutIndexReadsTheSame) {
  const TemporaryFolder folder;
  writeSample(folder / "run.sunder", 12, 5, false);
  const RunReader run(folder / "run.sunder");
  EXPECT_FALSE(run.indexed());
  EXPECT_FALSE(run.end().has_value());
  ASSERT_EQ(run.frameCount(), 12u);
  for (size_t i = 12; i-- > 0;) expectFrame(run, i, 5);
}

TEST(RunFile, NoFramesIsARunToo) {
  const TemporaryFolder folder;
  writeSample(folder / "run.sunder", 0, 3);
  const RunReader run(folder / "run.sunder");
  EXPECT_EQ(run.frameCount(), 0u);
  EXPECT_EQ(run.bodies().size(), 3u);
  EXPECT_FALSE(run.lastGoodCheckpoint().has_value());
}

// What is left of a run that is cut anywhere opens, and has every frame whose last byte is there.
TEST(RunFile, CutAtEveryByte) {
  const TemporaryFolder folder;
  const uint32_t bodies = 3;
  writeSample(folder / "whole", 6, bodies);
  const RunReader whole(folder / "whole");
  const std::string bytes = fileBytes(folder / "whole");
  writeBytes(folder / "cut", bytes);
  for (size_t length = bytes.size(); length-- > 0;) {
    std::filesystem::resize_file(folder / "cut", length);
    if (length < kFileHeaderSize) {
      EXPECT_THROW(RunReader(folder / "cut"), Error);
      continue;
    }
    const RunReader run(folder / "cut");
    size_t frames = 0, checkpoints = 0;
    for (const auto& chunk : whole.chunks()) {
      if (chunk.end() > length) break;
      frames += chunk.head.type == ChunkType::Frame || chunk.head.type == ChunkType::KeyFrame;
      checkpoints += chunk.head.type == ChunkType::Checkpoint;
    }
    ASSERT_EQ(run.frameCount(), frames) << "cut at " << length;
    ASSERT_EQ(run.checkpointCount(), checkpoints);
    ASSERT_TRUE(run.problems().empty());
    if (frames > 0) expectFrame(run, frames - 1, bodies);
  }
}

BodyPoints samplePoints(uint64_t frame, uint32_t body) {
  RandomStream random(7, body);
  BodyPoints points;
  points.body = body;
  points.radius = 0.01f;
  points.resolution = 1e-4f;
  points.fields = {{"velocity", 3, {}}, {"density", 1, {}}};
  const size_t count = 50 + 7 * frame % 30;  // some come, some go
  for (size_t i = 0; i < count; ++i) {
    const Vec3 start = random.pointIn({Vec3(-1, 0, -1), Vec3(1, 2, 1)}), speed = random.unitVector();
    points.positions.push_back((start + speed * (double(frame) / 60)).cast<float>());
    for (int k = 0; k < 3; ++k) points.fields[0].values.push_back(float(speed[k]));
    points.fields[1].values.push_back(float(1000 + double(i)));
  }
  return points;
}

// Points come back to within half a resolution, from any frame, also after bodies that had some have none.
TEST(RunFile, PointsComeBack) {
  const TemporaryFolder folder;
  const auto has = [](uint64_t frame, uint32_t body) { return body == 1 || (frame > 3 && frame < 9); };
  {
    RunWriter writer(folder / "run.sunder", sampleInfo());
    writer.setKeyInterval(5);
    for (int b = 0; b < 3; ++b) writer.addBody({"body", kNoIndex, "water", kNoIndex, 1, BodyKind::Fluid, 0});
    std::vector<BodyState> states(3);
    for (BodyState& s : states) s.present = true;
    for (uint64_t f = 0; f < 14; ++f) {
      std::vector<BodyPoints> points;
      for (const uint32_t body : {1u, 2u})
        if (has(f, body)) points.push_back(samplePoints(f == 12 ? 11 : f, body));  // 12: nothing moved
      writer.frame(f, double(f) / 60, states, {}, {}, {}, points);
    }
    writer.finish({EndKind::Finished, "", 1, "{}"});
  }
  const RunReader run(folder / "run.sunder");
  Frame frame;
  for (const size_t f : {13, 4, 0, 9, 12, 7, 8, 11, 3}) {
    run.readFrame(f, frame);
    size_t k = 0;
    for (const uint32_t body : {1u, 2u}) {
      if (!has(f, body)) continue;
      const BodyPoints want = samplePoints(f == 12 ? 11 : f, body);
      ASSERT_LT(k, frame.points.size());
      const BodyPoints& got = frame.points[k++];
      EXPECT_EQ(got.body, body);
      EXPECT_EQ(got.radius, want.radius);
      ASSERT_EQ(got.positions.size(), want.positions.size());
      for (size_t i = 0; i < want.positions.size(); ++i) {
        EXPECT_LE((got.positions[i] - want.positions[i]).cwiseAbs().maxCoeff(), 0.5001e-4f);
        EXPECT_NEAR(got.fields[0].values[3 * i], want.fields[0].values[3 * i], 1e-3);
        EXPECT_NEAR(got.fields[1].values[i], want.fields[1].values[i], 0.51);
      }
    }
    EXPECT_EQ(k, frame.points.size()) << "frame " << f;
  }
}

TEST(RunFile, PointsThatDoNotFitAreRefused) {
  const TemporaryFolder folder;
  RunWriter writer(folder / "run.sunder", sampleInfo());
  writer.addBody({"body", kNoIndex, "water", kNoIndex, 1, BodyKind::Fluid, 0});
  const std::vector<BodyState> states(1);
  const auto refused = [&](const BodyPoints& points) {
    EXPECT_THROW(writer.frame(0, 0, states, {}, {}, {}, std::span(&points, 1)), Error);
  };
  BodyPoints points = samplePoints(0, 0);
  points.resolution = 0;
  refused(points);
  points = samplePoints(0, 0);
  points.fields[1].values.pop_back();
  refused(points);
  points = samplePoints(0, 5);
  refused(points);
  // What is not finite comes back as such, and harms nothing else.
  points = samplePoints(0, 0);
  points.positions[3].x() = std::numeric_limits<float>::infinity();
  writer.frame(0, 0, states, {}, {}, {}, std::span(&points, 1));
  const RunReader run(folder / "run.sunder");
  Frame frame;
  run.readFrame(0, frame);
  ASSERT_EQ(frame.points.size(), 1u);
  EXPECT_TRUE(std::isnan(frame.points[0].positions[3].x()));
  EXPECT_NEAR(frame.points[0].positions[4].y(), points.positions[4].y(), 1e-4);
}

// A flipped byte never gives wrong numbers: each frame is as written or is refused.
TEST(RunFile, FlippedBytesAreNoticed) {
  const TemporaryFolder folder;
  const uint32_t bodies = 3;
  for (const bool finished : {false, true}) {
    writeSample(folder / "whole", 8, bodies, finished, 3);
    const std::string bytes = fileBytes(folder / "whole");
    writeBytes(folder / "flipped", bytes);
    for (size_t at = kFileHeaderSize; at < bytes.size(); at += 3) {
      putByte(folder / "flipped", at, static_cast<char>(bytes[at] ^ (1 << at % 8)));
      const RunReader run(folder / "flipped");
      size_t refused = 0, good = 0;
      for (size_t i = 0; i < run.frameCount(); ++i) {
        try {
          const auto& states = run.readQuantised(i).states;
          ++good;
          const auto expected = sampleStates(run.frameNumber(i), bodies);
          for (uint32_t b = 0; b < bodies; ++b)
            ASSERT_EQ(b < states.size() ? states[b] : QuantisedState{}, quantise(expected[b])) << at;
        } catch (const Error&) {
          ++refused;
        }
      }
      // At most the frames up to the next key frame are lost.
      EXPECT_GE(good + 3, 8u) << "byte " << at;
      EXPECT_TRUE(refused == 0 || !run.verify().empty()) << "byte " << at;
      putByte(folder / "flipped", at, bytes[at]);
    }
  }
}

TEST(RunFile, DamagedChunksAreNamed) {
  const TemporaryFolder folder;
  writeSample(folder / "run.sunder", 8, 3);
  std::string bytes = fileBytes(folder / "run.sunder");
  const RunReader whole(folder / "run.sunder");
  for (const auto& chunk : whole.chunks())
    if (chunk.head.type == ChunkType::Frame && chunk.head.frame == 3) bytes[chunk.payloadAt() + 4] ^= 1;
  writeBytes(folder / "bad", bytes);
  const RunReader run(folder / "bad");
  const auto problems = run.verify();
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].find("the frame of frame 3 is damaged"), std::string::npos) << problems[0];
  Frame frame;
  EXPECT_NO_THROW(run.readFrame(2, frame));
  EXPECT_THROW(run.readFrame(4, frame), Error);
  EXPECT_NO_THROW(run.readFrame(5, frame));
}

TEST(RunFile, ForeignFilesAreRefused) {
  const TemporaryFolder folder;
  writeBytes(folder / "a", "");
  writeBytes(folder / "b", "OFF\n8 6 12\n0 0 0 and so on and so forth");
  std::string later = fileHeader();
  later[8] = 9;
  writeBytes(folder / "c", later);
  for (const char* name : {"a", "b", "c", "missing", "."})
    EXPECT_THROW(RunReader(folder / name), Error) << name;
}

TEST(RunFile, FollowsAFileBeingWritten) {
  const TemporaryFolder folder;
  RunWriter writer(folder / "run.sunder", sampleInfo());
  writer.addBody({"a", kNoIndex, "", kNoIndex, 1, BodyKind::Dynamic, 0});
  writeFrames(writer, 0, 1, 1);
  RunReader run(folder / "run.sunder");
  EXPECT_EQ(run.frameCount(), 1u);
  EXPECT_FALSE(run.refresh());
  writeFrames(writer, 1, 6, 1);
  EXPECT_TRUE(run.refresh());
  ASSERT_EQ(run.frameCount(), 6u);
  expectFrame(run, 5, 1);
  writer.finish({});
  EXPECT_TRUE(run.refresh());
  EXPECT_TRUE(run.end().has_value());
  EXPECT_FALSE(run.refresh());
}

TEST(RunFile, GoesOnAfterACheckpoint) {
  const TemporaryFolder folder;
  const uint32_t bodies = 4;
  writeSample(folder / "run.sunder", 11, bodies, false);
  const std::string bytes = fileBytes(folder / "run.sunder");
  writeBytes(folder / "run.sunder", bytes.substr(0, bytes.size() - 10));
  RunReader follower(folder / "run.sunder");
  EXPECT_EQ(follower.frameCount(), 10u);
  {
    const RunReader run(folder / "run.sunder");
    const auto at = run.resumePoint();
    ASSERT_TRUE(at.has_value());
    EXPECT_EQ(run.checkpointFrame(at->checkpoint), 8u);
    RunWriter writer(run, *at);
    EXPECT_EQ(writer.bodyCount(), bodies);
    EXPECT_EQ(writer.meshCount(), 1u);
    writer.setKeyInterval(5);
    writeFrames(writer, 9, 20, bodies);
    writer.finish({EndKind::Finished, "", 5, ""});
  }
  const RunReader run(folder / "run.sunder");
  EXPECT_TRUE(run.indexed());
  ASSERT_EQ(run.frameCount(), 20u);
  for (size_t i = 0; i < 20; ++i) expectFrame(run, i, bodies);
  EXPECT_TRUE(run.verify().empty());
  EXPECT_TRUE(follower.refresh());
  EXPECT_EQ(follower.frameCount(), 20u);
}

// Bodies and meshes that were born after the checkpoint are written again.
TEST(RunFile, BirthsAfterTheCheckpointAreWrittenAgain) {
  const TemporaryFolder folder;
  writeSample(folder / "run.sunder", 9, 3, false);
  const auto bear = [](RunWriter& writer) {
    const uint32_t mesh = writer.addMesh(sampleMesh());
    writer.addBody({"piece", 1, "glass", mesh, 1, BodyKind::Dynamic, 9});
    writeFrames(writer, 9, 12, 4);
  };
  {
    const RunReader run(folder / "run.sunder");
    RunWriter writer(run, *run.resumePoint());
    bear(writer);  // and then the power goes
  }
  {
    const RunReader run(folder / "run.sunder");
    ASSERT_EQ(run.meshCount(), 2u);
    RunWriter writer(run, *run.resumePoint());
    EXPECT_EQ(writer.meshCount(), 1u);
    EXPECT_EQ(writer.bodyCount(), 3u);
    bear(writer);
  }
  const RunReader run(folder / "run.sunder");
  ASSERT_EQ(run.bodies().size(), 4u);
  EXPECT_EQ(run.bodies()[3].name, "piece");
  EXPECT_EQ(run.mesh(1).positions, sampleMesh().positions);
  ASSERT_EQ(run.frameCount(), 12u);
}

TEST(RunFile, TwoWritersOfOneFileAreRefused) {
  const TemporaryFolder folder;
  RunWriter first(folder / "run.sunder", sampleInfo());
  EXPECT_THROW(RunWriter(folder / "run.sunder", sampleInfo()), Error);
}

// The old recording stays in its place until the new one has a checkpoint.
TEST(RunFile, AnEarlierRunIsKeptAside) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "run.sunder";
  writeSample(path, 5, 4);
  const std::string first = fileBytes(path);
  const RunReader reading(path);
  {
    const RunWriter early(path, sampleInfo(), Existing::KeepAside);
    EXPECT_EQ(fileBytes(path), first);
    EXPECT_EQ(early.kept(), "");
  }
  EXPECT_EQ(fileBytes(path), first) << "the new one ended before its first checkpoint";
  EXPECT_FALSE(std::filesystem::exists(folder / "run.sunder.new"));
  {
    RunWriter writer(path, sampleInfo(), Existing::KeepAside);
    writeFrames(writer, 0, 2, 4);
    EXPECT_EQ(writer.kept(), folder / "run.1.sunder");
    // Another writer is refused before it has moved anything.
    EXPECT_THROW(RunWriter(path, sampleInfo(), Existing::KeepAside), Error);
    EXPECT_FALSE(std::filesystem::exists(folder / "run.2.sunder"));
    EXPECT_FALSE(std::filesystem::exists(folder / "run.sunder.new")) << "nor does it leave a draft";
  }
  EXPECT_EQ(fileBytes(folder / "run.1.sunder"), first);
  EXPECT_TRUE(reading.verify().empty()) << "who reads it goes on";
  const std::string second = fileBytes(path);
  const auto replace = [&](Existing existing, uint64_t frames) {
    RunWriter writer(path, sampleInfo(), existing);
    writeFrames(writer, 0, frames, 4);
    return writer.kept();
  };
  EXPECT_EQ(replace(Existing::KeepAside, 1), folder / "run.2.sunder");
  EXPECT_EQ(fileBytes(folder / "run.2.sunder"), second);
  EXPECT_EQ(replace(Existing::KeepAside, 5), "") << "the last one has nothing but its start";
  EXPECT_EQ(replace(Existing::Replace, 1), "");
  EXPECT_FALSE(std::filesystem::exists(folder / "run.3.sunder"));
}

// The name of a draft may be taken by a link: what it leads to is not ours.
TEST(RunFile, ALinkInPlaceOfTheDraftIsNotFollowed) {
  const TemporaryFolder folder;
  { std::ofstream(folder / "precious.txt") << "precious"; }
  std::filesystem::create_symlink("precious.txt", folder / "run.sunder.new");
  try {
    const RunWriter writer(folder / "run.sunder", sampleInfo());
    ADD_FAILURE() << "it was followed";
  } catch (const Error& error) {
    EXPECT_TRUE(error.file().ends_with("run.sunder.new")) << error.what();
  }
  EXPECT_EQ(fileBytes(folder / "precious.txt"), "precious");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "run.sunder.new"));
}

// The draft is made before the old recording is opened: it goes away where that fails.
TEST(RunFile, AWriterThatIsRefusedLeavesNoDraft) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "run.sunder");
  EXPECT_THROW(RunWriter(folder / "run.sunder", sampleInfo()), Error);
  EXPECT_FALSE(std::filesystem::exists(folder / "run.sunder.new"));
}

// A reader that follows a file may find it shortened, and then something else in its place.
TEST(RunFile, AFileThatBecomesAnotherLeavesNothingOfTheOld) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "run.sunder";
  writeSample(path, 5, 4);
  const std::string whole = fileBytes(path);
  const auto write = [&](const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; };
  RunReader run(path);
  const size_t frames = run.frameCount(), meshes = run.meshCount();
  ASSERT_GT(frames, 0u);
  ASSERT_GT(meshes, 0u);
  write(std::string(whole.size() / 2, 'x'));
  for (int again = 0; again < 2; ++again) {
    EXPECT_THROW(run.refresh(), Error);
    EXPECT_EQ(run.frameCount() + run.meshCount() + run.bodies().size() + run.checkpointCount(), 0u);
    EXPECT_TRUE(run.chunks().empty());
  }
  write(whole);
  EXPECT_TRUE(run.refresh());
  EXPECT_EQ(run.frameCount(), frames);
  EXPECT_EQ(run.meshCount(), meshes);
  EXPECT_TRUE(run.verify().empty());
}

TEST(RunFile, ARequestToStopEndsTheSearchForAPlaceToGoOn) {
  const TemporaryFolder folder;
  writeSample(folder / "run.sunder", 5, 4, false);
  const RunReader run(folder / "run.sunder");
  requestStop();
  EXPECT_THROW((void)run.resumePoint(), Interrupted);
  clearStop();
  EXPECT_TRUE(run.resumePoint().has_value());
}

// Between opening a file and locking it another writer may rename it: the lock then is on something else.
TEST(RunFile, ALockOnARenamedFileDoesNotCount) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "run.sunder";
  writeSample(path, 5, 4, false);
  const RunReader before(path);
  const auto at = before.resumePoint();
  {
    RunWriter writer(path, sampleInfo());
    writeFrames(writer, 0, 2, 4);
    EXPECT_THROW(RunWriter(before, *at), Error) << "the new one is being written";
  }
  EXPECT_THROW(RunWriter(before, *at), Error) << "what was looked at is not there any more";
  const RunReader again(path);
  const auto from = again.resumePoint();
  { RunWriter grown(again, *from); }
  EXPECT_THROW(RunWriter(again, *from), Error) << "it has grown since";
}

// A file that may not grow further is what a full disk is to the writer.
TEST(RunFile, AFullDiskLeavesWholeFrames) {
  const TemporaryFolder folder;
  const uint32_t bodies = 50;
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{20000, 20000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    int code = 1;
    try {
      writeSample(folder / "run.sunder", 1000, bodies, true, 30);
    } catch (const Error& error) {
      code = error.kind() == ErrorKind::Write ? 0 : 2;
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  const RunReader run(folder / "run.sunder");
  EXPECT_EQ(run.size(), std::filesystem::file_size(folder / "run.sunder"));
  ASSERT_GT(run.frameCount(), 3u);
  for (size_t i = 0; i < run.frameCount(); ++i) expectFrame(run, i, bodies);
}

TEST(RunFile, AThousandBodiesForTenSecondsAreSmall) {
  const TemporaryFolder folder;
  RunWriter writer(folder / "run.sunder", sampleInfo());
  const uint32_t bodies = 1000, frames = 60;
  for (uint32_t b = 0; b < bodies; ++b)
    writer.addBody({"b", kNoIndex, "", kNoIndex, 1, BodyKind::Dynamic, 0});
  RandomStream random(4);
  std::vector<BodyState> states(bodies);
  for (BodyState& s : states) {
    s.present = true;
    s.position = random.pointIn({Vec3(-1, 0, -1), Vec3(1, 2, 1)}).cast<float>();
    s.velocity = 3 * random.unitVector().cast<float>();
    s.angularVelocity = 5 * random.unitVector().cast<float>();
    s.rotation = Quatf(Eigen::AngleAxisf(float(random.uniform(0, 3)), random.unitVector().cast<float>()));
  }
  const uint64_t start = writer.size();
  double seconds = 0;
  for (uint64_t f = 0; f < frames; ++f) {
    for (BodyState& s : states) {
      s.position += s.velocity / 60;
      s.velocity += 0.5f * random.unitVector().cast<float>() + Vec3f(0, -0.16f, 0);
      s.angularVelocity += 0.5f * random.unitVector().cast<float>();
      const Vec3f turn = s.angularVelocity / 60;
      s.rotation = (Quatf(Eigen::AngleAxisf(turn.norm(), turn.normalized())) * s.rotation).normalized();
    }
    const ScopeTimer timer(seconds);
    writer.frame(f, double(f) / 60, states, {}, {}, {});
  }
  const double tenSeconds = static_cast<double>(writer.size() - start) * 10;
  RecordProperty("bytes_of_10_s", std::to_string(tenSeconds));
  RecordProperty("microseconds_a_frame", std::to_string(seconds / frames * 1e6));
  EXPECT_LT(tenSeconds, 20e6);
}

}  // namespace
}  // namespace sunder::record
