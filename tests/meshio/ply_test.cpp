#include "meshio/files_common.h"

#include <algorithm>

namespace sunder::meshio::files {
using namespace geometry;

namespace {

MeshFile ply(std::string_view text) { return readPly(bytesOf(text), "a.ply"); }

template <class T>
void put(std::string& out, T value, bool bigEndian) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  if (bigEndian) std::reverse(bytes, bytes + sizeof value);
  out.append(bytes, sizeof value);
}

const std::string kAscii =
    "ply\nformat ascii 1.0\ncomment made by hand\nelement vertex 4\nproperty float x\nproperty float y\n"
    "property float z\nelement face 2\nproperty list uchar int vertex_indices\nend_header\n"
    "0 0 0\n1 0 0\n1 1 0\n0 1 0.25\n3 0 1 2\n4 0 1 2 3\n";

}  // namespace

TEST(FilesPly, ReadsText) {
  const MeshFile file = ply(kAscii);
  EXPECT_EQ(file.surface.positions[3], Vec3(0, 1, 0.25));
  EXPECT_EQ(file.surface.corners, (std::vector<uint32_t>{0, 1, 2, 0, 1, 2, 3}));
  EXPECT_EQ(file.surface.faceOffsets, (std::vector<uint32_t>{0, 3, 7}));
  EXPECT_TRUE(file.notes.empty());
}

// Properties in any order and of any type, unknown ones and unknown elements in between, both byte orders.
TEST(FilesPly, ReadsBinaryOfAnyLayout) {
  for (const bool big : {false, true}) {
    std::string text =
        std::string("ply\nformat ") + (big ? "binary_big_endian" : "binary_little_endian") +
        " 1.0\nobj_info x\nelement camera 2\nproperty double a\nproperty list ushort short b\n"
        "element vertex 3\nproperty uchar red\nproperty double z\nproperty short x\n"
        "property float quality\nproperty uchar green\nproperty int y\nproperty uchar blue\n"
        "property float nx\nproperty float ny\nproperty float nz\nproperty float s\nproperty float t\n"
        "element face 2\nproperty uchar flags\nproperty list uint ushort vertex_index\n"
        "property double area\nelement edge 1\nproperty int a\nproperty int b\nend_header\n";
    for (int i = 0; i < 2; ++i) {
      put(text, 1.5, big);
      put(text, uint16_t(i), big);
      for (int k = 0; k < i; ++k) put(text, int16_t(k), big);
    }
    for (int i = 0; i < 3; ++i) {
      put(text, uint8_t(51 * i), big);
      put(text, 0.1 * i, big);
      put(text, int16_t(-i), big);
      put(text, 7.0f, big);
      put(text, uint8_t(255), big);
      put(text, int32_t(100000 * i), big);
      put(text, uint8_t(0), big);
      put(text, 0.0f, big), put(text, 1.0f, big), put(text, 0.0f, big);
      put(text, 0.5f, big), put(text, float(i), big);
    }
    for (int i = 0; i < 2; ++i) {
      put(text, uint8_t(9), big);
      put(text, uint32_t(3), big);
      for (int k = 0; k < 3; ++k) put(text, uint16_t((k + i) % 3), big);
      put(text, 0.5, big);
    }
    put(text, int32_t(0), big), put(text, int32_t(1), big);
    const MeshFile file = ply(text);
    ASSERT_EQ(file.surface.positions.size(), 3u);
    EXPECT_EQ(file.surface.positions[2], Vec3(-2, 200000, 0.2));
    EXPECT_EQ(file.surface.corners, (std::vector<uint32_t>{0, 1, 2, 1, 2, 0}));
    EXPECT_EQ(file.surface.vertexColours[2], Vec4f(102 / 255.0f, 1, 0, 1));
    EXPECT_EQ(file.surface.cornerNormals[0], Vec3(0, 1, 0));
    EXPECT_EQ(file.surface.cornerUvs[3], Vec2(0.5, 1));
    EXPECT_TRUE(hasNote(file.notes, "vertex property quality"));
    EXPECT_TRUE(hasNote(file.notes, "element camera"));
  }
}

// The tight loop for 8-bit lengths and the general walk must agree.
TEST(FilesPly, FastAndGeneralFacesAgree) {
  std::mt19937 random(7);
  for (const bool big : {false, true}) {
    std::string head = std::string("ply\nformat ") + (big ? "binary_big_endian" : "binary_little_endian") +
                       " 1.0\nelement vertex 300\nproperty float x\nproperty float y\nproperty float z\n"
                       "element face 1000\n";
    std::string vertices, narrow, wide;
    for (int i = 0; i < 900; ++i) put(vertices, float(random() % 1000), big);
    for (int f = 0; f < 1000; ++f) {
      const uint32_t length = uint32_t(random() % 7);
      put(narrow, uint8_t(length), big);
      put(wide, uint16_t(length), big);
      for (uint32_t k = 0; k < length; ++k) {
        const uint32_t v = uint32_t(random() % 300);
        put(narrow, v, big);
        put(wide, v, big);
      }
    }
    const MeshFile a =
        ply(head + "property list uchar uint vertex_indices\nend_header\n" + vertices + narrow);
    const MeshFile b = ply(head + "property list ushort uint vertex_indices\nend_header\n" + vertices + wide);
    EXPECT_TRUE(sameShape(a.surface, b.surface));
    EXPECT_GT(a.surface.faceCount(), 400u);
    EXPECT_LT(a.surface.faceCount(), 700u);
    EXPECT_EQ(a.notes, b.notes);
    EXPECT_TRUE(hasNote(a.notes, "with fewer than 3 corners"));
  }
}

