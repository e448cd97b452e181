#include "sunder/meshio/cell_soup.h"

#include "meshio/volume_file_samples.h"

namespace sunder::meshio {
using namespace geometry;
namespace {

using namespace samples;

const std::string kNode = R"(# a cube's corner
5 3 2 1   # points, dimension, attributes, markers
1  0 0 0  0.5 7 1
2  1 0 0  0.5 7 1
3  0 1 0  0.5 7 0

4  0 0 1  0.5 7 0
5  1e0 1. +1 0.5 7 0
# end
)";
const std::string kEle = "2 4 1\n1 1 2 3 4 -20\n2 2 3 4 5 30.0\n";

MeshFile readPair(const std::string& node, const std::string& ele) {
  return readTetGen(bytesOf(node), "t.node", bytesOf(ele), "t.ele");
}
MeshFile readEle(const std::string& ele) { return readPair(kNode, ele); }
MeshFile readNode(const std::string& node) { return readPair(node, kEle); }

TEST(FilesTetGen, readsPointsTetsAndRegions) {
  const MeshFile file = readEle(kEle);
  ASSERT_EQ(file.volume.tets.size(), 2u);
  EXPECT_EQ(file.volume.positions.size(), 5u);
  EXPECT_EQ(file.volume.region, (std::vector<int32_t>{-20, 30}));
  EXPECT_NEAR(volumeOf(file.volume), 0.5, 1e-15);  // a corner of 1/6 and the regular one of 1/3
  EXPECT_EQ(file.surface.faceCount(), 0u);
  EXPECT_TRUE(file.surface.positions.empty());
}

TEST(FilesTetGen, numbersMayStartAnywhere) {
  for (const int first : {0, 1, 1000}) {
    std::string node = "4 3 0 0\n", ele = "1 4 0\n1";
    const char* const xyz[4] = {"0 0 0", "1 0 0", "0 1 0", "0 0 1"};
    for (int i = 0; i < 4; ++i) {
      node += std::to_string(first + i) + " " + xyz[i] + "\n";
      ele += ' ';
      ele += std::to_string(first + i);
    }
    const MeshFile file = readPair(node, ele);
    EXPECT_EQ(file.volume.tets[0], (Tetrahedron{0, 1, 2, 3}));
    EXPECT_TRUE(file.volume.region.empty());
  }
}

TEST(FilesTetGen, flipsAndKeepsCornersOfTenNodeTets) {
  const MeshFile file = readEle("1 10 0\n0 1 3 2 4 5 5 5 5 5 5\n");
  EXPECT_NEAR(volumeOf(file.volume), 1.0 / 6, 1e-15);
  EXPECT_TRUE(hasNote(file, "1 inverted tetrahedron"));
  EXPECT_TRUE(hasNote(file, "higher order"));
}

TEST(FilesTetGen, attributesThatAreNoNumbersOfRegionsAreLeftOut) {
  const MeshFile file = readEle(replaced(kEle, "30.0", "30.5"));
  EXPECT_TRUE(file.volume.region.empty());
  EXPECT_TRUE(hasNote(file, "regions are left out"));
}

TEST(FilesTetGen, refusesWhatIsWrong) {
  expectError(readEle, "", ErrorKind::Format, "number of tetrahedra");
  expectError(readNode, "", ErrorKind::Format, "number of points");
  expectError(readEle, replaced(kEle, "2 3 4 5", "2 3 4 6"), ErrorKind::Format, "point 6");
  EXPECT_EQ(errorOf(readEle, replaced(kEle, "2 3 4 5", "2 3 4 6")).place(), "3");
  expectError(readEle, replaced(kEle, "2 3 4 5", "2 -3 4 5"), ErrorKind::Format, "-3");
  expectError(readEle, replaced(kEle, "2 4 1", "1000000000 4 1"), ErrorKind::Format, "1000000000 tetrahedra");
  expectError(readEle, replaced(kEle, "2 4 1", "-2 4 1"), ErrorKind::Format, "-2");
  expectError(readEle, replaced(kEle, "2 4 1", "2 5 1"), ErrorKind::Format, "4 or 10");
  expectError(readEle, kEle + "7", ErrorKind::Format, "end of the file");
  expectError(readNode, replaced(kNode, "1e0", "1e999"), ErrorKind::Format, "coordinate is not finite");
  expectError(readNode, replaced(kNode, "1  0 0 0", "1  nan 0 0"), ErrorKind::Format, "not finite");
  expectError(readNode, replaced(kNode, "5 3 2 1", "1000000000 3 2 1"), ErrorKind::Format,
              "1000000000 points");
  expectError(readNode, replaced(kNode, "5 3 2 1", "5 2 2 1"), ErrorKind::Format, "dimension");
  expectError(readNode, replaced(kNode, "2  1 0", "1  1 0"), ErrorKind::Format, "two points");
}

TEST(FilesTetGen, isSturdy) {
  EXPECT_GT(expectSturdy(readNode, kNode), kNode.size() / 2);
  EXPECT_GT(expectSturdy(readEle, kEle), kEle.size() / 2);
}

const std::string kMedit = R"(MeshVersionFormatted 2
# comment
Dimension
3
Vertices
5
0 0 0 1
1 0 0 1
0 1 0 1
0 0 1 1
1 1 1 0
Corners 2
1 4
Triangles 2
1 3 2 10
1 2 4 -4
Quadrilaterals
1
1 2 5 3 10
Tetrahedra 2
1 3 2 4 8
2 3 4 5 9
Ridges
1
1
End
)";

