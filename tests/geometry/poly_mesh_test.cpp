#include "geometry/poly_mesh.h"

#include "sunder/base/error.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/mesh_report.h"

#include "geometry/test_meshes.h"

#include <random>

#include <gtest/gtest.h>

namespace sunder::geometry {

using namespace test;

namespace {

std::string complaint(const MeshView& mesh) {
  try {
    const PolyMesh built(mesh);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Geometry);
    return e.message();
  }
  return {};
}

}  // namespace

TEST(PolyMesh, RoundTripsThroughSoup) {
  for (const PolygonSoup& soup :
       {box(), torus(9, 5), torus(9, 5, true), sphere(6), grid(4), grid(5, 12),
        soupOf({{0, 0, 0}, {5, 5, 5}, {1, 0, 0}, {0, 1, 0}}, {{0, 2, 3}}), PolygonSoup{}}) {
    const PolyMesh mesh(soup);
    EXPECT_EQ(mesh.validate(), "");
    const PolygonSoup back = toSoup(mesh);
    EXPECT_EQ(back.corners, soup.corners);
    EXPECT_EQ(back.faceOffsets, soup.faceOffsets);
    EXPECT_EQ(back.positions.size(), soup.positions.size());
    for (uint32_t f = 0; f < mesh.faceCount(); ++f) EXPECT_EQ(mesh.source(FaceIndex(f)), f);
  }
}

TEST(PolyMesh, WalksAroundFacesAndVertices) {
  const PolyMesh cube(box());
  EXPECT_EQ(cube.edgeCount(), 12u);
  EXPECT_TRUE(cube.boundaryLoops().empty());
  for (uint32_t v = 0; v < 8; ++v) {
    EXPECT_EQ(cube.valence(VertexIndex(v)), 3u);
    // Clockwise from outside: consecutive edges turn against the outward direction.
    std::vector<Vec3> out;
    for (const HalfedgeIndex h : cube.star(VertexIndex(v))) {
      EXPECT_EQ(cube.origin(h), VertexIndex(v));
      EXPECT_EQ(cube.next(cube.previous(h)), h);
      out.push_back(cube.position(cube.target(h)) - cube.position(VertexIndex(v)));
    }
    const Vec3 outward = cube.position(VertexIndex(v)) - Vec3(0.5, 0.5, 0.5);
    EXPECT_LT(out[0].cross(out[1]).dot(outward), 0);
  }
  for (uint32_t f = 0; f < 6; ++f) EXPECT_EQ(cube.degree(FaceIndex(f)), 4u);
  EXPECT_TRUE(cube.find(VertexIndex(0), VertexIndex(1)).valid());
  EXPECT_FALSE(cube.find(VertexIndex(0), VertexIndex(7)).valid());
}

TEST(PolyMesh, LinksBoundariesIntoLoops) {
  const PolyMesh sheet(grid(5, 12));
  const auto loops = sheet.boundaryLoops();
  ASSERT_EQ(loops.size(), 2u);
  std::vector<size_t> lengths;
  for (const HalfedgeIndex start : loops) {
    size_t n = 0;
    for (const HalfedgeIndex h : sheet.loop(start)) {
      EXPECT_TRUE(sheet.isBoundary(h));
      EXPECT_TRUE(sheet.isBoundary(sheet.origin(h)));
      ++n;
    }
    lengths.push_back(n);
  }
  std::sort(lengths.begin(), lengths.end());
  EXPECT_EQ(lengths, (std::vector<size_t>{4, 20}));
}

TEST(PolyMesh, NamesWhatIsNotManifold) {
  EXPECT_NE(complaint(cubesSharing(2)).find("edge 3-7 is shared by 4 faces"), std::string::npos);
  EXPECT_EQ(complaint(cubesSharing(1)), "vertex 7 joins faces that share no edge there");
  EXPECT_NE(complaint(moebius(9)).find("same direction by faces 0 and 8"), std::string::npos);
  PolygonSoup flipped = box();
  reverseFace(flipped, 1);
  EXPECT_NE(complaint(flipped).find("same direction"), std::string::npos);
  EXPECT_EQ(complaint(soupOf({{0, 0, 0}, {1, 0, 0}}, {{0, 1}})), "face 0 has only 2 corners");
  EXPECT_EQ(complaint(soupOf({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2, 1}})),
            "face 0 has the same vertex at two corners");
  // Two triangles tip to tip: both open.
  EXPECT_EQ(
      complaint(soupOf({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}}, {{0, 1, 2}, {0, 3, 4}})),
      "vertex 0 joins faces that share no edge there");
}

