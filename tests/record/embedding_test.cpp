#include "sunder/base/error.h"
#include "sunder/record/body_meshes.h"
#include "sunder/record/losses.h"
#include "sunder/record/repair.h"

#include "record/sample_run.h"
#include "record/soft_run.h"
#include "temporary_folder.h"

#include <bit>

#include <gtest/gtest.h>

namespace sunder::record {
namespace {

Embedding smallEmbedding() {
  Embedding embedding;
  embedding.surface = 0;
  embedding.cage = 1;
  embedding.tets = {0, 0, 0};
  embedding.weights = {Vec4f(1, 0, 0, 0), Vec4f(0, 1, 0, 0), Vec4f(0.5f, 0, 0.5f, 0)};
  embedding.walls = {kNoIndex, 2};
  embedding.source = 2;
  embedding.sources = {7, kNoIndex};
  return embedding;
}

TEST(Embeddings, NameTheSurfaceThatWasClipped) {
  const Embedding embedding = smallEmbedding();
  const std::string bytes = encode(embedding, 3);
  const Embedding read = decodeEmbedding(bytes, "file");
  EXPECT_EQ(read.source, 2u);
  EXPECT_EQ(read.sources, embedding.sources);
  EXPECT_EQ(read.walls, embedding.walls);
  EXPECT_EQ(lastMesh(read), 2u);
  // Programs before ended behind the walls.
  const Embedding before = decodeEmbedding(std::string_view(bytes).substr(0, bytes.size() - 16), "file");
  EXPECT_EQ(before.source, kNoIndex);
  EXPECT_TRUE(before.sources.empty());
  EXPECT_EQ(before.walls, embedding.walls);
  for (size_t cut = 1; cut < 16; ++cut)
    EXPECT_THROW(decodeEmbedding(std::string_view(bytes).substr(0, bytes.size() - cut), "file"), Error)
        << cut;
  Embedding half = embedding;
  half.source = kNoIndex;
  EXPECT_THROW(encode(half, 0), Error);
}

TEST(ExposedFaces, AreThoseThatNoOtherTetrahedronHas) {
  const SoftSettings settings;
  const MeshEntry cage = ballCage(settings);
  const std::vector<uint8_t> whole = exposedFaces(cage.tets);
  size_t open = 0;
  for (const uint8_t bits : whole) open += size_t(std::popcount(bits));
  EXPECT_EQ(open, 2u * 6 * settings.cells * settings.cells) << "the sides of the cube";
  MeshEntry torn = cage;
  apply(softTear(cage, false), torn, "file");
  apply(softTear(cage, true), torn, "file");
  open = 0;
  for (const uint8_t bits : exposedFaces(torn.tets)) open += size_t(std::popcount(bits));
  EXPECT_EQ(open, 2u * (6 + 2) * settings.cells * settings.cells) << "and both sides of the tear";
}

TEST(Embeddings, ALostSourceCostsNormalsOnly) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "run.sunder", bad = folder / "bad.sunder";
  writeSoft(path);
  std::string bytes = fileBytes(path);
  {
    const RunReader run(path);
    size_t meshes = 0;
    for (const Chunk& chunk : run.chunks())
      if (chunk.head.type == ChunkType::Mesh && meshes++ == kBallSource) bytes[chunk.payloadAt() + 9] ^= 1;
  }
  writeBytes(bad, bytes);
  const RunReader whole(path), run(bad);
  BodyMeshes expected(whole), meshes(run);
  Frame frame;
  for (const size_t f : {size_t(0), size_t(5), size_t(9)}) {
    run.readFrame(f, frame);
    const BodyShape shape = meshes.shape(frame, f, 0), wanted = expected.shape(frame, f, 0);
    EXPECT_EQ(shape.positions, wanted.positions);
    EXPECT_EQ(shape.mesh->triangles, wanted.mesh->triangles);
    EXPECT_TRUE(shape.caged && wanted.caged.source);
    EXPECT_FALSE(shape.caged.source);
  }
  EXPECT_TRUE(findLosses(run).any());
  const Repaired repaired = repairRun(path, folder / "again.sunder");
  const RunReader again(repaired.output);
  EXPECT_TRUE(BodyMeshes(again).caged(kBallSurface).source);
}

}  // namespace
}  // namespace sunder::record
