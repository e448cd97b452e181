#include "sunder/geometry/mesh_report.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include "geometry/test_meshes.h"

#include <limits>

#include <gtest/gtest.h>

namespace sunder::geometry {

using namespace test;

TEST(MeshReport, Cube) {
  const MeshReport r = meshReport(box());
  EXPECT_EQ(r.vertices, 8u);
  EXPECT_EQ(r.faces, 6u);
  EXPECT_EQ(r.quads, 6u);
  EXPECT_EQ(r.triangles + r.polygons, 0u);
  EXPECT_EQ(r.edges, 12u);
  EXPECT_EQ(r.eulerCharacteristic, 2);
  EXPECT_EQ(r.genus, 0);
  EXPECT_EQ(r.components, 1u);
  EXPECT_TRUE(r.watertight && r.orientable && r.consistentlyOriented && !r.insideOut && r.manifold());
  EXPECT_DOUBLE_EQ(r.area, 6);
  EXPECT_DOUBLE_EQ(r.volume, 1);
  EXPECT_LE((r.centre - Vec3::Constant(0.5)).norm(), 1e-15);
  EXPECT_EQ(r.bounds.upper, Vec3(1, 1, 1));
  EXPECT_DOUBLE_EQ(r.minEdge, 1);
  EXPECT_DOUBLE_EQ(r.meanEdge, 1);
  EXPECT_DOUBLE_EQ(r.maxEdge, 1);
  EXPECT_TRUE(problems(r).empty());
}

TEST(MeshReport, GenusCountsHandles) {
  EXPECT_EQ(meshReport(torus(9, 6)).genus, 1);
  EXPECT_EQ(meshReport(torus(9, 6)).eulerCharacteristic, 0);
  const MeshReport two = meshReport(both(torus(9, 6), torus(9, 6, true)));
  EXPECT_EQ(two.genus, 2);
  EXPECT_EQ(two.components, 2u);
  EXPECT_EQ(meshReport(both(box(), sphere(5))).genus, 0);
  EXPECT_FALSE(meshReport(grid(2)).genus.has_value());
}

TEST(MeshReport, Empty) {
  const MeshReport r = meshReport(PolygonSoup{});
  EXPECT_FALSE(r.watertight);
  EXPECT_EQ(r.components, 0u);
  EXPECT_EQ(problems(r), (std::vector<std::string>{"the mesh has no faces"}));
}

TEST(MeshReport, OpenSheetWithAHole) {
  const MeshReport r = meshReport(grid(5, 12));
  EXPECT_EQ(r.boundaryEdges, 24u);
  EXPECT_EQ(r.boundaryLoops, 2u);
  EXPECT_EQ(r.eulerCharacteristic, 0);
  EXPECT_FALSE(r.watertight);
  EXPECT_EQ(r.examples.boundaryEdges.size(), 8u);
  EXPECT_EQ(r.examples.boundaryEdges[0], (MeshReport::Edge{0, 1}));
  EXPECT_DOUBLE_EQ(r.area, 24);
  EXPECT_LE((r.centre - Vec3(2.5, 2.5, 0)).norm(), 1e-14);
}

TEST(MeshReport, MoebiusStripHasOneSideAndOneRim) {
  const MeshReport r = meshReport(moebius(11));
  EXPECT_FALSE(r.orientable);
  EXPECT_FALSE(r.consistentlyOriented);
  EXPECT_EQ(r.flippedEdges, 1u);
  EXPECT_EQ(r.boundaryLoops, 1u);
  EXPECT_EQ(r.eulerCharacteristic, 0);
  EXPECT_FALSE(r.genus.has_value());
}

TEST(MeshReport, FlippedFace) {
  PolygonSoup soup = box();
  reverseFace(soup, 3);
  const MeshReport r = meshReport(soup);
  EXPECT_EQ(r.flippedEdges, 4u);
  EXPECT_FALSE(r.watertight);
  EXPECT_FALSE(r.consistentlyOriented);
  EXPECT_TRUE(r.orientable);
  EXPECT_EQ(r.genus, 0);
  EXPECT_EQ(r.nonManifoldEdges + r.boundaryEdges, 0u);
}

TEST(MeshReport, InsideOut) {
  PolygonSoup soup = box();
  for (size_t f = 0; f < 6; ++f) reverseFace(soup, f);
  const MeshReport r = meshReport(soup);
  EXPECT_TRUE(r.watertight);
  EXPECT_TRUE(r.insideOut);
  EXPECT_DOUBLE_EQ(r.volume, -1);
  EXPECT_LE((r.centre - Vec3::Constant(0.5)).norm(), 1e-15);
}

TEST(MeshReport, CubesSharingAnEdge) {
  const MeshReport r = meshReport(cubesSharing(2));
  EXPECT_EQ(r.nonManifoldEdges, 1u);
  EXPECT_EQ(r.examples.nonManifoldEdges, (std::vector<MeshReport::Edge>{{3, 7}}));
  EXPECT_EQ(r.nonManifoldVertices, 0u);
  EXPECT_EQ(r.boundaryEdges, 0u);
  EXPECT_EQ(r.components, 1u);
  EXPECT_FALSE(r.watertight);
  EXPECT_EQ(problems(r)[0], "1 edge has more than two faces (3-7)");
}

TEST(MeshReport, CubesSharingAVertex) {
  const MeshReport r = meshReport(cubesSharing(1));
  EXPECT_EQ(r.nonManifoldVertices, 1u);
  EXPECT_EQ(r.examples.nonManifoldVertices, (std::vector<uint32_t>{7}));
  EXPECT_TRUE(r.watertight);  // every edge is in order
  EXPECT_FALSE(r.genus.has_value());
  EXPECT_EQ(r.components, 2u);
  EXPECT_EQ(r.boundaryLoops, 0u);
}

TEST(MeshReport, OpenFansTipToTipHaveTwoRims) {
  const MeshReport r =
      meshReport(soupOf({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}}, {{0, 1, 2}, {0, 3, 4}}));
  EXPECT_EQ(r.boundaryLoops, 2u);
  EXPECT_EQ(r.nonManifoldVertices, 1u);
}

