#include "meshio/volume_file_samples.h"

#include <limits>

namespace sunder::meshio {
using namespace geometry;
namespace {

using namespace samples;

MeshFile readMshText(const std::string& text) { return readMsh(bytesOf(text), "test.msh"); }

// One tetrahedron in physical volume 7 and its four faces in physical surface 5; node tags have gaps and no
// order.
const char* const kText22 = R"($MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
2
2 5 "outer skin"
3 7 "glass"
$EndPhysicalNames
$Nodes
5
40 0 0 0
10 1 0 0
30 0 1 0
7 0 0 1
99 5 5 5
$EndNodes
$Elements
6
1 15 2 0 1 40
2 2 2 5 1 40 30 10
3 2 2 5 1 40 10 7
4 2 2 5 2 10 30 7
5 2 2 5 2 40 7 30
6 4 2 7 1 40 10 30 7
$EndElements
)";

const char* const kText41 = R"($MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
1
2 5 "outer skin"
$EndPhysicalNames
$Entities
1 0 1 1
1 0 0 0 0
3 0 0 0 1 1 1 2 5 6 0
4 0 0 0 1 1 1 1 7 1 3
$EndEntities
$Nodes
2 4 10 1000000000000
2 3 1 1
40
0 0 0 0.25 0.75
3 4 0 3
10
1000000000000
12
1 0 0
0 1 0
0 0 1
$EndNodes
$Unknown
whatever is in here
$EndUnknown
$Elements
3 4 1 4
2 3 2 2
1 40 1000000000000 10
2 40 10 12
0 1 15 1
3 40
3 4 4 1
4 40 12 1000000000000 10
$EndElements
)";

TEST(FilesMsh, reads22TextWithTagsThatHaveGaps) {
  const MeshFile file = readMshText(kText22);
  ASSERT_EQ(file.volume.tets.size(), 1u);
  EXPECT_EQ(file.volume.tets[0], (Tetrahedron{0, 1, 2, 3}));
  EXPECT_EQ(file.volume.region, std::vector<int32_t>{7});
  EXPECT_EQ(file.volume.positions.size(), 5u);  // the point nobody uses is kept
  EXPECT_EQ(file.volume.positions[4], Vec3(5, 5, 5));
  ASSERT_EQ(file.surface.faceCount(), 4u);
  EXPECT_EQ(file.surface.face(0)[1], 2u);
  EXPECT_EQ(file.surface.groupNames, std::vector<std::string>{"outer skin"});
  EXPECT_EQ(file.surface.faceGroup, (std::vector<uint32_t>{0, 0, 0, 0}));
  EXPECT_TRUE(sameBits(file.surface.positions, file.volume.positions));
  EXPECT_TRUE(hasNote(file, "1 cell of type point"));
  EXPECT_NEAR(volumeOf(file.volume), 1.0 / 6, 1e-15);
}

TEST(FilesMsh, reads41TextAndFlipsInvertedTets) {
  const MeshFile file = readMshText(kText41);
  ASSERT_EQ(file.volume.tets.size(), 1u);
  EXPECT_NEAR(volumeOf(file.volume), 1.0 / 6, 1e-15);
  EXPECT_TRUE(hasNote(file, "1 inverted tetrahedron was flipped"));
  EXPECT_TRUE(hasNote(file, "several physical groups"));
  EXPECT_EQ(file.volume.region, std::vector<int32_t>{7});
  ASSERT_EQ(file.surface.faceCount(), 2u);
  EXPECT_EQ(file.surface.face(0)[0], 0u);
  EXPECT_EQ(file.surface.face(0)[1], 2u);
  EXPECT_EQ(file.surface.face(0)[2], 1u);
}

TEST(FilesMsh, elementaryTagStandsInForAMissingPhysicalOne) {
  EXPECT_EQ(readMshText(replaced(kText22, "6 4 2 7 1", "6 4 2 0 31")).volume.region,
            std::vector<int32_t>{31});
  EXPECT_EQ(readMshText(replaced(kText41, "1 1 1 1 7 1 3", "1 1 1 0 1 3")).volume.region,
            std::vector<int32_t>{4});
}

TEST(FilesMsh, negativePhysicalSurfaceTurnsItsFaces) {
  const MeshFile file = readMshText(replaced(kText41, "2 5 6 0", "2 -5 6 0"));
  EXPECT_EQ(file.surface.face(0)[1], 1u);
  EXPECT_EQ(file.surface.face(0)[2], 2u);
  EXPECT_EQ(file.surface.groupNames, std::vector<std::string>{"outer skin"});
}

