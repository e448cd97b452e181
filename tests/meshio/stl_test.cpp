#include "sunder/meshio/soup_builder.h"

#include "meshio/files_common.h"

namespace sunder::meshio::files {
using namespace geometry;

TEST(FilesStl, WeldsTheCornersOfACube) {
  MeshFile file;
  file.surface = triangulatedCube();
  TemporaryFolder folder;
  for (const bool ascii : {false, true}) {
    EXPECT_TRUE(writeMesh(folder / "a.stl", file, {.ascii = ascii}).empty());
    const MeshFile back = readMesh(folder / "a.stl");
    EXPECT_EQ(back.surface.positions.size(), 8u);
    EXPECT_EQ(back.surface.faceCount(), 12u);
    EXPECT_TRUE(hasNote(back.notes, "welded 36 corners to 8 vertices"));
    EXPECT_TRUE(isClosed(back.surface));
    EXPECT_NEAR(volumeOf(back.surface), 1, 1e-15);
  }
  EXPECT_EQ(std::filesystem::file_size(folder / "a.stl") > 84 + 12 * 50, true);
  writeMesh(folder / "a.stl", file);
  EXPECT_EQ(std::filesystem::file_size(folder / "a.stl"), 84u + 12 * 50);
}

TEST(FilesStl, BinaryThatStartsWithSolidIsBinary) {
  MeshFile file;
  file.surface = triangulatedCube();
  TemporaryFolder folder;
  std::string text = written(folder / "a.stl", file);
  text.replace(0, 6, "solid ");
  EXPECT_EQ(readStl(bytesOf(text), "a.stl").surface.faceCount(), 12u);
  const MeshFile longer = readStl(bytesOf(text + "tail"), "a.stl");
  EXPECT_EQ(longer.surface.faceCount(), 12u);
  EXPECT_TRUE(hasNote(longer.notes, "ignored 4 bytes"));
  const auto error = errorOf([&] { readStl(bytesOf(text).first(600), "a.stl"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message(),
            "the header claims 12 triangles, which take at least 600 bytes, but only 516 are left");
}

TEST(FilesStl, SolidsBecomeGroups) {
  const std::string facet =
      "FACET NORMAL nan 0 1 outer loop vertex 0 0 0 vertex 1 0 0 vertex 0 1 0 endloop endfacet\n";
  const std::string text = "solid left hand\n" + facet + "endsolid left hand\n\nsolid right\n" + facet +
                           facet + "endsolid\nsolid left hand\n" + facet + "endsolid left hand";
  const MeshFile file = readStl(bytesOf(text), "a.stl");
  EXPECT_EQ(file.surface.groupNames, (std::vector<std::string>{"left hand", "right"}));
  EXPECT_EQ(file.surface.faceGroup, (std::vector<uint32_t>{0, 1, 1, 0}));
  EXPECT_EQ(file.surface.positions.size(), 3u);
  TemporaryFolder folder;
  EXPECT_TRUE(writeMesh(folder / "a.stl", file, {.ascii = true}).empty());
  const MeshFile back = readMesh(folder / "a.stl");
  EXPECT_EQ(back.surface.groupNames, file.surface.groupNames);
  EXPECT_EQ(back.surface.faceGroup, file.surface.faceGroup);
  EXPECT_TRUE(hasNote(writeMesh(folder / "a.stl", file), "STL keeps no groups"));
}

TEST(FilesStl, SaysWhatIsLost) {
  MeshFile file;
  file.surface = cube();
  file.surface.positions[0] = Vec3(0.1, 0, 0);
  TemporaryFolder folder;
  const std::vector<std::string> notes = writeMesh(folder / "a.stl", file);
  EXPECT_TRUE(hasNote(notes, "32-bit floats"));
  EXPECT_TRUE(hasNote(notes, "polygons were divided"));
  EXPECT_FALSE(hasNote(writeMesh(folder / "a.stl", file, {.ascii = true}), "32-bit floats"));
  file.surface.positions[0].x() = 1e300;
  const auto error = errorOf([&] { writeMesh(folder / "b.stl", file); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::Limit);
  EXPECT_FALSE(std::filesystem::exists(folder / "b.stl"));
}

TEST(FilesStl, NamesTheTrouble) {
  const std::pair<std::string, std::string> cases[] = {
      {"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 inf\n", "a.stl:4: coordinate is not finite"},
      {"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 x\n",
       "a.stl:4: expected a coordinate, found 'x'"},
      {"solid a\nfacets\n", "a.stl:2: expected 'facet' or 'endsolid', found 'facets'"},
      {"solid a\n", "found the end of the file"},
      {"hello", "neither text that starts with 'solid' nor long enough"},
  };
  for (const auto& [text, message] : cases) {
    const auto error = errorOf([&input = text] { readStl(bytesOf(input), "a.stl"); });
    ASSERT_TRUE(error) << text;
    EXPECT_TRUE(contains(error->what(), message)) << error->what();
  }
}

TEST(FilesStl, WelderMatchesASort) {
  std::mt19937 random(3);
  std::vector<Vec3> input, welded;
  for (int i = 0; i < 20000; ++i)
    input.emplace_back(double(random() % 20), -double(random() % 20), 0.1 * double(random() % 20));
  ExactWelder welder(welded);
  for (const Vec3& p : input) EXPECT_EQ(welded[welder.add(p)], p);
  std::sort(input.begin(), input.end(), [](const Vec3& a, const Vec3& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  });
  EXPECT_EQ(size_t(std::unique(input.begin(), input.end()) - input.begin()), welded.size());
  std::vector<Vec3> zeros;
  ExactWelder signs(zeros);
  EXPECT_EQ(signs.add({0.0, -0.0, 0.0}), signs.add({-0.0, 0.0, 0.0}));
}

}  // namespace sunder::meshio::files
