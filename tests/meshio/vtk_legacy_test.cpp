#include "meshio/volume_file_samples.h"

#include <limits>

namespace sunder::meshio {
using namespace geometry;
namespace {

using namespace samples;

MeshFile readLegacyText(const std::string& text) { return readVtkLegacy(bytesOf(text), "test.vtk"); }

const std::string kGrid2 = R"(# vtk DataFile Version 2.0
a title # with anything
ASCII
DATASET UNSTRUCTURED_GRID
POINTS 5 float
0 0 0  1 0 0  0 1 0  0 0 1
1 1 1
CELLS 5 21
4 0 1 2 3
4 1 2 3 4
3 0 2 1
4 0 1 4 2
1 0
CELL_TYPES 5
10 10 5 9 1
CELL_DATA 5
SCALARS stress float 1
LOOKUP_TABLE default
0.5 0.5 0.5 0.5 0.5
FIELD FieldData 1
region 1 5 int
3 4 6 5 0
POINT_DATA 5
VECTORS v double
0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
)";

const std::string kGrid5 = R"(# vtk DataFile Version 5.1
title
ASCII
DATASET UNSTRUCTURED_GRID
FIELD FieldData 1
label 1 1 string
two%20words
POINTS 5 double
0 0 0  1 0 0  0 1 0  0 0 1
1 1 1
METADATA
INFORMATION 0

CELLS 3 11
OFFSETS vtktypeint64
0 4 11
CONNECTIVITY vtktypeint64
0 1 2 3
4 3 2 1 0 3 2
CELL_TYPES 2
10
42
)";

TEST(FilesVtkLegacy, readsOldCells) {
  const MeshFile file = readLegacyText(kGrid2);
  ASSERT_EQ(file.volume.tets.size(), 2u);
  EXPECT_EQ(file.volume.region, (std::vector<int32_t>{3, 4}));
  EXPECT_NEAR(volumeOf(file.volume), 0.5, 1e-15);
  ASSERT_EQ(file.surface.faceCount(), 2u);
  EXPECT_EQ(file.surface.groupNames, (std::vector<std::string>{"5", "6"}));
  EXPECT_EQ(file.surface.faceGroup, (std::vector<uint32_t>{1, 0}));
  EXPECT_TRUE(hasNote(file, "1 cell of type vertex"));
}

TEST(FilesVtkLegacy, readsOffsetsAndConnectivity) {
  const MeshFile file = readLegacyText(kGrid5);
  EXPECT_EQ(file.volume.tets, (std::vector<Tetrahedron>{{0, 1, 2, 3}}));
  EXPECT_TRUE(hasNote(file, "1 cell of type polyhedron"));
  EXPECT_TRUE(file.volume.region.empty());
  EXPECT_TRUE(file.surface.positions.empty());
}

// Polygon data with every kind of cell; the cell data counts vertices, lines, polygons, strips.
std::string polyData(bool binary) {
  std::string t = std::string("# vtk DataFile Version 3.0\npoly\n") + (binary ? "BINARY" : "ASCII") +
                  "\nDATASET POLYDATA\nPOINTS 6 float\n";
  auto put = [&](auto value) {
    if (binary)
      appendValue(t, value, true);
    else
      t += std::to_string(value) + " ";
  };
  auto ints = [&](std::initializer_list<int32_t> values) {
    for (const int32_t v : values) put(v);
    t += "\n";
  };
  for (int i = 0; i < 6; ++i)
    for (int k = 0; k < 3; ++k) put(k == 0 ? float(i % 3) : k == 1 ? float(i / 3) : 0.0f);
  t += "\nVERTICES 1 2\n";
  ints({1, 0});
  t += "TRIANGLE_STRIPS 1 6\n";
  ints({5, 0, 3, 1, 4, 2});
  t += "POLYGONS 2 9\n";
  ints({4, 0, 1, 4, 3, 3, 1, 2, 4});
  t += "CELL_DATA 4\nSCALARS group int\nLOOKUP_TABLE default\n";
  ints({90, 91, 92, 93});
  t += "POINT_DATA 6\nNORMALS n float\n";
  for (int i = 0; i < 18; ++i) put(i % 3 == 2 ? 1.0f : 0.0f);
  t += "\nTEXTURE_COORDINATES tc 2 float\n";
  for (int i = 0; i < 12; ++i) put(float(i) / 16);
  t += "\nCOLOR_SCALARS rgb 3\n";
  for (int i = 0; i < 18; ++i) {
    if (binary)
      t += static_cast<char>(static_cast<unsigned char>(i % 3 == 0 ? 255 : 0));
    else
      t += i % 3 == 0 ? "1 " : "0 ";
  }
  return t + "\n";
}

TEST(FilesVtkLegacy, readsPolygonsStripsAndAttributes) {
  for (const bool binary : {false, true}) {
    const MeshFile file = readLegacyText(polyData(binary));
    ASSERT_EQ(file.surface.faceCount(), 5u) << binary;  // two polygons, three triangles of the strip
    EXPECT_TRUE(file.volume.positions.empty());
    EXPECT_EQ(file.surface.groupNames, (std::vector<std::string>{"91", "92", "93"}));
    EXPECT_EQ(file.surface.faceGroup, (std::vector<uint32_t>{0, 1, 2, 2, 2}));
    // Triangles of a strip alternate, so that all of them face the same way.
    for (size_t f = 2; f < 5; ++f) {
      const auto c = file.surface.face(f);
      const auto& p = file.surface.positions;
      EXPECT_EQ((p[c[1]] - p[c[0]]).cross(p[c[2]] - p[c[0]]).z(), -1.0) << f;
    }
    ASSERT_EQ(file.surface.cornerNormals.size(), file.surface.corners.size());
    EXPECT_EQ(file.surface.cornerNormals[3], Vec3(0, 0, 1));
    ASSERT_EQ(file.surface.cornerUvs.size(), file.surface.corners.size());
    EXPECT_EQ(file.surface.cornerUvs[1], Vec2(2.0 / 16, 3.0 / 16));
    ASSERT_EQ(file.surface.vertexColours.size(), 6u);
    EXPECT_EQ(file.surface.vertexColours[2], Vec4f(1, 0, 0, 1));
  }
}

