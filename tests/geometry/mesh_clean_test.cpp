#include "sunder/geometry/mesh_clean.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/duplicates.h"
#include "sunder/geometry/mesh_report.h"
#include "sunder/geometry/orientation.h"

#include "geometry/poly_mesh.h"
#include "geometry/test_meshes.h"

#include <random>

#include <gtest/gtest.h>

namespace sunder::geometry {

using namespace test;

namespace {

// Every face with its own vertices, as STL files have them.
PolygonSoup exploded(const PolygonSoup& soup) {
  PolygonSoup result;
  for (size_t f = 0; f < soup.faceCount(); ++f) {
    std::vector<uint32_t> face;
    for (uint32_t v : soup.face(f)) {
      face.push_back(u32(result.positions.size()));
      result.positions.push_back(soup.positions[v]);
    }
    result.addFace(face);
  }
  return result;
}

std::vector<uint32_t> closeByBruteForce(const std::vector<Vec3>& p, double distance) {
  std::vector<uint32_t> label(p.size());
  for (uint32_t i = 0; i < p.size(); ++i) label[i] = i;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < p.size(); ++i) {
      for (size_t j = 0; j < p.size(); ++j) {
        if ((p[i] - p[j]).squaredNorm() <= distance * distance && label[j] < label[i]) {
          label[i] = label[j];
          changed = true;
        }
      }
    }
  }
  return label;
}

void expectMapsAgree(const PolygonSoup& before, const CleanResult& after) {
  ASSERT_EQ(after.report.vertexMap.size(), before.positions.size());
  ASSERT_EQ(after.report.faceMap.size(), before.faceCount());
  ASSERT_EQ(after.report.vertexSource.size(), after.mesh.positions.size());
  ASSERT_EQ(after.report.faceSource.size(), after.mesh.faceCount());
  for (size_t v = 0; v < after.report.vertexSource.size(); ++v) {
    const uint32_t old = after.report.vertexSource[v];
    if (old != kNoIndex) {
      EXPECT_EQ(after.mesh.positions[v], before.positions[old]);
    }
  }
  for (uint32_t f = 0; f < after.report.faceSource.size(); ++f) {
    const uint32_t old = after.report.faceSource[f];
    if (old != kNoIndex) {
      EXPECT_EQ(after.report.faceMap[old], f);
    }
  }
}

}  // namespace

TEST(CloseVertices, MatchBruteForceFromThinToDense) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit(0, 1);
  for (double distance : {1e-9, 0.01, 0.05, 0.1, 0.2, 0.7}) {
    for (int run = 0; run < 3; ++run) {
      std::vector<Vec3> points;
      for (int i = 0; i < 300; ++i) points.emplace_back(unit(random), unit(random), 0.2 * unit(random));
      for (int i = 0; i < 30; ++i) points.push_back(Vec3(points[static_cast<size_t>(i) * 7]));
      EXPECT_EQ(closeVertices(points, distance), closeByBruteForce(points, distance)) << distance;
    }
  }
}

TEST(CloseVertices, DistanceIsInclusiveAndChainsAreOneGroup) {
  std::vector<Vec3> line;
  for (int i = 0; i < 50; ++i) line.emplace_back(-0.25 * i, 0, 0);
  EXPECT_EQ(closeVertices(line, 0.25), std::vector<uint32_t>(50, 0));
  const auto apart = closeVertices(line, 0.2499);
  for (uint32_t i = 0; i < 50; ++i) EXPECT_EQ(apart[i], i);
}