TEST(FilesPly, NamesTheTrouble) {
  auto replaced = [](std::string from, const std::string& to) {
    std::string text = kAscii;
    return text.replace(text.find(from), from.size(), to);
  };
  const std::pair<std::string, std::string> cases[] = {
      {"plx\n", "does not start with 'ply'"},
      {replaced("ascii", "text"), "a.ply:2: expected ascii, binary_little_endian or binary_big_endian"},
      {replaced("element vertex 4", "element vertex 1000000000"),
       "the header claims 1000000000 rows of element 'vertex', which take at least 6000000000 bytes, but "
       "only 46"},
      {replaced("element face 2", "element face 1000000000"),
       "the header claims 1000000000 rows of element 'face'"},
      {replaced("1 1 0\n", "1 nan 0\n"), "coordinate is not finite in vertex 2"},
      {replaced("1 1 0\n", "1 a 0\n"), "a.ply:13: expected a number, found 'a'"},
      {replaced("3 0 1 2", "3 0 1 4"), "face refers to vertex 4, but there are only 4 vertices"},
      {replaced("3 0 1 2", "3 0 1 -1"), "face refers to vertex -1"},
      {replaced("3 0 1 2", "900000000 0 1 2"), "claims 900000000 values in a list"},
      {replaced("property float z\n", ""), "has no x, y and z"},
      {replaced("element vertex", "element point"), "has no vertex element"},
      {replaced("float x", "real x"), "expected a PLY type such as float or uchar, found 'real'"},
      {replaced("element face 2\nproperty list uchar int vertex_indices",
                "element tristrips 1\nproperty list int int a"),
       "triangle strips"},
      {"ply\nformat ascii 1.0\n", "end_header"},
  };
  for (const auto& [text, message] : cases) {
    const auto error = errorOf([&input = text] { ply(input); });
    ASSERT_TRUE(error) << message;
    EXPECT_TRUE(contains(error->what(), message)) << error->what();
  }
}

TEST(FilesPly, BinaryIndicesAreChecked) {
  std::string text =
      "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty "
      "float z\n"
      "element face 1\nproperty list uchar int vertex_indices\nend_header\n";
  const size_t header = text.size();
  for (int i = 0; i < 3; ++i) put(text, 0.0f, false);
  put(text, uint8_t(3), false);
  put(text, int32_t(0), false), put(text, int32_t(0), false), put(text, int32_t(-5), false);
  const auto error = errorOf([&input = text] { ply(input); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message(), "face refers to vertex -5, but there are only 1 vertices");
  EXPECT_EQ(error->place(), "byte " + std::to_string(header + 13));
}

TEST(FilesPly, KeepsAttributesBothWays) {
  for (const bool ascii : {false, true}) {
    MeshFile file;
    file.surface = cube();
    for (const uint32_t v : file.surface.corners) {
      file.surface.cornerNormals.push_back((file.surface.positions[v] - Vec3(0.5, 0.5, 0.5)).normalized());
      file.surface.cornerUvs.emplace_back(1.0 / (1 + double(file.surface.cornerUvs.size())), 0.1);
    }
    for (int i = 0; i < 8; ++i) file.surface.vertexColours.emplace_back(0.1f * float(i), 0.5f, 1.0f, 0.25f);
    TemporaryFolder folder;
    EXPECT_TRUE(writeMesh(folder / "a.ply", file, {.ascii = ascii}).empty());
    const MeshFile back = readMesh(folder / "a.ply");
    EXPECT_TRUE(sameShape(file.surface, back.surface));
    EXPECT_EQ(back.surface.cornerNormals, file.surface.cornerNormals);
    EXPECT_EQ(back.surface.cornerUvs, file.surface.cornerUvs);
    EXPECT_EQ(back.surface.vertexColours, file.surface.vertexColours);
    EXPECT_TRUE(back.notes.empty());

    file.surface.cornerNormals[0] = Vec3(1, 0, 0);
    EXPECT_TRUE(hasNote(writeMesh(folder / "a.ply", file, {.ascii = ascii}), "one normal per vertex"));
  }
}

TEST(FilesPly, WritesFacesOfManyCorners) {
  MeshFile file;
  std::vector<uint32_t> face;
  for (uint32_t i = 0; i < 300; ++i) {
    file.surface.positions.emplace_back(std::cos(i * 0.02), std::sin(i * 0.02), 0);
    face.push_back(i);
  }
  file.surface.addFace(face);
  TemporaryFolder folder;
  for (const bool ascii : {false, true}) {
    writeMesh(folder / "a.ply", file, {.ascii = ascii});
    EXPECT_TRUE(sameShape(file.surface, readMesh(folder / "a.ply").surface));
  }
}

}  // namespace sunder::meshio::files
