// Every reader against files that are cut off, empty, random, huge or something else altogether.
#include "sunder/base/stopwatch.h"

#include "meshio/files_common.h"

#include <functional>
#include <memory>

#include <fcntl.h>
#include <unistd.h>

namespace sunder::meshio::files {
using namespace geometry;

namespace {

struct Case {
  const char* ending;
  std::function<MeshFile(Bytes)> read;
  std::vector<std::string> samples;
};

MeshFile rich() {
  MeshFile file;
  file.surface = triangulatedCube();
  for (size_t c = 0; c < 36; ++c) {
    file.surface.cornerNormals.push_back(Vec3(0, 0.6, 0.8));
    file.surface.cornerUvs.emplace_back(0.5, 0.1 * double(c));
  }
  for (int i = 0; i < 8; ++i) file.surface.vertexColours.emplace_back(1, 0, 0.5f, 1);
  file.surface.faceGroup.assign(12, 0);
  file.surface.faceGroup[11] = 1;
  file.surface.groupNames = {"a", "b"};
  return file;
}

std::vector<Case> cases() {
  TemporaryFolder folder;
  const MeshFile mesh = rich();
  MeshFile plain;
  plain.surface = cube();
  std::vector<Case> list;
  list.push_back({".obj",
                  [](Bytes b) { return readObj(b, "a.obj"); },
                  {written(folder / "a.obj", mesh),
                   "v 0 0 \\\n0\nv 1 0 0\nv 0 1 0\ng x\nf 1 2 \\\n -1\nl 1 2\nusemtl a\n"}});
  list.push_back({".ply",
                  [](Bytes b) { return readPly(b, "a.ply"); },
                  {written(folder / "a.ply", mesh), written(folder / "b.ply", mesh, {.ascii = true}),
                   written(folder / "c.ply", plain)}});
  list.push_back({".stl",
                  [](Bytes b) { return readStl(b, "a.stl"); },
                  {written(folder / "a.stl", mesh), written(folder / "b.stl", mesh, {.ascii = true})}});
  list.push_back({".off",
                  [](Bytes b) { return readOff(b, "a.off"); },
                  {written(folder / "a.off", mesh), written(folder / "b.off", plain)}});
  list.push_back(
      {".glb", [](Bytes b) { return readGltf(b, "a.glb", {}); }, {written(folder / "a.glb", mesh)}});
  return list;
}

// Read from a copy of exactly that size, so that a sanitizer sees any step past the end.
void tryRead(const Case& c, std::string_view text, size_t& parsed, size_t& refused) {
  std::unique_ptr<std::byte[]> copy(new std::byte[text.size()]);
  if (!text.empty()) std::memcpy(copy.get(), text.data(), text.size());
  try {
    const MeshFile file = c.read(Bytes(copy.get(), text.size()));
    ++parsed;
    for (const uint32_t v : file.surface.corners) ASSERT_LT(v, file.surface.positions.size());
    ASSERT_EQ(file.surface.faceOffsets.back(), file.surface.corners.size());
    for (const Vec3& p : file.surface.positions) ASSERT_TRUE(p.allFinite());
    for (const uint32_t g : file.surface.faceGroup) ASSERT_LT(g, file.surface.groupNames.size());
  } catch (const Error& e) {
    ++refused;
    ASSERT_FALSE(e.message().empty());
    ASSERT_FALSE(e.file().empty()) << e.what();
  }
}

}  // namespace

TEST(FilesBroken, CutOffAtEveryByte) {
  for (const Case& c : cases()) {
    for (const std::string& sample : c.samples) {
      size_t parsed = 0, refused = 0;
      for (size_t n = 0; n <= sample.size(); ++n)
        tryRead(c, std::string_view(sample).substr(0, n), parsed, refused);
      EXPECT_GE(parsed, 1u) << c.ending;
      EXPECT_GE(refused, 1u) << c.ending;
    }
  }
}

TEST(FilesBroken, OneByteChanged) {
  std::mt19937 random(11);
  for (const Case& c : cases()) {
    size_t parsed = 0, refused = 0;
    for (const std::string& sample : c.samples) {
      for (int round = 0; round < 600; ++round) {
        std::string text = sample;
        for (uint32_t k = 0; k <= random() % 3; ++k)
          text[random() % text.size()] = static_cast<char>(random());
        tryRead(c, text, parsed, refused);
      }
    }
    EXPECT_GT(refused, 0u) << c.ending;
  }
}

TEST(FilesBroken, EmptyAndGarbage) {
  std::mt19937 random(5);
  for (const Case& c : cases()) {
    size_t parsed = 0, refused = 0;
    tryRead(c, "", parsed, refused);
    for (const size_t size : {1, 5, 84, 300, 5000}) {
      std::string text(size, ' ');
      for (char& b : text) b = static_cast<char>(random());
      tryRead(c, text, parsed, refused);
      tryRead(c, std::string(size, '\0'), parsed, refused);
      tryRead(c, std::string(size, '\n'), parsed, refused);
    }
    // 84 zero bytes are a binary STL file of no triangles.
    EXPECT_EQ(parsed, std::string(c.ending) == ".stl" ? 1u : 0u) << c.ending;
  }
}

TEST(FilesBroken, TwoGigabytesOfZerosAreRefusedAtOnce) {
  TemporaryFolder folder;
  for (const char* ending : {".obj", ".ply", ".stl", ".off", ".gltf", ".glb"}) {
    for (const std::string start : {"", "v 0 0 0\n", "# comment", "OFF\n3 1 0\n", "solid\n", "{"}) {
      const std::filesystem::path path = folder / std::string("a").append(ending);
      writeFile(path, start);
      ASSERT_EQ(::truncate(path.c_str(), off_t(2) << 30), 0);
      const Stopwatch watch;
      const auto error = errorOf([&] { readMesh(path); });
      const double seconds = watch.seconds();
      EXPECT_TRUE(error) << ending;
      EXPECT_LT(seconds, 1.0) << ending << " after " << start;
    }
  }
}

TEST(FilesBroken, FoldersAndMissingFiles) {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder / "a.obj");
  auto error = errorOf([&] { readMesh(folder / "a.obj"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::Missing);
  error = errorOf([&] { readMesh(folder / "b.ply"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::Missing);
  writeFile(folder / "c.off", "");
  error = errorOf([&] { readMesh(folder / "c.off"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message(), "the file is empty");
  writeFile(folder / "d.node", "0 3 0 0\n");
  error = errorOf([&] { readMesh(folder / "d.node"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::Missing);
  EXPECT_TRUE(contains(error->what(), "d.ele"));
}

TEST(FilesBroken, ContentThatContradictsTheEnding) {
  TemporaryFolder folder;
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"box.obj", "ply\nformat ascii 1.0\n", "the content looks like PLY; rename it to .ply"},
      {"box.obj", "solid box\n", "the content looks like STL; rename it to .stl"},
      {"box.ply", "glTF\2\0\0", "the content looks like GLB; rename it to .glb"},
      {"box.stl", "<?xml version=\"1.0\"?>", "the content looks like XML; rename it to .vtu or .vtp"},
      {"box.off", "\n# vtk DataFile Version 3.0", "the content looks like VTK legacy; rename it to .vtk"},
      {"box.glb", "OFF\n0 0 0\n", "the content looks like OFF; rename it to .off"},
      {"box.ply", "{\"asset\":{}}", "the content looks like JSON; if it is glTF, rename it to .gltf"},
      {"box.off", "$MeshFormat\n", "the content looks like Gmsh MSH; rename it to .msh"},
  };
  for (const auto& [name, content, hint] : cases) {
    writeFile(folder / name, content);
    const auto error = errorOf([&, &file = name] { readMesh(folder / file); });
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(error->kind(), ErrorKind::Format);
    EXPECT_EQ(error->hint(), hint);
  }
}

}  // namespace sunder::meshio::files