TEST(CloseVertices, TinyDistancesInALargeWorld) {
  const std::vector<Vec3> points{{0, 0, 0}, {1e-30, 0, 0}, {1e6, 0, 0}, {1e6, 0, 0}, {3e-30, 0, 0}};
  EXPECT_EQ(closeVertices(points, 1.5e-30), (std::vector<uint32_t>{0, 0, 2, 2, 4}));
  EXPECT_EQ(closeVertices(points, 0), (std::vector<uint32_t>{0, 1, 2, 2, 4}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(closeVertices(std::vector<Vec3>{{nan, 0, 0}, {0, 0, 0}, {0.1, 0, 0}}, 1),
            (std::vector<uint32_t>{0, 1, 1}));
  EXPECT_THROW(closeVertices(points, -1), Error);
  EXPECT_THROW(closeVertices(points, nan), Error);
  EXPECT_TRUE(closeVertices({}, 1).empty());
}

TEST(CloseVertices, ManyPointsInOnePlaceAndThreads) {
  std::mt19937 random(5);
  std::vector<Vec3> points(60'000, Vec3(1, 2, 3));
  auto coordinate = [&] { return static_cast<double>(random() % 50) / 7; };
  for (size_t i = 0; i < 30'000; ++i) points[i] = Vec3(coordinate(), coordinate(), coordinate());
  for (double distance : {0.0, 0.05, 0.15}) {
    EXPECT_EQ(withThreads(1, [&] { return closeVertices(points, distance); }),
              withThreads(4, [&] { return closeVertices(points, distance); }));
  }
}

TEST(MeshClean, WeldsAnExplodedMeshBackTogether) {
  for (double distance : {0.0, 1e-6}) {
    const PolygonSoup loose = exploded(torus(8, 6));
    EXPECT_FALSE(meshReport(loose).watertight);
    const CleanResult clean = cleanMesh(loose, {.weldDistance = distance});
    EXPECT_EQ(clean.report.weldedVertices, 4u * 48 - 48);
    EXPECT_EQ(clean.report.isolatedVertices, 0u);
    expectMapsAgree(loose, clean);
    for (size_t c = 0; c < loose.corners.size(); ++c) {
      EXPECT_EQ(clean.report.vertexMap[loose.corners[c]], clean.mesh.corners[c]);
    }
    const MeshReport r = meshReport(clean.mesh);
    EXPECT_TRUE(r.watertight);
    EXPECT_EQ(r.genus, 1);
    EXPECT_EQ(clean.report.lines()[0], "welded 144 vertices");
  }
}

TEST(MeshClean, ACleanMeshPassesUnchanged) {
  for (const PolygonSoup& soup : {box(), torus(8, 6), sphere(7), toSoup(tetrahedron())}) {
    const CleanResult clean = cleanMesh(soup, {.splitNonManifold = true, .fillHolesUpTo = 100});
    EXPECT_FALSE(clean.report.changed());
    EXPECT_TRUE(clean.report.lines().empty());
    EXPECT_EQ(clean.mesh.corners, soup.corners);
    EXPECT_EQ(clean.mesh.faceOffsets, soup.faceOffsets);
  }
}

TEST(MeshClean, ShortensAndDropsDegenerateFaces) {
  PolygonSoup soup = soupOf({{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {5, 5, 5}, {2, 0, 0}},
                            {{0, 1, 1, 2}, {0, 0, 0}, {2, 3, 0, 0, 2}, {0, 1}, {0, 1, 5}});
  for (uint32_t c = 0; c < soup.corners.size(); ++c) soup.cornerUvs.emplace_back(c, 0);
  soup.faceGroup = {10, 11, 12, 13, 14};
  CleanResult clean = cleanMesh(soup, {.orient = false});
  EXPECT_EQ(clean.report.shortenedFaces, 2u);
  EXPECT_EQ(clean.report.degenerateFaces, 2u);
  EXPECT_EQ(clean.report.isolatedVertices, 1u);
  EXPECT_EQ(clean.mesh.corners, (std::vector<uint32_t>{0, 1, 2, 2, 3, 0, 0, 1, 4}));
  EXPECT_EQ(clean.mesh.faceGroup, (std::vector<uint32_t>{10, 12, 14}));
  EXPECT_EQ(clean.mesh.cornerUvs[2].x(), 3);
  EXPECT_EQ(clean.report.faceMap, (std::vector<uint32_t>{0, kNoIndex, 1, kNoIndex, 2}));
  EXPECT_EQ(clean.report.vertexMap, (std::vector<uint32_t>{0, 1, 2, 3, kNoIndex, 4}));
  expectMapsAgree(soup, clean);
  clean = cleanMesh(soup, {.dropFlatFaces = true, .orient = false});
  EXPECT_EQ(clean.report.flatFaces, 1u);
  EXPECT_EQ(clean.mesh.faceCount(), 2u);
  EXPECT_EQ(cleanMesh(soup, {.dropIsolatedVertices = false}).mesh.positions.size(), 6u);
}

TEST(MeshClean, SpikesAreCutOffAndKeyholesKept) {
  const std::vector<Vec3> p{{0, 0, 0}, {4, 0, 0}, {4, 4, 0}, {0, 4, 0}, {1, 1, 0}, {1, 2, 0}, {2, 2, 0}};
  auto cleaned = [&](const std::vector<uint32_t>& face) {
    const CleanResult clean = cleanMesh(soupOf(p, {face}), {.dropIsolatedVertices = false});
    return std::pair(clean.mesh.corners, clean.report.pinchedFaces);
  };
  using Expected = std::pair<std::vector<uint32_t>, size_t>;
  EXPECT_EQ(cleaned({0, 1, 2, 6, 2, 3}), (Expected{{0, 1, 2, 3}, 0}));
  EXPECT_EQ(cleaned({6, 2, 3, 0, 1, 2}), (Expected{{2, 3, 0, 1}, 0}));
  EXPECT_EQ(cleaned({2, 3, 0, 1, 2, 6}), (Expected{{2, 3, 0, 1}, 0}));
  EXPECT_EQ(cleaned({0, 1, 2, 6, 5, 6, 2, 3}), (Expected{{0, 1, 2, 3}, 0}));
  EXPECT_EQ(cleaned({0, 1, 0, 1}), (Expected{{}, 0}));
  EXPECT_EQ(cleaned({0, 1, 0, 2}), (Expected{{}, 0}));
  const std::vector<uint32_t> keyhole{0, 1, 2, 3, 0, 4, 5, 6, 4};
  EXPECT_EQ(cleaned(keyhole), (Expected{keyhole, 1}));
}

TEST(MeshClean, DropsDuplicateFaces) {
  PolygonSoup soup = box();
  soup.addFace(std::array{3u, 1u, 0u, 2u});
  soup.addFace(std::array{6u, 7u, 5u, 4u});
  const CleanResult clean = cleanMesh(soup);
  EXPECT_EQ(clean.report.duplicateFaces, 2u);
  EXPECT_TRUE(meshReport(clean.mesh).watertight);
  EXPECT_EQ(clean.report.faceMap[6], kNoIndex);
}

TEST(MeshClean, TurnsFacesTheSameWayAndOutward) {
  std::mt19937 random(11);
  for (int run = 0; run < 10; ++run) {
    PolygonSoup soup = both(sphere(6), torus(8, 6));
    const double volume = meshReport(soup).volume;
    for (size_t f = 0; f < soup.faceCount(); ++f) {
      if (random() % 3 != 0) reverseFace(soup, f);
    }
    const CleanResult clean = cleanMesh(soup);
    const MeshReport r = meshReport(clean.mesh);
    EXPECT_TRUE(r.watertight);
    EXPECT_NEAR(r.volume, volume, 1e-12 * volume);
    EXPECT_GT(clean.report.flippedFaces, 0u);
    EXPECT_LT(clean.report.flippedFaces, soup.faceCount());
  }
}

TEST(MeshClean, FlippingCarriesAttributes) {
  PolygonSoup soup = box();
  for (size_t f = 0; f < 6; ++f) reverseFace(soup, f);
  for (size_t c = 0; c < soup.corners.size(); ++c) soup.cornerUvs.emplace_back(soup.corners[c], 0);
  for (size_t f = 0; f < 6; ++f) {
    const Vec3 n = 2 * vectorArea(soup, f);
    soup.cornerNormals.insert(soup.cornerNormals.end(), 4, n);
  }
  const CleanResult clean = cleanMesh(soup);
  EXPECT_EQ(clean.report.flippedFaces, 6u);
  for (size_t c = 0; c < clean.mesh.corners.size(); ++c) {
    EXPECT_EQ(clean.mesh.cornerUvs[c].x(), clean.mesh.corners[c]);
    EXPECT_GT(
        clean.mesh.cornerNormals[c].dot(clean.mesh.positions[clean.mesh.corners[c]] - Vec3::Constant(0.5)),
        0);
  }
}

TEST(MeshClean, ACavityStaysACavity) {
  PolygonSoup inner = box(Vec3(0.25, 0.25, 0.25), Vec3(0.75, 0.75, 0.75));
  for (size_t f = 0; f < 6; ++f) reverseFace(inner, f);
  const PolygonSoup hollow = both(box(), inner);
  const CleanResult clean = cleanMesh(hollow);
  EXPECT_EQ(clean.report.flippedFaces, 0u);
  EXPECT_DOUBLE_EQ(meshReport(clean.mesh).volume, 0.875);
  // Next to each other both are turned outward.
  PolygonSoup aside = inner;
  for (Vec3& p : aside.positions) p.x() += 4;
  EXPECT_DOUBLE_EQ(meshReport(cleanMesh(both(box(), aside)).mesh).volume, 1.125);
}

TEST(MeshClean, CutsNonManifoldPlacesApart) {
  for (size_t shared : {1u, 2u}) {
    const PolygonSoup soup = cubesSharing(shared);
    EXPECT_THROW(PolyMesh{soup}, Error);
    const CleanResult clean = cleanMesh(soup, {.splitNonManifold = true});
    EXPECT_EQ(clean.report.splitVertices, shared);
    expectMapsAgree(soup, clean);
    const PolyMesh mesh(clean.mesh);
    EXPECT_EQ(mesh.validate(), "");
    const MeshReport r = meshReport(clean.mesh);
    EXPECT_TRUE(r.watertight);
    EXPECT_EQ(r.components, 2u);
    EXPECT_DOUBLE_EQ(r.volume, 2);
  }
  // Three half-planes on one edge, and a strip with one side.
  const PolygonSoup book =
      soupOf({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}}, {{0, 1, 2}, {1, 0, 3}, {0, 1, 4}});
  EXPECT_EQ(PolyMesh(cleanMesh(book, {.splitNonManifold = true}).mesh).boundaryLoops().size(), 3u);
  const CleanResult strip = cleanMesh(moebius(9), {.splitNonManifold = true});
  EXPECT_EQ(strip.report.oneSidedPatches, 1u);
  EXPECT_EQ(strip.report.splitVertices, 2u);
  EXPECT_EQ(PolyMesh(strip.mesh).validate(), "");
}

TEST(MeshClean, FillsHoles) {
  // A flat hole becomes one polygon.
  PolygonSoup open;
  open.positions = box().positions;
  for (size_t f = 0; f < 5; ++f) open.addFace(box().face(f));
  EXPECT_EQ(cleanMesh(open, {.fillHolesUpTo = 3}).report.keptHoles, 1u);
  CleanResult clean = cleanMesh(open, {.fillHolesUpTo = 4});
  EXPECT_EQ(clean.report.filledHoles, 1u);
  EXPECT_EQ(clean.report.addedFaces, 1u);
  EXPECT_EQ(clean.report.addedVertices, 0u);
  expectMapsAgree(open, clean);
  EXPECT_EQ(clean.report.faceSource.back(), kNoIndex);
  MeshReport r = meshReport(clean.mesh);
  EXPECT_TRUE(r.watertight);
  EXPECT_DOUBLE_EQ(r.volume, 1);

  // Inside out and open: filled first, then turned outward.
  for (size_t f = 0; f < 5; ++f) reverseFace(open, f);
  clean = cleanMesh(open, {.fillHolesUpTo = 4});
  EXPECT_EQ(clean.report.flippedFaces, 5u);
  EXPECT_DOUBLE_EQ(meshReport(clean.mesh).volume, 1);

  // A hole that is not flat gets a vertex in its middle, with all attributes.
  PolygonSoup ball = sphere(6);
  ball.groupNames = {"a"};
  PolygonSoup holed;
  holed.positions = ball.positions;
  holed.groupNames = ball.groupNames;
  const uint32_t pole = 1 + 2 * 12 + 3;
  for (size_t f = 0; f < ball.faceCount(); ++f) {
    const auto v = ball.face(f);
    if (std::find(v.begin(), v.end(), pole) == v.end()) holed.addFace(v);
  }
  holed.faceGroup.assign(holed.faceCount(), 0);
  holed.cornerUvs.assign(holed.corners.size(), Vec2(0.5, 0.25));
  holed.cornerNormals.assign(holed.corners.size(), Vec3(0, 1, 0));
  holed.vertexColours.assign(holed.positions.size(), Vec4f(1, 0, 0, 1));
  clean = cleanMesh(holed, {.fillHolesUpTo = 8});
  EXPECT_EQ(clean.report.filledHoles, 1u);
  EXPECT_EQ(clean.report.addedFaces, 8u);
  EXPECT_EQ(clean.report.addedVertices, 1u);
  EXPECT_EQ(clean.report.isolatedVertices, 1u);
  expectMapsAgree(holed, clean);
  EXPECT_EQ(clean.mesh.faceGroup.size(), clean.mesh.faceCount());
  EXPECT_EQ(clean.mesh.cornerUvs.back(), Vec2(0.5, 0.25));
  EXPECT_EQ(clean.mesh.cornerNormals.size(), clean.mesh.corners.size());
  EXPECT_EQ(clean.mesh.vertexColours.back(), Vec4f(1, 0, 0, 1));
  r = meshReport(clean.mesh);
  EXPECT_TRUE(r.watertight);
  EXPECT_EQ(r.genus, 0);
  // The mean of the rim lies below the vertex that was there.
  EXPECT_LT(r.volume, meshReport(ball).volume);
  EXPECT_GT(r.volume, 0.97 * meshReport(ball).volume);

  // The rim of a lone face is no hole.
  EXPECT_EQ(cleanMesh(grid(1), {.fillHolesUpTo = 9}).report.filledHoles, 0u);
}

TEST(MeshClean, MendsTheBunny) {
  if (!std::filesystem::exists(sharedMesh("stanford-bunny.obj"))) GTEST_SKIP() << "no shared data";
  const PolygonSoup bunny = readSimpleObj(sharedMesh("stanford-bunny.obj"));
  const CleanResult clean = cleanMesh(bunny, {.splitNonManifold = true, .fillHolesUpTo = 1000});
  expectMapsAgree(bunny, clean);
  const MeshReport before = meshReport(bunny), after = meshReport(clean.mesh);
  EXPECT_EQ(clean.report.filledHoles, before.boundaryLoops);
  EXPECT_TRUE(after.watertight);
  EXPECT_EQ(after.genus, 0);
  EXPECT_GT(after.volume, 0);
  EXPECT_EQ(PolyMesh(clean.mesh).validate(), "");
}

TEST(MeshClean, RandomSoupsComeOutManifoldAndTheSameForAnyThreads) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    PolygonSoup soup;
    for (int i = 0; i < 60; ++i) soup.positions.emplace_back(random() % 5, random() % 5, random() % 5);
    for (int f = 0; f < 120; ++f) {
      std::vector<uint32_t> v(3 + random() % 2);
      for (uint32_t& i : v) i = static_cast<uint32_t>(random() % 60);
      soup.addFace(v);
    }
    auto run = [&] {
      return cleanMesh(soup, {.weldDistance = 0.5, .splitNonManifold = true, .fillHolesUpTo = 6});
    };
    const CleanResult a = withThreads(1, run), b = withThreads(4, run);
    EXPECT_EQ(a.mesh.corners, b.mesh.corners);
    EXPECT_EQ(a.report.vertexMap, b.report.vertexMap);
    expectMapsAgree(soup, a);
    const MeshReport r = meshReport(a.mesh);
    EXPECT_EQ(r.nonManifoldEdges, 0u) << seed;
    EXPECT_EQ(r.nonManifoldVertices, 0u) << seed;
    EXPECT_EQ(r.duplicateFaces, 0u) << seed;
  }
}

TEST(MeshClean, IncompleteAttributesAreRefused) {
  PolygonSoup soup = box();
  soup.faceGroup = {0, 0};
  EXPECT_THROW(cleanMesh(soup), Error);
  soup = box();
  soup.corners[0] = 8;
  EXPECT_THROW(cleanMesh(soup), Error);
}

}  // namespace sunder::geometry