TEST(PolyMesh, SplittingAnEdgeKeepsTheSolid) {
  PolyMesh mesh(box());
  const HalfedgeIndex h = mesh.find(VertexIndex(0), VertexIndex(1));
  const VertexIndex v = mesh.splitEdge(h, Vec3(0.25, 0, 0));
  EXPECT_EQ(mesh.validate(), "");
  EXPECT_EQ(mesh.target(h), v);
  EXPECT_EQ(mesh.target(mesh.next(h)), VertexIndex(1));
  EXPECT_EQ(mesh.valence(v), 2u);
  EXPECT_EQ(mesh.edgeCount(), 13u);
  EXPECT_DOUBLE_EQ(massProperties(toSoup(mesh)).volume, 1);
  // On a boundary, from either side.
  for (bool inner : {true, false}) {
    PolyMesh sheet(grid(2));
    HalfedgeIndex edge = sheet.find(VertexIndex(0), VertexIndex(1));
    if (sheet.isBoundary(edge) == inner) edge = sheet.twin(edge);
    const VertexIndex added = sheet.splitEdge(edge, Vec3(0.5, 0, 0));
    EXPECT_EQ(sheet.validate(), "");
    EXPECT_TRUE(sheet.isBoundary(added));
  }
}

TEST(PolyMesh, SplittingAFaceConnectsTwoCorners) {
  PolyMesh mesh(box());
  const HalfedgeIndex a = mesh.halfedge(FaceIndex(3)), b = mesh.next(mesh.next(a));
  const FaceIndex added = mesh.splitFace(a, b);
  EXPECT_EQ(mesh.validate(), "");
  EXPECT_EQ(added, FaceIndex(6));
  EXPECT_EQ(mesh.source(added), 3u);
  EXPECT_EQ(mesh.face(a), FaceIndex(3));
  EXPECT_EQ(mesh.face(b), added);
  EXPECT_EQ(mesh.degree(added), 3u);
  EXPECT_THROW(mesh.splitFace(a, mesh.next(a)), Error);
  EXPECT_THROW(mesh.splitFace(a, b), Error);
  EXPECT_THROW(mesh.splitFace(a, a), Error);
  // Vertices that already have an edge elsewhere.
  PolyMesh pair(soupOf({{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, 1}},
                       {{0, 1, 2, 3}, {0, 2, 1}, {0, 3, 4}, {3, 2, 4}, {2, 0, 4}}));
  ASSERT_EQ(pair.validate(), "");
  const HalfedgeIndex c = pair.halfedge(FaceIndex(0));
  EXPECT_THROW(pair.splitFace(c, pair.next(pair.next(c))), Error);
  EXPECT_EQ(pair.validate(), "");
}

TEST(PolyMesh, ManyRandomSplitsStayValid) {
  std::mt19937 random(7);
  for (const PolygonSoup& soup : {box(), torus(5, 4), grid(3, 4)}) {
    PolyMesh mesh(soup);
    const MeshReport before = meshReport(soup);
    for (int i = 0; i < 300; ++i) {
      const HalfedgeIndex h(static_cast<uint32_t>(random() % mesh.halfedgeCount()));
      if (random() % 2 == 0) {
        const Vec3 middle = 0.5 * (mesh.position(mesh.origin(h)) + mesh.position(mesh.target(h)));
        mesh.splitEdge(h, middle);
      } else if (!mesh.isBoundary(h)) {
        HalfedgeIndex g = h;
        for (auto steps = random() % 6; steps > 0; --steps) g = mesh.next(g);
        if (g == h || mesh.next(g) == h || mesh.next(h) == g) continue;
        if (mesh.find(mesh.origin(h), mesh.origin(g)).valid()) continue;
        mesh.splitFace(h, g);
      }
    }
    ASSERT_EQ(mesh.validate(), "");
    const MeshReport after = meshReport(toSoup(mesh));
    EXPECT_EQ(after.eulerCharacteristic, before.eulerCharacteristic);
    EXPECT_EQ(after.boundaryLoops, before.boundaryLoops);
    EXPECT_GT(after.faces, before.faces + 50);
    EXPECT_NEAR(after.area, before.area, 0.2 * before.area);
  }
}

}  // namespace sunder::geometry