TEST(MeshReport, TJunctionIsABoundary) {
  // A cube whose top is two quads, with a vertex in the middle of edges that the sides do not know of.
  PolygonSoup soup = box();
  soup.positions.emplace_back(0, 1, 0.5);
  soup.positions.emplace_back(1, 1, 0.5);
  PolygonSoup cut;
  cut.positions = soup.positions;
  for (size_t f = 0; f < 6; ++f) {
    if (f != 3) cut.addFace(soup.face(f));
  }
  cut.addFace(std::array{2u, 8u, 9u, 3u});
  cut.addFace(std::array{8u, 6u, 7u, 9u});
  const MeshReport r = meshReport(cut);
  EXPECT_FALSE(r.watertight);
  EXPECT_EQ(r.boundaryEdges, 6u);
  EXPECT_EQ(r.boundaryLoops, 2u);
  EXPECT_EQ(r.degenerateFaces, 0u);
  EXPECT_NEAR(r.volume, 1, 1e-15);
}

TEST(MeshReport, DuplicateFacesInAnyRotationAndDirection) {
  PolygonSoup soup = box();
  soup.addFace(std::array{3u, 1u, 0u, 2u});  // face 0, rotated
  soup.addFace(std::array{6u, 7u, 5u, 4u});  // face 1, reversed
  soup.addFace(std::array{0u, 3u, 2u, 1u});  // the vertices of face 0 in another order: no duplicate
  const MeshReport r = meshReport(soup);
  EXPECT_EQ(r.duplicateFaces, 2u);
  EXPECT_EQ(r.examples.duplicateFaces, (std::vector<uint32_t>{6, 7}));
  EXPECT_GT(r.nonManifoldEdges, 0u);
}

