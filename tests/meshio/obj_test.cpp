#include "meshio/files_common.h"

namespace sunder::meshio::files {
using namespace geometry;

namespace {

MeshFile obj(std::string_view text) { return readObj(bytesOf(text), "a.obj"); }
const std::string kObjTriangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";

}  // namespace

TEST(FilesObj, ReadsIndicesInAllTheirForms) {
  const MeshFile file = obj(kObjTriangle +
                            "v 0 0 1\nvt 0 0\nvt 1 0\nvt 0 1\nvn 0 0 1\n"
                            "f 1/1/1 2/2/1 3/3/1\nf -4/-3/-1 -3/-2/-1 -1/-1/-1 3/3/-1\n");
  ASSERT_EQ(file.surface.faceCount(), 2u);
  EXPECT_EQ(file.surface.corners, (std::vector<uint32_t>{0, 1, 2, 0, 1, 3, 2}));
  ASSERT_EQ(file.surface.cornerUvs.size(), 7u);
  EXPECT_EQ(file.surface.cornerUvs[1], Vec2(1, 0));
  EXPECT_EQ(file.surface.cornerUvs[5], Vec2(0, 1));
  ASSERT_EQ(file.surface.cornerNormals.size(), 7u);
  EXPECT_TRUE(file.notes.empty());

  const MeshFile normals = obj(kObjTriangle + "vn 0 0 1\nf 1//1 2//1 3//1\n");
  EXPECT_EQ(normals.surface.cornerNormals.size(), 3u);
  EXPECT_TRUE(normals.surface.cornerUvs.empty());
  const MeshFile uvs = obj(kObjTriangle + "vt .5\nf 1/1 2/1 3/1");
  EXPECT_EQ(uvs.surface.cornerUvs[2], Vec2(0.5, 0));
}

TEST(FilesObj, DropsAttributesThatSomeCornersLack) {
  const MeshFile file = obj(kObjTriangle + "vt 0 0\nvn 0 0 1\nf 1/1/1 2/1/1 3//1\nf 1 2 3\n");
  EXPECT_TRUE(file.surface.cornerUvs.empty());
  EXPECT_TRUE(file.surface.cornerNormals.empty());
  EXPECT_TRUE(hasNote(file.notes, "normals"));
  EXPECT_TRUE(hasNote(file.notes, "texture coordinates"));
  const MeshFile late = obj(kObjTriangle + "vt 0 0\nf 1 2 3\nf 1/1 2/1 3/1\n");
  EXPECT_TRUE(late.surface.cornerUvs.empty());
  EXPECT_TRUE(hasNote(late.notes, "texture coordinates"));
  const MeshFile broken = obj(kObjTriangle + "vn nan 0 0\nf 1//1 2//1 3//1\n");
  EXPECT_TRUE(broken.surface.cornerNormals.empty());
  EXPECT_TRUE(hasNote(broken.notes, "normals"));
}

TEST(FilesObj, ReadsGroupsByName) {
  const MeshFile file = obj(kObjTriangle +
                            "f 1 2 3\ng left side\nf 1 2 3\nf 3 2 1\no right\ng  \nf 1 2 3\ng left side  \n"
                            "f 2 3 1\ng unused\n");
  EXPECT_EQ(file.surface.groupNames, (std::vector<std::string>{"default", "left side"}));
  EXPECT_EQ(file.surface.faceGroup, (std::vector<uint32_t>{0, 1, 1, 0, 1}));
  EXPECT_TRUE(obj(kObjTriangle + "f 1 2 3\n").surface.faceGroup.empty());
}

TEST(FilesObj, ReadsColoursAndWeights) {
  const MeshFile file = obj("v 0 0 0 1 0.5 0\nv 1 0 0 0 0 1\nv 0 1 0 0.25 0 0\nf 1 2 3\n");
  ASSERT_EQ(file.surface.vertexColours.size(), 3u);
  EXPECT_EQ(file.surface.vertexColours[0], Vec4f(1, 0.5f, 0, 1));
  const MeshFile weighted = obj("v 0 0 0 1\nv 1 0 0 2.5\nv 0 1 0 1\nf 1 2 3\n");
  EXPECT_TRUE(weighted.surface.vertexColours.empty());
  EXPECT_EQ(weighted.surface.positions[1], Vec3(1, 0, 0));
  const MeshFile partly = obj("v 0 0 0\nv 1 0 0 1 1 1\nv 0 1 0\nf 1 2 3\n");
  EXPECT_TRUE(partly.surface.vertexColours.empty());
  EXPECT_TRUE(hasNote(partly.notes, "colours"));
}

TEST(FilesObj, JoinsContinuedLinesAndIgnoresComments) {
  const MeshFile file =
      obj("# head\r\nv 0 \\\r\n0 0 # origin\nv 1 0 0\n\n  v 0 1 0\nf 1 \\\n 2 \\\n 3#end\n#\n");
  EXPECT_EQ(file.surface.positions.size(), 3u);
  EXPECT_EQ(file.surface.corners, (std::vector<uint32_t>{0, 1, 2}));
  const auto error = errorOf([] { obj("v 0 \\\n0 0\nv 1 x 0\n"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->place(), "3");
}

TEST(FilesObj, NotesWhatItIgnores) {
  const MeshFile file =
      obj("mtllib a.mtl\n" + kObjTriangle +
          "usemtl red\ns 1\ns off\nf 1 2 3\nl 1 2\np 1\ncstype bezier\ncurv 0 1 1 2 \\\n3\nend\nf 1 2\n");
  EXPECT_EQ(file.surface.faceCount(), 1u);
  EXPECT_TRUE(hasNote(file.notes, "materials ignored"));
  EXPECT_TRUE(hasNote(file.notes, "2 line and point elements ignored"));
  EXPECT_TRUE(hasNote(file.notes, "3 statements for curves"));
  EXPECT_TRUE(hasNote(file.notes, "left out 1 face with fewer than 3 corners"));
}

TEST(FilesObj, AllowsFacesBeforeTheirVertices) {
  const MeshFile file = obj("f 1 2 3\n" + kObjTriangle);
  EXPECT_EQ(file.surface.corners, (std::vector<uint32_t>{0, 1, 2}));
}

TEST(FilesObj, NamesTheLineOfTrouble) {
  const std::pair<std::string, std::string> cases[] = {
      {kObjTriangle + "f 1 2 9\n", "a.obj:4: face refers to vertex 9, but there are only 3 vertices"},
      {kObjTriangle + "f 1 2 -4\n", "a.obj:4: index -4 points before the first: only 3 were read so far"},
      {kObjTriangle + "f 0 1 2\n",
       "a.obj:4: a vertex index of 1 or more expected, found '0' (indices in OBJ files start at 1)"},
      {kObjTriangle + "f 1/5 2/1 3/1\n",
       "a.obj:4: face refers to texture coordinate 5, but there are only 0 of them"},
      {kObjTriangle + "f 1//1 2 3\n", "a.obj:4: face refers to normal 1, but there are only 0 of them"},
      {kObjTriangle + "f a b c\n", "a.obj:4: expected a vertex index, found 'a'"},
      {kObjTriangle + "f 1x 2 3\n", "a.obj:4: expected a blank after the corner, found 'x'"},
      {kObjTriangle + "f 1 2 99999999999999999999999\n",
       "a.obj:4: a vertex index of 1 or more expected, found '99999999999999999999999' (indices in OBJ files "
       "start at 1)"},
      {"v 0 0\n", "a.obj:1: expected a coordinate, found the end of the line"},
      {"v 0 0 nan\n", "a.obj:1: coordinate is not finite"},
      {"v 0 0 1e999\n", "a.obj:1: coordinate is not finite"},
      {"v 1.0.0 1 1\n", "a.obj:1: expected a coordinate, found '1.0.0'"},
      {"v 0 0 0\nhello world\n", "a.obj:2: expected an OBJ statement such as v or f, found 'hello'"},
      {"v 0 0 0 1 1 1 1 1\n", "a.obj:1: expected the end of the line, found '1'"},
      {"", "a.obj: the file holds no vertices (is it an OBJ file?)"},
  };
  for (const auto& [text, message] : cases) {
    const auto error = errorOf([&input = text] { obj(input); });
    ASSERT_TRUE(error) << text;
    EXPECT_EQ(error->what(), message);
  }
}

TEST(FilesObj, WritesWhatItReads) {
  MeshFile file;
  file.surface = cube();
  file.surface.faceGroup = {0, 0, 1, 1, 0, 0};
  file.surface.groupNames = {"ends", "sides of it"};
  for (size_t c = 0; c < file.surface.corners.size(); ++c) {
    file.surface.cornerUvs.emplace_back(0.1 * double(c % 4), 1.0 / 3);
    file.surface.cornerNormals.push_back(Vec3(1, double(c / 4), 2).normalized());
  }
  for (int i = 0; i < 8; ++i) file.surface.vertexColours.emplace_back(0.1f * float(i), 0.5f, 1.0f, 1.0f);
  TemporaryFolder folder;
  EXPECT_TRUE(writeMesh(folder / "a.obj", file).empty());
  const MeshFile back = readMesh(folder / "a.obj");
  EXPECT_TRUE(sameShape(file.surface, back.surface));
  EXPECT_EQ(back.surface.cornerUvs, file.surface.cornerUvs);
  EXPECT_EQ(back.surface.cornerNormals, file.surface.cornerNormals);
  EXPECT_EQ(back.surface.vertexColours, file.surface.vertexColours);
  EXPECT_EQ(back.surface.groupNames, file.surface.groupNames);
  EXPECT_EQ(back.surface.faceGroup, file.surface.faceGroup);
}

// Memory is reserved by a guess from the first thousand lines; what follows may be quite different.
TEST(FilesObj, LongFilesKeepEveryElement) {
  std::string text;
  auto add = [&](const char* before, int number) { text.append(before).append(std::to_string(number)); };
  for (int i = 0; i < 5000; ++i) {
    add("v ", i);
    text += " 0.5 -1e-3\n";
  }
  for (int i = 1; i + 3 <= 5000; ++i) {
    add("f ", i), add(" ", i + 1), add(" ", i + 2);
    if (i % 3 == 0) add(" ", i + 3);
    text += '\n';
  }
  const MeshFile file = obj(text);
  ASSERT_EQ(file.surface.positions.size(), 5000u);
  ASSERT_EQ(file.surface.faceCount(), 4997u);
  for (size_t f = 0; f < 4997; ++f) {
    ASSERT_EQ(file.surface.face(f).size(), (f + 1) % 3 == 0 ? 4u : 3u);
    ASSERT_EQ(file.surface.face(f)[0], f);
  }
  EXPECT_EQ(file.surface.positions[4321], Vec3(4321, 0.5, -1e-3));
}

}  // namespace sunder::meshio::files
