// Several cutters, parts that overlap, and what rounding did.
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/cut/finish/attributes.h"
#include "sunder/cut/finish/rounding.h"
#include "sunder/cut/resolve.h"

#include "cut/cut_shapes.h"

namespace sunder::cut {

namespace {

using namespace testing;

PolygonSoup level(int axis, double at) {
  PolygonSoup soup = quad({-5, -5, at}, {5, -5, at}, {5, 5, at}, {-5, 5, at});
  for (Vec3& p : soup.positions)
    for (int i = 0; i < 2 - axis; ++i) p = Vec3(p.y(), p.z(), p.x());
  return soup;
}

TEST(CutSeveral, PlanesCutACubeIntoBoxes) {
  const std::vector<PolygonSoup> planes = {level(0, 0.25), level(1, 0.5), level(2, 1.0 / 3), level(0, 0.75)};
  const CutResult r = cut(unitCube(), planes);
  expectSound(r);
  EXPECT_EQ(r.fragments, 12u);
  EXPECT_NEAR(total(r), 1, 1e-14);
  for (const auto& f : separate(r)) EXPECT_EQ(countsOf(f), (Counts{8, 12, 6}));
  EXPECT_TRUE(crossingFaces(r).empty());
  // Every face knows where it came from.
  ASSERT_EQ(r.cutter.size(), r.mesh.faceCount());
  const PolygonSoup cube = unitCube();
  for (size_t f = 0; f < r.mesh.faceCount(); ++f) {
    const PolygonSoup& from = r.fromCutter[f] ? planes[r.cutter[f]] : cube;
    ASSERT_LT(r.sourceFace[f], from.faceCount());
    const Vec3 normal = geometry::vectorArea(from, r.sourceFace[f]).normalized();
    const Vec3& at = from.positions[from.face(r.sourceFace[f])[0]];
    for (const uint32_t v : r.mesh.face(f)) EXPECT_NEAR(normal.dot(r.mesh.positions[v] - at), 0, 1e-15);
  }
  for (size_t v = 0; v < r.sourceVertex.size(); ++v) {
    if (r.vertexFrom[v] == VertexFrom::Mesh) {
      EXPECT_EQ(r.mesh.positions[v], cube.positions[r.sourceVertex[v]]);
    } else if (r.vertexFrom[v] == VertexFrom::Seam) {
      ASSERT_LT(r.sourceVertex[v], r.seamPoints.size());
      EXPECT_EQ(r.mesh.positions[v], r.seamPoints[r.sourceVertex[v]]);
    }
  }
  for (const auto& [a, b] : r.seam) {
    EXPECT_LT(a, r.seamPoints.size());
    EXPECT_LT(b, r.seamPoints.size());
  }
}

TEST(CutSeveral, OneCutterIsThatCut) {
  const PolygonSoup comb = prism(combOutline(), 2), knife = level(1, 3);
  const CutResult one = cut(comb, knife), list = cut(comb, std::vector<PolygonSoup>{knife});
  EXPECT_EQ(one.mesh.positions, list.mesh.positions);
  EXPECT_EQ(one.mesh.corners, list.mesh.corners);
  EXPECT_EQ(one.sourceFace, list.sourceFace);
  EXPECT_EQ(one.fragment, list.fragment);
}

TEST(CutSeveral, OrderDoesNotMatter) {
  RandomStream random(5);
  const geometry::TriMesh ball = rippled(12);
  std::vector<PolygonSoup> planes;
  for (int i = 0; i < 4; ++i) {
    const Vec3 n = random.unitVector(), u = n.unitOrthogonal(), v = n.cross(u),
               at = 0.3 * random.unitVector();
    planes.push_back(quad(at - 4 * u - 4 * v, at + 4 * u - 4 * v, at + 4 * u + 4 * v, at - 4 * u + 4 * v));
  }
  const PolygonSoup body = geometry::toSoup(ball);
  const CutResult r = cut(body, planes);
  expectSound(r);
  std::reverse(planes.begin(), planes.end());
  const CutResult s = cut(body, planes);
  expectVolumes(r, sortedVolumes(s));
  EXPECT_GE(r.fragments, 8u);
}

TEST(CutSeveral, SameBytesForAnyNumberOfThreads) {
  const PolygonSoup body = geometry::toSoup(rippled(40));
  const std::vector<PolygonSoup> cutters = {level(0, 0.11), geometry::toSoup(rippled(30, {0.5, 0.15, 0.1})),
                                            level(2, 0)};
  CutResult first;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    const CutResult r = cut(body, cutters, {.checkRounding = true});
    if (threads == 1) {
      first = r;
      expectSound(r);
      continue;
    }
    expectEqual(r, first);
  }
}

TEST(CutSeveral, BooleansOfMany) {
  std::vector<PolygonSoup> bars;
  for (int i = 0; i < 5; ++i) bars.push_back(box({0.1 + 0.18 * i, -1, 0.4}, {0.18 + 0.18 * i, 2, 0.6}));
  const CutResult rest = cut(unitCube(), bars, {.op = Op::Difference});
  expectSound(rest);
  EXPECT_NEAR(total(rest), 1 - 5 * 0.08 * 0.2, 1e-12);
  const CutResult all = cut(unitCube(), bars, {.op = Op::Union});
  expectSound(all);
  EXPECT_NEAR(total(all), 1 + 5 * 2 * 0.08 * 0.2, 1e-12);
  // What is in all of three boxes.
  const std::vector<PolygonSoup> boxes = {box({0.2, -1, -1}, {2, 2, 2}), box({-1, 0.5, -1}, {2, 2, 2}),
                                          box({-1, -1, -1}, {2, 2, 0.5})};
  expectVolumes(cut(unitCube(), boxes, {.op = Op::Intersection}), {0.8 * 0.5 * 0.5});
  EXPECT_NEAR(total(cut(unitCube(), boxes, {.op = Op::Below})), 0.2, 1e-12);
}

TEST(CutSeveral, IncisionsThatCross) {
  // Two sheets that end inside the cube and cross each other there.
  const std::vector<PolygonSoup> sheets = {quad({-1, -1, 0.5}, {0.7, -1, 0.5}, {0.7, 2, 0.5}, {-1, 2, 0.5}),
                                           quad({0.4, -1, -1}, {0.4, 2, -1}, {0.4, 2, 0.7}, {0.4, -1, 0.7})};
  for (const bool triangles : {false, true}) {
    const CutResult r = cut(unitCube(), sheets, {.triangles = triangles});
    EXPECT_EQ(unmatchedEdges(r.mesh), 0u);
    expectVolumes(r, {0.2, 0.8});  // the corner between them is cut off
  }
}

TEST(CutSeveral, AttributesAreCarried) {
  PolygonSoup cube = unitCube();
  for (size_t f = 0; f < cube.faceCount(); ++f) cube.faceGroup.push_back(static_cast<uint32_t>(f % 2));
  cube.groupNames = {"even", "odd"};
  const CutResult r = cut(cube, std::vector<PolygonSoup>{level(0, 0.3), level(1, 0.6)});
  ASSERT_EQ(r.mesh.faceGroup.size(), r.mesh.faceCount());
  for (size_t f = 0; f < r.mesh.faceCount(); ++f) {
    ASSERT_LT(r.mesh.faceGroup[f], r.mesh.groupNames.size());
    EXPECT_EQ(r.mesh.faceGroup[f] < 2, r.fromCutter[f] == 0);
  }
}

TEST(CutResolve, OverlappingPartsAreOne) {
  const PolygonSoup two = together({unitCube(), moved(unitCube(), {0.5, 0.4, 0.3})});
  const double common = 0.5 * 0.6 * 0.7;
  const Resolved one = resolveOverlaps(two, "mesh");
  EXPECT_EQ(unmatchedEdges(one.mesh), 0u);
  EXPECT_NEAR(volumeOf(one.mesh), 2 - common, 1e-12);
  ASSERT_EQ(one.sourceFace.size(), one.mesh.faceCount());
  for (const uint32_t f : one.sourceFace) EXPECT_LT(f, two.faceCount());
  for (size_t v = 0; v < one.sourceVertex.size(); ++v)
    if (one.sourceVertex[v] != kNoIndex) {
      EXPECT_EQ(one.mesh.positions[v], two.positions[one.sourceVertex[v]]);
    }
  // As an option of a cut, on either side.
  const PolygonSoup tool = box({0.6, 0.6, 0.6}, {0.8, 3, 0.8});
  const CutResult r = cut(two, tool, {.op = Op::Difference, .resolve = true});
  expectSound(r);
  EXPECT_NEAR(total(r), 2 - common - 0.2 * 0.2 * 0.8, 1e-12);
  const CutResult s = cut(tool, two, {.op = Op::Difference, .resolve = true});
  expectSound(s);
  EXPECT_NEAR(total(s), 0.2 * 0.2 * (2.4 - 0.8), 1e-12);
}

TEST(CutResolve, WindingNumbersDecide) {
  const PolygonSoup inner = box({0.25, 0.25, 0.25}, {0.75, 0.75, 0.75});
  // Inside another solid: wound around twice, nothing of it is left.
  EXPECT_NEAR(volumeOf(resolveOverlaps(together({unitCube(), inner}), "mesh").mesh), 1, 1e-14);
  // Turned over it is a cavity, and stays one.
  EXPECT_NEAR(volumeOf(resolveOverlaps(together({unitCube(), turnedOver(inner)}), "mesh").mesh), 0.875,
              1e-14);
  // Another solid that reaches into the cavity fills it there.
  const PolygonSoup bar = box({0.4, 0.4, -1}, {0.6, 0.6, 2});
  EXPECT_NEAR(volumeOf(resolveOverlaps(together({unitCube(), turnedOver(inner), bar}), "mesh").mesh),
              0.875 + 0.04 * (2 + 0.5), 1e-12);
  // The same cube twice.
  EXPECT_NEAR(volumeOf(resolveOverlaps(together({unitCube(), unitCube()}), "mesh").mesh), 1, 1e-14);
  EXPECT_THROW(resolveOverlaps(together({unitCube(), turnedOver(moved(inner, {5, 0, 0}))}), "mesh"), Error);
}

TEST(CutRounding, CrossingsAreFound) {
  // A result whose vertex is pushed through the opposite face by hand.
  CutResult r = cut(unitCube(), level(2, 0.5), {.triangles = true, .checkRounding = true});
  EXPECT_TRUE(r.crossings.empty());
  size_t moved = 0;
  for (size_t v = 0; v < r.mesh.positions.size(); ++v)
    if (r.vertexFrom[v] == VertexFrom::Seam && moved == 0) {
      r.mesh.positions[v].z() = r.mesh.positions[v].z() + (r.sourceVertex[v] % 2 ? 3 : -3);
      r.mesh.positions[v].x() = 0.4;
      r.mesh.positions[v].y() = 0.3;
      ++moved;
    }
  EXPECT_FALSE(crossingFaces(r).empty());
}

TEST(CutRounding, RippledSpheresHaveNone) {
  for (const Vec3& shift : {Vec3(0.51, 0.13, 0.07), Vec3(0.5, 0.15, 0.1)}) {
    const CutResult r = cut(rippled(16), rippled(16, shift),
                            {.op = Op::Difference, .triangles = true, .checkRounding = true});
    EXPECT_EQ(r.crossings.size(), 0u);
  }
}

}  // namespace

}  // namespace sunder::cut