TEST(MeshReport, DegenerateFaces) {
  const PolygonSoup soup =
      soupOf({{0, 0, 0},
              {1, 0, 0},
              {0, 1, 0},
              {0.1, 0.1, 0.1},
              {0.3, 0.3, 0.3},
              {2, 0, 0},
              {1e-9, 1e-9, 0},
              {0, 2e-9, 0}},
             {{0, 1, 2}, {0, 1, 1}, {0, 3, 4}, {0, 1, 5}, {0, 1}, {0, 6, 7}, {}, {0, 1, 2, 1}});
  const MeshReport r = meshReport(soup);
  EXPECT_EQ(r.examples.degenerateFaces, (std::vector<uint32_t>{1, 2, 3, 4, 6, 7}));
  EXPECT_EQ(r.degenerateFaces, 6u);  // the tiny triangle 5 is not one of them
}

TEST(MeshReport, IsolatedDuplicateAndBrokenVertices) {
  PolygonSoup soup = grid(1);
  soup.positions.emplace_back(0, -0.0, 0);
  soup.positions.emplace_back(0, 0, 0);
  soup.positions.emplace_back(std::numeric_limits<double>::quiet_NaN(), 0, 0);
  const MeshReport r = meshReport(soup);
  EXPECT_EQ(r.isolatedVertices, 3u);
  EXPECT_EQ(r.examples.isolatedVertices, (std::vector<uint32_t>{4, 5, 6}));
  EXPECT_EQ(r.examples.duplicateVertices, (std::vector<uint32_t>{4, 5}));
  EXPECT_EQ(r.examples.nonFiniteVertices, (std::vector<uint32_t>{6}));
  EXPECT_EQ(r.eulerCharacteristic, 1);
}

TEST(MeshReport, SameForAnyNumberOfThreads) {
  const PolygonSoup soup = both(torus(90, 70, true), grid(60, 100));
  const MeshReport a = withThreads(1, [&] { return meshReport(soup); });
  const MeshReport b = withThreads(4, [&] { return meshReport(soup); });
  EXPECT_EQ(a.area, b.area);
  EXPECT_EQ(a.volume, b.volume);
  EXPECT_EQ(a.centre, b.centre);
  EXPECT_EQ(a.meanEdge, b.meanEdge);
  EXPECT_EQ(a.examples.boundaryEdges, b.examples.boundaryEdges);
  EXPECT_EQ(problems(a), problems(b));
}

struct KnownMesh {
  const char* file;
  size_t vertices, faces;
  bool watertight;
};

class KnownMeshes : public testing::TestWithParam<KnownMesh> {};

TEST_P(KnownMeshes, HaveTheirKnownNumbers) {
  const KnownMesh& known = GetParam();
  if (!std::filesystem::exists(sharedMesh(known.file))) GTEST_SKIP() << "no shared data";
  const MeshReport r = meshReport(readSimpleObj(sharedMesh(known.file)));
  if (known.vertices != 0) {
    EXPECT_EQ(r.vertices, known.vertices);
    EXPECT_EQ(r.faces, known.faces);
  }
  EXPECT_EQ(r.watertight, known.watertight);
  EXPECT_GT(r.area, 0);
  if (r.watertight) {
    EXPECT_FALSE(r.insideOut);
    EXPECT_TRUE(r.genus.has_value());
  } else {
    EXPECT_FALSE(problems(r).empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Files, KnownMeshes,
                         testing::Values(KnownMesh{"stanford-bunny.obj", 35947, 69451, false},
                                         KnownMesh{"spot.obj", 0, 0, true},
                                         KnownMesh{"fandisk.obj", 0, 0, true}),
                         [](const auto& p) { return std::string(p.param.file).substr(0, 4); });

TEST(MeshReport, EveryFileAtHandCanBeReported) {
  if (!std::filesystem::exists(sharedMesh(""))) GTEST_SKIP() << "no shared data";
  for (const auto& entry : std::filesystem::directory_iterator(sharedMesh(""))) {
    if (entry.path().extension() != ".obj") continue;
    const MeshReport r = meshReport(readSimpleObj(entry.path()));
    EXPECT_GT(r.faces, 0u) << entry.path();
    EXPECT_EQ(r.triangles + r.quads + r.polygons, r.faces) << entry.path();
    EXPECT_EQ(r.watertight, r.boundaryEdges + r.nonManifoldEdges + r.flippedEdges == 0) << entry.path();
    EXPECT_EQ(r.boundaryEdges == 0, r.boundaryLoops == 0) << entry.path();
  }
}

}  // namespace sunder::geometry
