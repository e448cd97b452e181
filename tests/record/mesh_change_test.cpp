#include "sunder/record/mesh_change.h"

#include "sunder/base/error.h"
#include "sunder/record/body_meshes.h"
#include "sunder/record/losses.h"
#include "sunder/record/repair.h"

#include "record/changing_run.h"
#include "record/rehash.h"
#include "record/sample_run.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

namespace sunder::record {
namespace {

class ChangingRun : public testing::Test {
 protected:
  ChangingRun() { writeChanging(path_); }
  void change(const std::function<void(ChunkHead&, std::string&)>& change) {
    writeBytes(bad_, rehashed(RunReader(path_), change));
  }
  // One byte of the payload of the n-th chunk of a type flipped: its hash no longer fits.
  void flip(ChunkType type, size_t number) {
    std::string bytes = fileBytes(path_);
    const RunReader run(path_);
    for (const Chunk& chunk : run.chunks()) {
      if (chunk.head.type != type || number-- > 0) continue;
      bytes[chunk.payloadAt() + 2] ^= 1;
      break;
    }
    writeBytes(bad_, bytes);
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "run.sunder", bad_ = folder_ / "bad.sunder";
};

using Ranges = std::vector<NumberRange>;

bool sameMesh(const MeshEntry& a, const MeshEntry& b) {
  return a.name == b.name && a.positions == b.positions && a.triangles == b.triangles && a.tets == b.tets &&
         a.interior == b.interior && a.uvs == b.uvs && a.slots == b.slots &&
         a.slotMaterials == b.slotMaterials;
}

MeshEntry tornCloth() {
  MeshEntry mesh = clothMesh("cloth", kClothSide);
  const MeshChange tear = clothTear();
  for (const Vec3f& p : tear.positions) mesh.positions.push_back(p);
  for (const CornerChange& c : tear.corners) mesh.triangles[c.corner / 3][c.corner % 3] = c.vertex;
  return mesh;
}

TEST_F(ChangingRun, BodiesShowTheirMeshOfEachFrame) {
  const RunReader run(path_);
  EXPECT_FALSE(findLosses(run).any());
  BodyMeshes meshes(run);
  for (size_t f = 0; f < kChangingFrames; ++f) {
    EXPECT_EQ(run.meshOf(kCloth, f), f >= kRemeshedAt ? kFineCloth : kClothMesh);
    EXPECT_EQ(run.meshOf(kBox, f), f >= kBoxChangesAt ? kOpenBox : kBoxMesh);
    EXPECT_EQ(run.meshOf(kGrains, f), kNoIndex);
    const MeshEntry cloth = f >= kRemeshedAt ? clothMesh("fine cloth", kFineSide)
                            : f >= kTornAt   ? tornCloth()
                                             : clothMesh("cloth", kClothSide);
    EXPECT_TRUE(sameMesh(*meshes.mesh(kCloth, f), cloth)) << f;
  }
  // In any order, and with a cache that holds nothing.
  BodyMeshes forgetful(run, 0);
  for (const size_t f : {9, 5, 2, 6, 4, 11, 0})
    for (const uint32_t b : {kCloth, kBox, kJelly})
      EXPECT_TRUE(sameMesh(*forgetful.mesh(b, f), *meshes.mesh(b, f))) << f << ' ' << b;
}

TEST_F(ChangingRun, ATornClothCostsItsTearOnly) {
  const RunReader run(path_);
  for (const Chunk& chunk : run.chunks())
    if (chunk.head.type == ChunkType::MeshChange && chunk.head.frame < kTornAt) {
      EXPECT_LT(chunk.head.rawBytes, 20 * sizeof(uint32_t) + 12 * 5 + 8 * clothTear().corners.size());
    }
}

TEST_F(ChangingRun, PointsFollowTheVerticesOfTheMesh) {
  const RunReader run(path_);
  BodyMeshes meshes(run);
  Frame frame;
  for (const size_t f : {0, 3, 4, 7, 8, 11, 2}) {
    run.readFrame(f, frame);
    const BodyShape cloth = meshes.shape(frame, f, kCloth);
    ASSERT_EQ(cloth.positions.size(), cloth.mesh->positions.size()) << f;
    const BodyPoints wanted = clothPoints(f);
    for (size_t v = 0; v < wanted.positions.size(); ++v)
      EXPECT_LT((cloth.positions[v] - wanted.positions[v]).norm(), 1e-4f);
    EXPECT_EQ(cloth.fields, wanted.fields);
    // Rigid bodies have values at vertices that rest.
    const BodyShape box = meshes.shape(frame, f, kBox);
    EXPECT_TRUE(box.positions.empty());
    EXPECT_EQ(box.fields, boxValues(f).fields);
    EXPECT_EQ(box.fields[0].values.size(), box.mesh->positions.size());
  }
}

TEST_F(ChangingRun, AnEmbeddedSurfaceFollowsItsCage) {
  const RunReader run(path_);
  BodyMeshes meshes(run);
  Frame frame;
  run.readFrame(3, frame);
  const BodyShape whole = meshes.shape(frame, 3, kJelly);
  const auto [surface, embedding] = jelly();
  // The cage of frame 3 is squeezed to 94 % along y: an affine map, which the surface follows exactly.
  ASSERT_EQ(whole.positions.size(), surface.positions.size());
  for (size_t v = 0; v < surface.positions.size(); ++v) {
    Vec3f wanted = surface.positions[v];
    wanted.y() *= 0.94f;
    EXPECT_LT((whole.positions[v] - wanted).norm(), 1e-4f) << v;
  }
  // Inner faces are hidden until the cage has come apart.
  const auto inner = [](const MeshEntry& mesh) {
    return std::count(mesh.interior.begin(), mesh.interior.end(), uint8_t(1));
  };
  EXPECT_EQ(inner(*whole.mesh), 0);
  run.readFrame(kCageTornAt, frame);
  const BodyShape torn = meshes.shape(frame, kCageTornAt, kJelly);
  // The plane x = y of the cube is two triangles, seen from either side.
  EXPECT_EQ(inner(*torn.mesh), 2 * 2 * kJellyCells * kJellyCells);
  for (size_t t = 0; t < torn.mesh->triangles.size(); ++t)
    if (torn.mesh->interior[t]) {
      for (const uint32_t v : torn.mesh->triangles[t])
        EXPECT_EQ(torn.mesh->positions[v].x(), torn.mesh->positions[v].y());
    }
  // Both halves are closed: the areas of the shown faces add up to nothing, as vectors.
  Vec3 sum = Vec3::Zero();
  for (const geometry::Triangle& t : torn.mesh->triangles)
    sum += (torn.positions[t[1]] - torn.positions[t[0]])
               .cross(torn.positions[t[2]] - torn.positions[t[0]])
               .cast<double>();
  EXPECT_LT(sum.norm(), 1e-4);
  // Values are means over the corners of the tetrahedra: between the smallest and the largest.
  for (const float value : torn.fields.at(0).values) EXPECT_TRUE(value >= 0 && value <= 3);
}

TEST_F(ChangingRun, ListsOfFramesComeBack) {
  const RunReader run(path_);
  for (size_t f = 0; f < kChangingFrames; ++f) {
    EXPECT_EQ(run.inputs(f), changingInputs(f));
    EXPECT_EQ(run.fronts(f), boxFronts(f));
    EXPECT_EQ(run.events(f), changingEvents(f));
  }
}

TEST_F(ChangingRun, AnyFrameReadsTheSameAloneAndInOrder) {
  const RunReader run(path_);
  std::vector<QuantisedFrame> all;
  for (size_t f = 0; f < kChangingFrames; ++f) all.push_back(run.readQuantised(f));
  for (size_t f = kChangingFrames; f-- > 0;)
    EXPECT_EQ(RunReader(path_).readQuantised(f).points, all[f].points);
}

TEST_F(ChangingRun, GoesOnAfterACheckpointAsIfNothingHadHappened) {
  for (const uint64_t killedAt : {3, 5, 6, 9}) {
    {
      RunWriter writer(bad_, {"sunder test", "changing", "{}", 60});
      startChanging(writer);
      writeChangingFrames(writer, 0, killedAt);
    }
    const RunReader before(bad_);
    const ResumePoint at = before.resumePoint().value();
    {
      RunWriter writer(before, at);
      writeChangingFrames(writer, before.checkpointFrame(at.checkpoint) + 1, kChangingFrames);
      writer.finish({EndKind::Finished, "", 77, "{}"});
    }
    const RunReader run(bad_), whole(path_);
    EXPECT_FALSE(findLosses(run).any()) << killedAt;
    BodyMeshes meshes(run), expected(whole);
    for (size_t f = 0; f < kChangingFrames; ++f) {
      EXPECT_EQ(run.readQuantised(f).points, whole.readQuantised(f).points);
      EXPECT_EQ(run.inputs(f), whole.inputs(f));
      for (uint32_t b = 0; b < kChangingBodies; ++b)
        EXPECT_TRUE(sameMesh(*meshes.mesh(b, f), *expected.mesh(b, f))) << killedAt << ' ' << f << ' ' << b;
    }
  }
}

TEST_F(ChangingRun, WhatIsLostIsNamedAndTheRestStays) {
  const struct {
    ChunkType type;
    size_t number;
    Ranges Losses::*what;
    Ranges wanted;
  } cases[] = {{ChunkType::MeshChange, 0, &Losses::changes, {{0, 0}}},
               {ChunkType::MeshChange, 2, &Losses::changes, {{2, 2}}},
               {ChunkType::Mesh, 0, &Losses::meshes, {{0, 0}}},
               {ChunkType::Mesh, 1, &Losses::meshes, {{1, 1}}},
               {ChunkType::Mesh, 2, &Losses::meshes, {{2, 2}}},
               {ChunkType::Mesh, 3, &Losses::meshes, {{3, 3}}},
               {ChunkType::Mesh, 4, &Losses::meshes, {{4, 4}}},
               {ChunkType::Mesh, 5, &Losses::meshes, {{5, 5}}},
               {ChunkType::Mesh, 6, &Losses::meshes, {{6, 6}}},
               {ChunkType::Embedding, 0, &Losses::embeddings, {{0, 0}}},
               {ChunkType::Inputs, 1, &Losses::inputs, {{7, 7}}},
               {ChunkType::Fronts, 0, &Losses::fronts, {{2, 2}}}};
  for (const auto& c : cases) {
    flip(c.type, c.number);
    const RunReader run(bad_);
    const Losses losses = findLosses(run);
    EXPECT_EQ(losses.*c.what, c.wanted) << name(c.type);
    EXPECT_EQ(run.frameCount(), kChangingFrames);
    const Repaired repaired = repairRun(bad_, folder_ / "repaired.sunder");
    const RunReader saved(repaired.output);
    EXPECT_EQ(saved.frameCount(), kChangingFrames);
    EXPECT_FALSE(saved.lostBefore().empty());
    EXPECT_FALSE(findLosses(saved).any()) << name(c.type);
    std::filesystem::remove(repaired.output);
  }
}

TEST_F(ChangingRun, AWholeRecordingIsRepairedToTheSame) {
  const Repaired repaired = repairRun(path_, bad_);
  EXPECT_FALSE(repaired.losses.any());
  const RunReader run(bad_), whole(path_);
  BodyMeshes meshes(run), expected(whole);
  for (size_t f = 0; f < kChangingFrames; ++f) {
    EXPECT_EQ(run.readQuantised(f).points, whole.readQuantised(f).points);
    EXPECT_EQ(run.inputs(f), whole.inputs(f));
    EXPECT_EQ(run.fronts(f), whole.fronts(f));
    EXPECT_EQ(run.events(f), whole.events(f));
    for (uint32_t b = 0; b < kChangingBodies; ++b)
      EXPECT_TRUE(sameMesh(*meshes.mesh(b, f), *expected.mesh(b, f)));
  }
}

TEST_F(ChangingRun, AChangeThatBuildsOnALostOneIsLostUntilTheNextMesh) {
  {
    RunWriter writer(path_, {"sunder test", "changing", "{}", 60});
    startChanging(writer);
    for (uint64_t f = 1; f < 6; ++f) {
      writer.changeMesh(f == 5
                            ? MeshChange{.body = kCloth, .frame = f, .mesh = kFineCloth}
                            : MeshChange{.body = kCloth, .frame = f, .positions = {Vec3f(0, float(f), 0)}});
      writer.frame(f, double(f), changingStates(f), {}, {}, {});
    }
    writer.finish({EndKind::Finished, "", 77, "{}"});
  }
  flip(ChunkType::MeshChange, 1);  // of frame 2
  const RunReader run(bad_);
  BodyMeshes meshes(run);
  const size_t vertices = kClothSide * kClothSide;
  EXPECT_EQ(meshes.mesh(kCloth, 0)->positions.size(), vertices + 1);
  EXPECT_THROW(meshes.mesh(kCloth, 2), Error);
  EXPECT_THROW(meshes.mesh(kCloth, 3), Error);
  EXPECT_EQ(meshes.mesh(kCloth, 4)->positions.size(), kFineSide * kFineSide);
  EXPECT_EQ(findLosses(run).shapes, (Ranges{{kCloth, kCloth}}));
}

TEST_F(ChangingRun, CommitsOfEarlierProgramsCountLess) {
  change([](ChunkHead&, std::string&) {});
  // The same file with commits that end behind the lists of names.
  const RunReader run(bad_);
  std::string out = fileHeader();
  uint64_t chain = 0;
  for (const Chunk& chunk : run.chunks()) {
    std::string payload = run.payload(chunk);
    if (chunk.head.type == ChunkType::Commit) {
      Commit commit = decodeCommit(payload, "");
      commit.offset = out.size();
      commit.chain = chain;
      payload = encode(commit).substr(0, 36);
    }
    const size_t start = out.size();
    appendChunk(out, chunk.head.type, chunk.head.frame, chunk.head.time, payload);
    chain = chainHash(chain, parseHead(std::as_bytes(std::span(out)).subspan(start, kChunkHeadSize)).value());
  }
  const std::filesystem::path old = folder_ / "old.sunder";
  writeBytes(old, out);
  const RunReader early(old);
  EXPECT_TRUE(early.problems().empty());
  const ResumePoint at = early.resumePoint().value();
  EXPECT_EQ(at.counts.changes, 4u);
  EXPECT_EQ(at.counts.embeddings, 1u);
}

TEST_F(ChangingRun, AMissingChunkIsNoticedByTheCommit) {
  const std::pair<ChunkType, const char*> kinds[] = {{ChunkType::MeshChange, "changes of meshes"},
                                                     {ChunkType::Embedding, "embeddings"},
                                                     {ChunkType::Inputs, "lists of inputs"},
                                                     {ChunkType::Fronts, "lists of crack fronts"},
                                                     {ChunkType::Material, "materials"}};
  const RunReader run(path_);
  const std::string bytes = fileBytes(path_);
  for (const auto& [type, what] : kinds) {
    std::string out = fileHeader();
    bool dropped = false;
    for (const Chunk& chunk : run.chunks()) {
      if (chunk.head.type == type && !std::exchange(dropped, true)) continue;
      out.append(bytes, chunk.offset, chunk.end() - chunk.offset);
    }
    writeBytes(bad_, out);
    std::string all;
    const RunReader bad(bad_);
    for (const std::string& problem : bad.problems()) all += problem + "\n";
    EXPECT_NE(all.find(what), std::string::npos) << all;
  }
}

TEST_F(ChangingRun, BranchesOffAtAnEarlierCheckpoint) {
  const std::string before = fileBytes(path_);
  {
    const RunReader run(path_);
    const ResumePoint at = run.resumePoint(7).value();
    EXPECT_EQ(run.checkpointFrame(at.checkpoint), 4u);
    EXPECT_EQ(run.checkpointFrame(run.resumePoint(8).value().checkpoint), 8u);
    RunWriter writer(run, at);
    for (uint64_t f = 5; f < 10; ++f) {
      writer.frame(f, double(f) / 60, changingStates(f + 100), {}, {}, {});
      if (f == 8) writer.checkpoint({f, 5, "another"}, double(f) / 60);
    }
  }
  EXPECT_EQ(fileBytes(path_).substr(0, before.size()), before) << "no byte changes";
  const RunReader run(path_);
  EXPECT_FALSE(findLosses(run).any());
  EXPECT_EQ(run.frameCount(), 10u);
  EXPECT_EQ(run.changeCount(), 1u) << "the tear of frame 4 stays, what follows does not";
  EXPECT_EQ(run.checkpoint(run.lastGoodCheckpoint().value()).state, "another");
  const auto branches = run.branches();
  ASSERT_EQ(branches.size(), 2u);
  EXPECT_EQ(branches[0].last, kChangingFrames - 1);
  EXPECT_EQ(branches[1].from, 4u);
  EXPECT_EQ(branches[1].last, 9u);
  EXPECT_TRUE(branches[0].current && branches[1].current);
  // The old tail is read as it was.
  const RunReader old(path_, branches[0].end);
  EXPECT_EQ(old.frameCount(), kChangingFrames);
  EXPECT_EQ(old.changeCount(), 4u);
  // And a branch of the branch, from before it began.
  {
    RunWriter writer(run, run.resumePoint(3).value());
    for (uint64_t f = 1; f < 3; ++f) writer.frame(f, double(f) / 60, changingStates(f), {}, {}, {});
    writer.checkpoint({2, 6, "a third"}, 2.0 / 60);
    writer.finish({EndKind::Stopped, "", 6, "{}"});
  }
  const RunReader third(path_);
  EXPECT_EQ(third.frameCount(), 3u);
  ASSERT_EQ(third.branches().size(), 3u);
  EXPECT_FALSE(third.branches()[1].current);
  EXPECT_EQ(RunReader(path_, third.branches()[1].end).frameCount(), 10u);
}

TEST_F(ChangingRun, ABranchThatIsKilledAtOnceTakesNothingAway) {
  {
    const RunReader run(path_);
    RunWriter writer(run, run.resumePoint(4).value());
    writer.frame(5, 5.0 / 60, changingStates(100), {}, {}, {});
  }
  const std::string bytes = fileBytes(path_);
  for (const size_t cut : {0, 1, 57, 300}) {
    writeBytes(bad_, bytes.substr(0, bytes.size() - cut));
    const RunReader run(bad_);
    EXPECT_EQ(run.frameCount(), kChangingFrames) << cut;
    EXPECT_EQ(run.changeCount(), 4u);
    EXPECT_FALSE(findLosses(run).any());
  }
}

// Numbers at places of payloads that a writer never puts there, with right hashes.
TEST_F(ChangingRun, HostileChangesAreRefused) {
  const auto put = [](std::string& payload, size_t at, uint32_t value) {
    ByteWriter(payload).overwrite<uint32_t>(at, value);
  };
  const auto anyLoss = [&] {
    const RunReader run(bad_);
    const Losses losses = findLosses(run);
    BodyMeshes meshes(run);
    for (uint32_t b = 0; b < run.bodies().size(); ++b)
      for (size_t f = 0; f < run.frameCount(); ++f) try {
          const auto mesh = meshes.mesh(b, f);
          for (const auto& t : mesh->triangles)
            for (const uint32_t v : t) EXPECT_LT(v, mesh->positions.size());
          for (const auto& t : mesh->tets)
            for (const uint32_t v : t) EXPECT_LT(v, mesh->positions.size());
        } catch (const Error&) {
        }
    return losses.any() || !run.problems().empty();
  };
  // Of a change: body, mesh, the four counts, and the first corner (behind five vertices of 12 bytes).
  for (const size_t at : {4, 16, 24, 28, 32, 36, 41 + 60, 41 + 60 + 4})
    for (const uint32_t value : {1000u, 0x7fffffffu, 0xfffffffeu}) {
      size_t seen = 0;
      change([&](ChunkHead& head, std::string& payload) {
        if (head.type == ChunkType::MeshChange && seen++ == 0) put(payload, at, value);
      });
      EXPECT_TRUE(anyLoss()) << at << ' ' << value;
    }
  // Of an embedding: surface, cage, counts, the first tetrahedron, a weight that is not finite.
  for (const size_t at : {4, 8, 12, 16, 20})
    for (const uint32_t value : {1000u, 0x7fffffffu, 0xfffffffeu}) {
      change([&](ChunkHead& head, std::string& payload) {
        if (head.type == ChunkType::Embedding) put(payload, at, value);
      });
      EXPECT_TRUE(anyLoss()) << at << ' ' << value;
    }
  const auto vertices = uint32_t(jelly().first.positions.size());
  for (const uint32_t bits : {0x7fc00000u, 0x7f800000u, 0x40000000u}) {
    change([&](ChunkHead& head, std::string& payload) {
      if (head.type == ChunkType::Embedding) put(payload, 20 + 4 * vertices, bits);
    });
    EXPECT_TRUE(anyLoss()) << bits;
  }
  // Of fronts: how many, body, points, a position. Of inputs: how many, a length.
  for (const size_t at : {0, 4, 13, 17}) {
    change([&](ChunkHead& head, std::string& payload) {
      if (head.type == ChunkType::Fronts) put(payload, at, 0xffffffffu);
    });
    EXPECT_TRUE(anyLoss()) << at;
  }
  for (const size_t at : {0, 20}) {
    change([&](ChunkHead& head, std::string& payload) {
      if (head.type == ChunkType::Inputs) put(payload, at, 0xffffffffu);
    });
    EXPECT_TRUE(anyLoss()) << at;
  }
}

TEST_F(ChangingRun, RandomDamageIsSafe) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    writeBytes(bad_, randomlyDamaged(RunReader(path_), seed));
    const RunReader run(bad_);
    findLosses(run);
    BodyMeshes meshes(run);
    Frame frame;
    for (size_t f = 0; f < run.frameCount(); ++f) try {
        run.readFrame(f, frame);
        for (uint32_t b = 0; b < frame.bodies.size(); ++b) try {
            const BodyShape shape = meshes.shape(frame, f, b);
            EXPECT_TRUE(shape.positions.empty() || shape.positions.size() == shape.mesh->positions.size());
          } catch (const Error&) {
          }
      } catch (const Error&) {
      }
    const std::filesystem::path repaired = folder_ / "repaired.sunder";
    try {
      repairRun(bad_, repaired);
      EXPECT_TRUE(!std::filesystem::exists(repaired) || RunReader(repaired).problems().empty()) << seed;
    } catch (const Error& error) {
      ADD_FAILURE() << seed << ": " << error.what();
    }
    std::filesystem::remove(repaired);
  }
}

TEST_F(ChangingRun, AWriterRefusesWhatDoesNotFit) {
  RunWriter writer(bad_, {"sunder test", "changing", "{}", 60});
  startChanging(writer);
  writeChangingFrames(writer, 0, 3);
  EXPECT_THROW(writer.changeMesh({.body = kCloth, .frame = 2, .mesh = kFineCloth}), Error);
  EXPECT_THROW(writer.changeMesh({.body = 99, .frame = 3}), Error);
  EXPECT_THROW(writer.changeMesh({.body = kCloth, .frame = 3, .mesh = 99}), Error);
  EXPECT_THROW(writer.changeMesh({.body = kCloth, .frame = 3, .triangles = {{0, 1, 2}}, .slots = {1, 1}}),
               Error);
  const std::vector<Input> inputs{{0, 5, "grip", ""}, {0, 5, "grip", ""}};
  EXPECT_THROW(writer.addInputs(inputs), Error);
  const std::vector<CrackFront> fronts{{99, 0, false, {}}};
  EXPECT_THROW(writer.addFronts(fronts), Error);
  MeshEntry mesh = clothMesh("", 3);
  mesh.slots[0] = 3;
  EXPECT_THROW(writer.addMesh(mesh), Error);
  mesh.slots[0] = 2;
  mesh.uvs.pop_back();
  EXPECT_THROW(writer.addMesh(mesh), Error);
}

// Half floats end at 65504, stresses do not.
TEST_F(ChangingRun, LargeValuesAreKeptAsFloats) {
  const std::vector<float> stresses{3.25e7f, -1e9f, 0.1f, 0, 1, 2, 3, std::numeric_limits<float>::infinity()};
  {
    RunWriter writer(bad_, {"sunder test", "changing", "{}", 60});
    startChanging(writer);
    const BodyPoints points{
        kBox, 1e-3f, 0, {}, {{"stress", 1, stresses}, {"small", 1, std::vector<float>(8, 0.5f)}}};
    writer.frame(0, 0, changingStates(0), {}, {}, {}, std::span(&points, 1));
    writer.finish({EndKind::Finished, "", 77, "{}"});
  }
  const RunReader run(bad_);
  Frame frame;
  run.readFrame(0, frame);
  const std::vector<PointField>& fields = frame.points.at(0).fields;
  for (size_t i = 0; i < 7; ++i) EXPECT_EQ(fields[0].values[i], stresses[i]);
  EXPECT_EQ(fields[0].values[7], 65504.0f) << "what is not finite is the largest, as before";
  EXPECT_EQ(fields[1].values, std::vector<float>(8, 0.5f));
}

// Values at vertices come back also where positions begin or end.
TEST_F(ChangingRun, PositionsMayBeginAndEnd) {
  {
    RunWriter writer(bad_, {"sunder test", "changing", "{}", 60});
    startChanging(writer);
    for (uint64_t f = 0; f < 6; ++f) {
      BodyPoints points{kBox, 1e-3f, 0, {}, {{"stress", 1, std::vector<float>(8, float(f))}}};
      if (f % 3 != 0) points.positions.assign(8, Vec3f(float(f), 1, 2));
      if (f == 5) points.fields.clear();
      writer.frame(f, double(f), changingStates(f), {}, {}, {}, std::span(&points, 1));
    }
    writer.finish({EndKind::Finished, "", 77, "{}"});
  }
  const RunReader run(bad_);
  Frame frame;
  for (size_t f = 0; f < 6; ++f) {
    run.readFrame(f, frame);
    ASSERT_EQ(frame.points.size(), 1u);
    EXPECT_EQ(frame.points[0].positions.size(), f % 3 != 0 ? 8u : 0u) << f;
    EXPECT_EQ(frame.points[0].fields.size(), f == 5 ? 0u : 1u) << f;
    if (f == 5) continue;
    EXPECT_EQ(frame.points[0].fields[0].values, std::vector<float>(8, float(f))) << f;
  }
}

}  // namespace
}  // namespace sunder::record