std::string binaryGrid() {
  std::string t = "# vtk DataFile Version 5.1\nx\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n";
  for (const double x : {0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1., 1., 1., 1.}) appendValue(t, x, true);
  t += "\nCELLS 3 8\nOFFSETS vtktypeint64\n";
  for (const int64_t v : {0, 4, 8}) appendValue(t, v, true);
  t += "\nCONNECTIVITY vtktypeint64\n";
  for (const int64_t v : {0, 1, 2, 3, 1, 2, 3, 4}) appendValue(t, v, true);
  t += "\nCELL_TYPES 2\n";
  for (const int32_t v : {10, 10}) appendValue(t, v, true);
  t += "\nCELL_DATA 2\nFIELD FieldData 2\nnames 1 2 string\n";
  t += "\xC3one\xC3two\n";
  t += "region 1 2 vtktypeint64\n";
  for (const int64_t v : {-1, 5}) appendValue(t, v, true);
  return t + "\n";
}

TEST(FilesVtkLegacy, readsBinary) {
  const MeshFile file = readLegacyText(binaryGrid());
  ASSERT_EQ(file.volume.tets.size(), 2u);
  EXPECT_NEAR(volumeOf(file.volume), 0.5, 1e-15);
  EXPECT_EQ(file.volume.region, (std::vector<int32_t>{-1, 5}));
}

TEST(FilesVtkLegacy, refusesWhatIsWrong) {
  expectError(readLegacyText, "", ErrorKind::Format, "vtk DataFile");
  expectError(readLegacyText, "solid nonsense\n", ErrorKind::Format, "vtk DataFile");
  expectError(readLegacyText, replaced(kGrid2, "UNSTRUCTURED_GRID", "STRUCTURED_POINTS"),
              ErrorKind::Unsupported, "STRUCTURED");
  expectError(readLegacyText, replaced(kGrid2, "Version 2.0", "Version 9.0"), ErrorKind::Unsupported, "9.0");
  expectError(readLegacyText, replaced(kGrid2, "POINTS 5", "POINTS 1000000000"), ErrorKind::Format,
              "3000000000");
  expectError(readLegacyText, replaced(kGrid2, "POINTS 5", "POINTS 9223372036854775807"), ErrorKind::Format,
              "times");
  expectError(readLegacyText, replaced(kGrid2, "POINTS 5", "POINTS -5"), ErrorKind::Format, "-5");
  expectError(readLegacyText, replaced(kGrid2, "CELLS 5 21", "CELLS 5 1000000000"), ErrorKind::Format,
              "1000000000");
  expectError(readLegacyText, replaced(kGrid2, "1 1 1", "1 nan 1"), ErrorKind::Format,
              "coordinate is not finite");
  expectError(readLegacyText, replaced(kGrid2, "4 1 2 3 4", "4 1 2 3 5"), ErrorKind::Format, "point 5");
  EXPECT_EQ(errorOf(readLegacyText, replaced(kGrid2, "4 1 2 3 4", "4 1 2 3 5")).place(), "10");
  expectError(readLegacyText, replaced(kGrid2, "4 1 2 3 4", "9 1 2 3 4"), ErrorKind::Format, "");
  expectError(readLegacyText, replaced(kGrid2, "3 0 2 1", "3 0 -2 1"), ErrorKind::Format, "point -2");
  expectError(readLegacyText, replaced(kGrid2, "10 10 5 9 1", "10 10 10 9 1"), ErrorKind::Format,
              "needs 4 points");
  expectError(readLegacyText, replaced(kGrid2, "CELL_TYPES 5\n10 10 5 9 1\n", ""), ErrorKind::Format,
              "CELL_TYPES");
  expectError(readLegacyText, replaced(kGrid5, "0 4 11", "0 12 11"), ErrorKind::Format, "offsets");
  expectError(readLegacyText, replaced(kGrid5, "0 4 11", "1 4 11"), ErrorKind::Format, "offsets");
  expectError(readLegacyText, replaced(kGrid5, "4 3 2 1 0", "5 3 2 1 0"), ErrorKind::Format, "point 5");

  std::string bad = binaryGrid();
  bad[bad.find("CONNECTIVITY vtktypeint64\n") + 26] = '\x7f';
  expectError(readLegacyText, bad, ErrorKind::Format, "cell 0 refers to point");
  EXPECT_NE(errorOf(readLegacyText, bad).place().find("byte"), std::string::npos);
}

TEST(FilesVtkLegacy, isSturdy) {
  for (const std::string& text : {kGrid2, kGrid5, polyData(false), polyData(true), binaryGrid()})
    EXPECT_GT(expectSturdy(readLegacyText, text), text.size() / 4);
}

}  // namespace
}  // namespace sunder::meshio
