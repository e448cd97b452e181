// What is written is read back to the last bit, as far as a format can hold it.
#include "meshio/files_common.h"

namespace sunder::meshio::files {
using namespace geometry;

namespace {

// A soup of polygons with distinct random vertices; triangles only where asked for.
PolygonSoup randomSoup(std::mt19937_64& random, bool floats, bool triangles) {
  PolygonSoup soup;
  const uint32_t count = 200;
  for (uint32_t i = 0; i < count; ++i) {
    Vec3 p;
    for (int k = 0; k < 3; ++k) p[k] = floats ? randomFloat(random) : randomDouble(random);
    soup.positions.push_back(p);
  }
  for (uint32_t f = 0; f < 150; ++f) {
    std::vector<uint32_t> face;
    const uint32_t size = triangles ? 3 : 3 + static_cast<uint32_t>(random() % 5);
    for (uint32_t k = 0; k < size; ++k) face.push_back(static_cast<uint32_t>(random() % count));
    soup.addFace(face);
  }
  return soup;
}

// Formats that weld renumber the vertices, so positions are compared corner by corner.
void expectSameCorners(const PolygonSoup& a, const PolygonSoup& b) {
  ASSERT_EQ(a.faceOffsets, b.faceOffsets);
  for (size_t c = 0; c < a.corners.size(); ++c)
    ASSERT_TRUE(sameBits(a.positions[a.corners[c]], b.positions[b.corners[c]])) << "corner " << c;
}

}  // namespace

TEST(FilesRoundTrip, FormatsWithDoublesKeepEveryBit) {
  std::mt19937_64 random(1);
  TemporaryFolder folder;
  for (int round = 0; round < 5; ++round) {
    MeshFile file;
    file.surface = randomSoup(random, false, false);
    for (const char* name : {"a.obj", "a.ply", "a.off"}) {
      for (const bool ascii : {false, true}) {
        EXPECT_TRUE(writeMesh(folder / name, file, {.ascii = ascii}).empty());
        const MeshFile back = readMesh(folder / name);
        EXPECT_TRUE(sameShape(file.surface, back.surface)) << name;
        EXPECT_TRUE(back.notes.empty()) << name;
        EXPECT_EQ(back.format, formatOf(name));
      }
    }
    MeshFile triangles;
    triangles.surface = randomSoup(random, false, true);
    EXPECT_TRUE(writeMesh(folder / "a.stl", triangles, {.ascii = true}).empty());
    expectSameCorners(triangles.surface, readMesh(folder / "a.stl").surface);
  }
}

TEST(FilesRoundTrip, FormatsWithFloatsKeepEveryBitOfFloats) {
  std::mt19937_64 random(2);
  TemporaryFolder folder;
  for (int round = 0; round < 5; ++round) {
    MeshFile file;
    file.surface = randomSoup(random, true, true);
    for (const char* name : {"a.stl", "a.glb"}) {
      EXPECT_TRUE(writeMesh(folder / name, file).empty()) << name;
      expectSameCorners(file.surface, readMesh(folder / name).surface);
    }
  }
}

TEST(FilesRoundTrip, ThroughEveryFormatInTurn) {
  MeshFile file;
  file.surface = triangulatedCube();
  for (Vec3& p : file.surface.positions) p = (p * 0.7).cast<float>().cast<double>();
  TemporaryFolder folder;
  MeshFile next = file;
  for (const char* name :
       {"a.obj", "a.ply", "a.stl", "a.off", "a.glb", "b.obj", "b.stl", "b.glb", "b.off", "b.ply"}) {
    writeMesh(folder / name, next);
    next = readMesh(folder / name);
    expectSameCorners(file.surface, next.surface);
    EXPECT_TRUE(isClosed(next.surface)) << name;
    EXPECT_EQ(next.surface.positions.size(), 8u) << name;
  }
}

TEST(FilesRoundTrip, EmptyMeshes) {
  TemporaryFolder folder;
  for (const char* name : {"a.ply", "a.stl", "a.off", "a.glb"}) {
    writeMesh(folder / name, MeshFile{});
    EXPECT_EQ(readMesh(folder / name).surface.faceCount(), 0u) << name;
  }
}

TEST(FilesRoundTrip, AVolumeBecomesItsBoundary) {
  MeshFile file;
  file.volume.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  file.volume.tets = {{0, 1, 2, 3}, {1, 2, 3, 4}};
  const auto det = [&](const Tetrahedron& t) {
    const auto& p = file.volume.positions;
    return (p[t[1]] - p[t[0]]).cross(p[t[2]] - p[t[0]]).dot(p[t[3]] - p[t[0]]);
  };
  for (Tetrahedron& t : file.volume.tets)
    if (det(t) < 0) std::swap(t[0], t[1]);
  const double volume = (det(file.volume.tets[0]) + det(file.volume.tets[1])) / 6;
  TemporaryFolder folder;
  for (const char* name : {"a.obj", "a.ply", "a.stl", "a.off", "a.glb"}) {
    EXPECT_TRUE(hasNote(writeMesh(folder / name, file), "wrote the boundary of 2 tetrahedra"));
    const MeshFile back = readMesh(folder / name);
    EXPECT_EQ(back.surface.faceCount(), 6u) << name;
    EXPECT_TRUE(isClosed(back.surface)) << name;
    EXPECT_NEAR(volumeOf(back.surface), volume, 1e-15) << name;
  }
}

TEST(FilesRoundTrip, FormatTable) {
  EXPECT_EQ(meshFormats().size(), 12u);
  EXPECT_EQ(formatOf("A/B.C/BOX.STL"), MeshFormat::Stl);
  EXPECT_EQ(formatOf("x.ele"), MeshFormat::TetGen);
  EXPECT_EQ(formatOf("x.node"), MeshFormat::TetGen);
  for (const MeshFormatInfo& format : meshFormats()) EXPECT_EQ(&info(format.format), &format);
  for (const char* name : {"x", "x.", "x.fbx", "x.no"}) {
    const auto error = errorOf([&] { formatOf(name); });
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(error->kind(), ErrorKind::Unsupported);
    EXPECT_TRUE(contains(error->hint(), ".obj .ply")) << error->hint();
  }
  TemporaryFolder folder;
  const auto error = errorOf([&] { writeMesh(folder / "a.gltf", MeshFile{}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->hint(), "write .glb instead");
  EXPECT_FALSE(std::filesystem::exists(folder / "a.gltf"));
}

}  // namespace sunder::meshio::files