MeshFile readMeditText(const std::string& text) { return readMedit(bytesOf(text), "t.mesh"); }

TEST(FilesMedit, readsSectionsWithReferences) {
  const MeshFile file = readMeditText(kMedit);
  ASSERT_EQ(file.volume.tets.size(), 2u);
  EXPECT_EQ(file.volume.region, (std::vector<int32_t>{8, 9}));
  EXPECT_NEAR(volumeOf(file.volume), 0.5, 1e-15);
  EXPECT_TRUE(hasNote(file, "1 inverted"));
  EXPECT_TRUE(hasNote(file, "Corners, Ridges"));
  ASSERT_EQ(file.surface.faceCount(), 3u);
  EXPECT_EQ(file.surface.face(2).size(), 4u);
  EXPECT_EQ(file.surface.groupNames, (std::vector<std::string>{"-4", "10"}));
  EXPECT_EQ(file.surface.faceGroup, (std::vector<uint32_t>{1, 0, 1}));
  EXPECT_TRUE(sameBits(file.surface.positions, file.volume.positions));
}

TEST(FilesMedit, refusesWhatIsWrong) {
  expectError(readMeditText, "", ErrorKind::Format, "MeshVersionFormatted");
  expectError(readMeditText, "\x01\x02\x03", ErrorKind::Format, "not a text file");
  expectError(readMeditText, replaced(kMedit, "Dimension\n3", "Dimension\n2"), ErrorKind::Unsupported,
              "dimension");
  expectError(readMeditText, replaced(kMedit, "2 3 4 5 9", "2 3 4 6 9"), ErrorKind::Format, "vertex 6");
  expectError(readMeditText, replaced(kMedit, "2 3 4 5 9", "2 0 4 5 9"), ErrorKind::Format, "vertex 0");
  EXPECT_EQ(errorOf(readMeditText, replaced(kMedit, "2 3 4 5 9", "2 3 4 6 9")).place(), "22");
  expectError(readMeditText, replaced(kMedit, "1 1 1 0", "1 nan 1 0"), ErrorKind::Format, "not finite");
  expectError(readMeditText, replaced(kMedit, "Vertices\n5", "Vertices\n1000000000"), ErrorKind::Format,
              "1000000000");
  expectError(readMeditText, replaced(kMedit, "Tetrahedra 2", "Tetrahedra -2"), ErrorKind::Format, "-2");
  expectError(readMeditText, replaced(kMedit, "-4", "-4000000000"), ErrorKind::Format, "32 bits");
}

TEST(FilesMedit, isSturdy) { EXPECT_GT(expectSturdy(readMeditText, kMedit), kMedit.size() / 2); }

TEST(TagMap, findsConsecutiveDenseAndSparseNumbers) {
  const std::vector<std::vector<uint64_t>> lists = {
      {5, 6, 7, 8}, {9, 3, 4, 30}, {uint64_t(1) << 60, 2, 77, 1000000}, {}, {UINT64_MAX, 0}};
  for (const std::vector<uint64_t>& tags : lists) {
    const TagMap map(tags);
    EXPECT_FALSE(map.hasDuplicate());
    for (size_t i = 0; i < tags.size(); ++i) EXPECT_EQ(map.find(tags[i]), i);
    for (const uint64_t missing : {uint64_t(1), uint64_t(10), uint64_t(1) << 40})
      EXPECT_EQ(map.find(missing), kNoIndex);
  }
  EXPECT_TRUE(TagMap({4, 5, 4}).hasDuplicate());
  EXPECT_TRUE(TagMap({4, uint64_t(1) << 50, 4}).hasDuplicate());
  EXPECT_EQ(TagMap({4, uint64_t(1) << 50, 4}).duplicateTag(), 4u);
}

}  // namespace
}  // namespace sunder::meshio
