#include "meshio/files_common.h"

namespace sunder::meshio::files {
using namespace geometry;

namespace {

MeshFile off(std::string_view text) { return readOff(bytesOf(text), "a.off"); }

}  // namespace

TEST(FilesOff, ReadsHeadersOnOneOrTwoLines) {
  for (const char* head : {"OFF\n3 1 3\n", "OFF 3 1 3\n", "# a\nOFF # b\n\n# c\n3 1\n", "OFF\r\n3 1 0\r\n"}) {
    const MeshFile file = off(std::string(head) + "0 0 0\n1 0 0 # one\n\n0 1 0\n3 0 1 2\n");
    EXPECT_EQ(file.surface.positions[1], Vec3(1, 0, 0)) << head;
    EXPECT_EQ(file.surface.corners, (std::vector<uint32_t>{0, 1, 2})) << head;
    EXPECT_TRUE(file.notes.empty());
  }
}

TEST(FilesOff, ReadsColoursNormalsAndTextureCoordinates) {
  const MeshFile integers =
      off("COFF\n3 1 0\n0 0 0 255 0 51\n1 0 0 255 0 0 255\n0 1 0 1 1 1 0\n3 0 1 2 0.5 0.5 0.5\n");
  EXPECT_EQ(integers.surface.vertexColours[0], Vec4f(1, 0, 0.2f, 1));
  EXPECT_EQ(integers.surface.vertexColours[2], Vec4f(1 / 255.0f, 1 / 255.0f, 1 / 255.0f, 0));
  EXPECT_TRUE(hasNote(integers.notes, "face colours ignored"));
  const MeshFile fractions = off("COFF 3 1 0\n0 0 0 1 0 0.5\n1 0 0 1 1 1 0.25\n0 1 0 0 0 0\n3 0 1 2\n");
  EXPECT_EQ(fractions.surface.vertexColours[0], Vec4f(1, 0, 0.5f, 1));
  EXPECT_EQ(fractions.surface.vertexColours[1], Vec4f(1, 1, 1, 0.25f));
  const MeshFile all = off(
      "STCNOFF 3 1 0\n0 0 0 0 0 1 255 0 0 .5 .25\n1 0 0 0 0 1 0 0 0 1 1\n0 1 0 0 0 1 0 0 0 0 0\n3 0 1 2\n");
  EXPECT_EQ(all.surface.cornerNormals[2], Vec3(0, 0, 1));
  EXPECT_EQ(all.surface.cornerUvs[0], Vec2(0.5, 0.25));
  EXPECT_EQ(all.surface.vertexColours[0], Vec4f(1, 0, 0, 1));
}

TEST(FilesOff, WritesColours) {
  MeshFile file;
  file.surface = cube();
  for (int i = 0; i < 8; ++i)
    file.surface.vertexColours.emplace_back(0.1f * float(i), 1.0f, 0.0f, i == 3 ? 0.5f : 1.0f);
  TemporaryFolder folder;
  EXPECT_TRUE(writeMesh(folder / "a.off", file).empty());
  const MeshFile back = readMesh(folder / "a.off");
  EXPECT_TRUE(sameShape(file.surface, back.surface));
  EXPECT_EQ(back.surface.vertexColours, file.surface.vertexColours);
}

TEST(FilesOff, NamesTheTrouble) {
  const std::pair<std::string, std::string> cases[] = {
      {"OOF\n", "expected 'OFF', found 'OOF'"},
      {"OFF BINARY\n", "binary OFF files are not read"},
      {"4OFF\n1 0 0\n0 0 0 1\n", "other than 3 dimensions"},
      {"OFF\n1000000000 1 0\n0 0 0\n",
       "a.off:2: the header claims 1000000000 vertices, which take at least 5000000000"},
      {"OFF\n1 1000000000 0\n0 0 0\n", "claims 1000000000 faces"},
      {"OFF\n1 1 0\n0 0 0\n99999999 0 0 0\n", "claims 99999998 corners of a face"},
      {"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n",
       "a.off:6: face refers to vertex 3, but there are only 3 vertices"},
      {"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n", "expected a vertex index, found '-1'"},
      {"OFF\n1 0 0\n0 nan 0\n", "a.off:3: coordinate is not finite"},
      {"OFF\n2 0 0\n0 0 0     \n", "expected a coordinate, found the end of the file"},
      {"COFF\n1 0 0\n0 0 0 1 1\n", "needs 3 or 4 numbers for its colour"},
  };
  for (const auto& [text, message] : cases) {
    const auto error = errorOf([&input = text] { off(input); });
    ASSERT_TRUE(error) << text;
    EXPECT_TRUE(contains(error->what(), message)) << error->what();
  }
}

}  // namespace sunder::meshio::files