TEST(FilesMsh, tenNodeTetsKeepTheirCorners) {
  const std::string text =
      replaced(kText22, "6 4 2 7 1 40 10 30 7", "6 11 2 7 1 40 10 30 7 99 99 99 99 99 99");
  const MeshFile file = readMshText(text);
  EXPECT_EQ(file.volume.tets.size(), 1u);
  EXPECT_TRUE(hasNote(file, "1 cell of higher order"));
}

// The same tetrahedron in binary, in either byte order.
std::string binary22(bool big) {
  std::string t = "$MeshFormat\n2.2 1 8\n";
  appendValue<int32_t>(t, 1, big);
  t += "\n$EndMeshFormat\n$Nodes\n4\n";
  const double xyz[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 0.5}};
  for (int i = 0; i < 4; ++i) {
    appendValue<int32_t>(t, 3 * i + 2, big);
    for (const double x : xyz[i]) appendValue(t, x, big);
  }
  t += "\n$EndNodes\n$Elements\n3\n";
  for (const int32_t v : {2, 2, 2, 1, 8, 9, 2, 8, 5, 2, 8, 9, 2, 5, 11}) appendValue<int32_t>(t, v, big);
  for (const int32_t v : {4, 1, 2, 3, 0, 12, 2, 5, 8, 11}) appendValue<int32_t>(t, v, big);
  return t + "\n$EndElements\n";
}

std::string binary41(bool big, bool wide) {
  std::string t = std::string("$MeshFormat\n4.1 1 ") + (wide ? "8\n" : "4\n");
  auto number = [&](uint64_t v) {
    wide ? appendValue<uint64_t>(t, v, big) : appendValue(t, uint32_t(v), big);
  };
  auto ints = [&](std::initializer_list<int32_t> values) {
    for (const int32_t v : values) appendValue(t, v, big);
  };
  auto numbers = [&](std::initializer_list<uint64_t> values) {
    for (const uint64_t v : values) number(v);
  };
  ints({1});
  t += "\n$EndMeshFormat\n$Entities\n";
  numbers({0, 0, 0, 1});
  ints({9});
  for (int k = 0; k < 6; ++k) appendValue(t, k < 3 ? 0.0 : 1.0, big);
  numbers({1});
  ints({77});
  numbers({0});
  t += "\n$EndEntities\n$Nodes\n";
  numbers({1, 4, 1, 4});
  ints({3, 9, 0});
  numbers({4, 4, 3, 2, 1});
  for (const double x : {0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 0.5}) appendValue(t, x, big);
  t += "\n$EndNodes\n$Elements\n";
  numbers({1, 1, 1, 1});
  ints({3, 9, 4});
  numbers({1, 1, 4, 3, 2, 1});
  return t + "\n$EndElements\n";
}

TEST(FilesMsh, readsBinaryInBothByteOrders) {
  for (const bool big : {false, true}) {
    const MeshFile old = readMshText(binary22(big));
    ASSERT_EQ(old.volume.tets.size(), 1u);
    EXPECT_EQ(old.volume.region, std::vector<int32_t>{12});
    EXPECT_NEAR(volumeOf(old.volume), 0.5 / 6, 1e-15);
    ASSERT_EQ(old.surface.faceCount(), 2u);
    EXPECT_EQ(old.surface.face(1)[2], 3u);
    for (const bool wide : {false, true}) {
      const MeshFile file = readMshText(binary41(big, wide));
      ASSERT_EQ(file.volume.tets.size(), 1u);
      EXPECT_EQ(file.volume.tets[0], (Tetrahedron{0, 1, 2, 3}));
      EXPECT_EQ(file.volume.region, std::vector<int32_t>{77});
      EXPECT_NEAR(volumeOf(file.volume), 0.5 / 6, 1e-15);
    }
  }
}

TEST(FilesMsh, writesAndReadsTheSame) {
  const MeshFile mesh = sampleMesh(false);
  for (const bool ascii : {false, true}) {
    const MeshFile back =
        readMshText(written([&](OutputFile& out) { EXPECT_TRUE(writeMsh(out, mesh, ascii).empty()); }));
    EXPECT_TRUE(sameBits(back.volume.positions, mesh.volume.positions));
    EXPECT_EQ(back.volume.tets, mesh.volume.tets);
    EXPECT_EQ(back.volume.region, mesh.volume.region);
    EXPECT_EQ(back.surface.corners, mesh.surface.corners);
    EXPECT_EQ(back.surface.faceOffsets, mesh.surface.faceOffsets);
    EXPECT_EQ(back.surface.faceGroup, mesh.surface.faceGroup);
    EXPECT_EQ(back.surface.groupNames, mesh.surface.groupNames);
    EXPECT_TRUE(back.notes.empty());
  }
}

TEST(FilesMsh, regionsThatGmshHasNoTagForSurvive) {
  MeshFile mesh;
  mesh.volume = gridOfTets(1);
  mesh.volume.region = {0, 1, -3, 0, 2, std::numeric_limits<int32_t>::max()};
  std::vector<std::string> notes;
  const MeshFile back = readMshText(written([&](OutputFile& out) { notes = writeMsh(out, mesh, false); }));
  EXPECT_EQ(back.volume.region, mesh.volume.region);
  EXPECT_EQ(notes.size(), 2u);
}

TEST(FilesMsh, surfacesWithoutGroupsAndEmptyMeshes) {
  MeshFile mesh = sampleMesh(false);
  mesh.volume = {};
  mesh.surface.faceGroup.clear();
  mesh.surface.groupNames.clear();
  const MeshFile back = readMshText(written([&](OutputFile& out) { writeMsh(out, mesh, false); }));
  EXPECT_TRUE(back.surface.faceGroup.empty());
  EXPECT_EQ(back.surface.corners, mesh.surface.corners);
  EXPECT_TRUE(back.volume.positions.empty());
  const MeshFile nothing = readMshText(written([&](OutputFile& out) { writeMsh(out, MeshFile{}, false); }));
  EXPECT_EQ(nothing.surface.faceCount(), 0u);
  EXPECT_TRUE(nothing.volume.tets.empty());
}

TEST(FilesMsh, polygonsBecomeTriangles) {
  const MeshFile mesh = sampleMesh(true);
  std::vector<std::string> notes;
  const MeshFile back = readMshText(written([&](OutputFile& out) { notes = writeMsh(out, mesh, false); }));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("split"), std::string::npos);
  EXPECT_EQ(back.surface.faceCount(), 6u);  // 3 + the pentagon's 3
  EXPECT_EQ(back.surface.faceGroup, (std::vector<uint32_t>{0, 1, 1, 0, 0, 0}));
}

TEST(FilesMsh, refusesWhatIsWrong) {
  const std::string t2 = kText22, t4 = kText41;
  expectError(readMshText, "", ErrorKind::Format, "$MeshFormat");
  expectError(readMshText, "garbage", ErrorKind::Format, "garbage");
  expectError(readMshText, replaced(t2, "2.2 0 8", "4 0 8"), ErrorKind::Unsupported, "msh41");
  expectError(readMshText, replaced(t2, "10 1 0 0", "10 nan 0 0"), ErrorKind::Format,
              "coordinate is not finite");
  expectError(readMshText, replaced(t4, "1 0 0\n0 1 0", "1 inf 0\n0 1 0"), ErrorKind::Format, "not finite");
  expectError(readMshText, replaced(t2, "40 10 30 7\n$", "40 10 31 7\n$"), ErrorKind::Format, "node 31");
  expectError(readMshText, replaced(t4, "4 40 12", "4 40 13"), ErrorKind::Format, "node 13");
  expectError(readMshText, replaced(t2, "$Nodes\n5", "$Nodes\n1000000000"), ErrorKind::Format,
              "1000000000 nodes");
  expectError(readMshText, replaced(t4, "2 4 10 1", "2 1000000000 10 1"), ErrorKind::Format,
              "1000000000 nodes");
  expectError(readMshText, replaced(t4, "3 4 1 4", "3 18446744073709551615 1 4"), ErrorKind::Format,
              "elements");
  expectError(readMshText, replaced(t2, "$Nodes\n5", "$Nodes\n-5"), ErrorKind::Format, "-5");
  expectError(readMshText, replaced(t2, "10 1 0 0", "40 1 0 0"), ErrorKind::Format,
              "two nodes have the tag 40");
  expectError(readMshText, replaced(t2, "6 4 2 7", "6 250 2 7"), ErrorKind::Unsupported, "250");
  expectError(readMshText, replaced(t4, "3 4 0 3\n", "3 4 0 9\n"), ErrorKind::Format,
              "more than the 4 nodes");
  EXPECT_EQ(errorOf(readMshText, replaced(t2, "40 10 30 7\n$", "40 10 31 7\n$")).place(), "24");

  std::string nan = binary22(false);
  const double bad = std::numeric_limits<double>::quiet_NaN();
  std::memcpy(nan.data() + nan.find("$Nodes\n4\n") + 9 + 4, &bad, sizeof bad);
  expectError(readMshText, nan, ErrorKind::Format, "coordinate is not finite");
  EXPECT_NE(errorOf(readMshText, nan).place().find("byte"), std::string::npos);
}

TEST(FilesMsh, isSturdy) {
  for (const std::string& text :
       {std::string(kText22), std::string(kText41), binary22(true), binary41(false, true)})
    EXPECT_GT(expectSturdy(readMshText, text), text.size() / 2);
}

}  // namespace
}  // namespace sunder::meshio
