// The acceptance checks of cutting on solids whose pieces are known.
#include "sunder/cut/cut.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/shapes/catalogue.h"

#include "cut/cut_shapes.h"

namespace sunder::cut {

namespace {

using namespace testing;

PolygonSoup levelQuad(double z) { return quad({-1, -1, z}, {2, -1, z}, {2, 2, z}, {-1, 2, z}); }

TEST(Cut, C1_CubeByAQuad) {
  const CutResult r = cut(unitCube(), levelQuad(1.0 / 3));
  expectSound(r);
  expectVolumes(r, {1.0 / 3, 2.0 / 3});
  for (const auto& f : separate(r)) EXPECT_EQ(countsOf(f), (Counts{8, 12, 6}));
  ASSERT_EQ(r.fragments, 2u);
  EXPECT_NE(r.above[0], r.above[1]);
  EXPECT_NE(r.below[0], r.below[1]);
}

TEST(Cut, C2_CubeByTwoTriangles) {
  const double z = 1.0 / 3;
  const PolygonSoup cutter =
      sheet({{-1, -1.5, z}, {2, -1, z}, {2, 2, z}, {-1, 2, z}}, {{0, 1, 2}, {0, 2, 3}});
  const CutResult r = cut(unitCube(), cutter);
  expectSound(r);
  expectVolumes(r, {1.0 / 3, 2.0 / 3});
  for (const auto& f : separate(r)) EXPECT_EQ(countsOf(f), (Counts{10, 15, 7}));
}

TEST(Cut, C3_Incision) {
  const PolygonSoup one = quad({-1, -1, 0.5}, {0.5, -1, 0.5}, {0.5, 2, 0.5}, {-1, 2, 0.5});
  const CutResult r = cut(unitCube(), one);
  expectSound(r);
  expectVolumes(r, {1});
  EXPECT_EQ(countsOf(r.mesh), (Counts{14, 21, 9}));
  EXPECT_TRUE(r.above[0] && r.below[0]);
  const PolygonSoup two =
      sheet({{-1, -1.5, 0.5}, {0.5, -1, 0.5}, {0.5, 2, 0.5}, {-1, 2, 0.5}}, {{0, 1, 2}, {0, 2, 3}});
  const CutResult s = cut(unitCube(), two);
  expectSound(s);
  expectVolumes(s, {1});
  EXPECT_EQ(countsOf(s.mesh), (Counts{18, 27, 11}));
  EXPECT_THROW(cut(unitCube(), one, {.op = Op::Above}), Error);
}

TEST(Cut, SlitInsideOneFace) {
  // The sheet pokes through the top without reaching the edges of any of its triangles.
  const PolygonSoup knife = quad({0.6, 0.2, 0.7}, {0.7, 0.25, 0.7}, {0.7, 0.25, 1.5}, {0.6, 0.2, 1.5});
  for (const bool triangles : {false, true}) {
    const CutResult r = cut(unitCube(), knife, {.triangles = triangles});
    expectSound(r);
    expectVolumes(r, {1});
    EXPECT_EQ(r.fragments, 1u);
    EXPECT_GT(r.mesh.positions.size(), 8u);
  }
}

TEST(Cut, C4_Comb) {
  const PolygonSoup comb = prism(combOutline(), 2);
  const auto level = [](double y) { return quad({-1, y, 3}, {7, y, 3}, {7, y, -1}, {-1, y, -1}); };
  const CutResult r = cut(comb, level(3));
  expectSound(r);
  expectVolumes(r, {4, 4, 4, 24});
  for (const auto& f : separate(r))
    EXPECT_EQ(countsOf(f), (volumeOf(f) > 5 ? Counts{28, 42, 16} : Counts{8, 12, 6}));
  // In the plane of the gaps' floors.
  const CutResult s = cut(comb, level(1));
  expectSound(s);
  expectVolumes(s, {8, 8, 8, 12});
  EXPECT_EQ(countsOf(s.mesh), (Counts{28 + 3 * 8, 42 + 3 * 12, 16 + 3 * 6}));
  expectVolumes(cut(comb, level(3), {.op = Op::Above}), {4, 4, 4});
  expectVolumes(cut(comb, level(3), {.op = Op::Below}), {24});
}

TEST(Cut, C5_BooleansOfCubes) {
  struct Case {
    PolygonSoup cutter;
    double common;
  };
  const Quat turn = Quat(3, 1, 2, 1).normalized();
  const Case cases[] = {
      {moved(unitCube(), {1.0 / 3, 1.0 / 5, 1.0 / 7}, turn), -1},
      {moved(unitCube(), {0.5, 0, 0}), 0.5},
      {unitCube(), 1},
      {moved(unitCube(), {0.5, 0.5, 0.5}), 0.125},
      {box({0.25, 0.25, 0.5}, {0.75, 0.75, 2}), 0.125},
      {box({0.25, 0.25, -1}, {0.75, 0.75, 2}), 0.25},
      {box({0.6, 0.1, -1}, {0.8, 0.2, 2}), 0.02},
      {box({0.25, 0.25, 0.25}, {0.5, 0.5, 0.5}), 1.0 / 64},
      {box({-1, -1, -1}, {2, 2, 2}), 1},
      {box({2, 0, 0}, {3, 1, 1}), 0},
      {box({1, 0, 0}, {2, 1, 1}), 0},
      {box({0, 0, 0.5}, {1, 1, 1}), 0.5},
  };
  for (const Case& c : cases)
    for (const bool triangles : {false, true}) {
      const auto run = [&](Op op) {
        const CutResult r = cut(unitCube(), c.cutter, {.op = op, .triangles = triangles});
        expectSound(r);
        return total(r);
      };
      const double cutter = volumeOf(c.cutter), common = run(Op::Intersection);
      if (c.common >= 0)
        EXPECT_NEAR(common, c.common, 1e-12);
      else
        EXPECT_NEAR(common, 0.3476, 5e-5);
      EXPECT_NEAR(run(Op::Difference), 1 - common, 1e-12);
      EXPECT_NEAR(run(Op::Union), 1 + cutter - common, 1e-9);
      EXPECT_NEAR(run(Op::SymmetricDifference), 1 + cutter - 2 * common, 1e-9);
      EXPECT_NEAR(run(Op::Split), 1, 1e-12);
      EXPECT_NEAR(run(Op::Below), common, 1e-12);
      EXPECT_NEAR(run(Op::Above), 1 - common, 1e-12);
    }
  EXPECT_EQ(countsOf(cut(unitCube(), cases[3].cutter, {.op = Op::Intersection}).mesh), (Counts{8, 12, 6}));
}

TEST(Cut, CavitiesBelongToTheirSolid) {
  const PolygonSoup inner = box({0.25, 0.25, 0.25}, {0.5, 0.5, 0.5});
  const CutResult hollow = cut(unitCube(), inner, {.op = Op::Difference});
  EXPECT_EQ(hollow.fragments, 1u);
  const CutResult halves = cut(hollow.mesh, levelQuad(0.75));
  expectSound(halves);
  expectVolumes(halves, {0.25, 0.75 - 1.0 / 64});
  const CutResult split = cut(unitCube(), inner);
  expectSound(split);
  expectVolumes(split, {1.0 / 64, 1 - 1.0 / 64});
}

TEST(Cut, OpenMeshesAreCutWithoutLids) {
  const PolygonSoup floor = quad({0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0});
  const PolygonSoup knife = quad({0.5, -1, -1}, {0.5, 2, -1}, {0.5, 2, 1}, {0.5, -1, 1});
  const CutResult r = cut(floor, knife);
  EXPECT_EQ(r.fragments, 2u);
  EXPECT_EQ(r.mesh.faceCount(), 2u);
  EXPECT_EQ(r.mesh.positions.size(), 8u);
  EXPECT_NEAR(geometry::surfaceArea(r.mesh), 1, 1e-15);
  const CutResult a = cut(floor, knife, {.op = Op::Above});
  EXPECT_NEAR(geometry::surfaceArea(a.mesh), 0.5, 1e-15);
  EXPECT_GT(a.mesh.positions[a.mesh.corners[0]].x() + a.mesh.positions[a.mesh.corners[1]].x() +
                a.mesh.positions[a.mesh.corners[2]].x(),
            1.4);
  // A cut that ends inside: one piece, with a slit.
  const PolygonSoup shortKnife = quad({0.5, -1, -1}, {0.5, 0.5, -1}, {0.5, 0.5, 1}, {0.5, -1, 1});
  EXPECT_EQ(cut(floor, shortKnife).fragments, 1u);
}

TEST(Cut, C8_UntouchedFacesKeepTheirBits) {
  shapes::RippledSphereShape shape;
  shape.n = 20;
  const geometry::TriMesh sphere = shapes::makeRippledSphere(shape);
  const CutResult r = cut(sphere, quad({-3, 0.1, 3}, {3, 0.15, 3}, {3, 0.1, -3}, {-3, 0.05, -3}));
  expectSound(r);
  EXPECT_EQ(r.fragments, 2u);
  std::vector<size_t> pieces(sphere.triangles.size(), 0);
  for (size_t f = 0; f < r.sourceFace.size(); ++f)
    if (!r.fromCutter[f]) ++pieces[r.sourceFace[f]];
  size_t whole = 0;
  for (size_t f = 0; f < r.sourceFace.size(); ++f) {
    if (r.fromCutter[f] || pieces[r.sourceFace[f]] != 1) continue;
    ++whole;
    const auto face = r.mesh.face(f);
    ASSERT_EQ(face.size(), 3u);
    for (size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(r.sourceVertex[face[k]], sphere.triangles[r.sourceFace[f]][k]);
      EXPECT_EQ(r.mesh.positions[face[k]], sphere.positions[sphere.triangles[r.sourceFace[f]][k]]);
    }
  }
  EXPECT_GT(whole, sphere.triangles.size() * 8 / 10);
}

TEST(Cut, C10_SwappingAndTurning) {
  const PolygonSoup a = prism(combOutline(), 2);
  const PolygonSoup b = moved(unitCube(), {0.3, 0.2, 0.4}, Quat(1, 0.2, 0.3, 0.1).normalized());
  EXPECT_NEAR(total(cut(a, b, {.op = Op::Difference})) - volumeOf(a),
              total(cut(b, a, {.op = Op::Difference})) - volumeOf(b), 1e-12);
  const PolygonSoup knife = quad({-1, 2.2, 3}, {7, 2.3, 3}, {7, 2.1, -1}, {-1, 2, -1});
  const double above = total(cut(a, knife, {.op = Op::Above})),
               below = total(cut(a, knife, {.op = Op::Below}));
  EXPECT_NEAR(total(cut(a, turnedOver(knife), {.op = Op::Above})), below, 1e-12);
  EXPECT_NEAR(total(cut(a, turnedOver(knife), {.op = Op::Below})), above, 1e-12);
  const Quat turn = Quat(0.3, 0.5, -0.2, 0.7).normalized();
  const CutResult r = cut(moved(a, {1, 2, 3}, turn), moved(knife, {1, 2, 3}, turn));
  EXPECT_EQ(r.fragments, cut(a, knife).fragments);
  EXPECT_NEAR(total(cut(moved(a, {1, 2, 3}, turn), moved(knife, {1, 2, 3}, turn), {.op = Op::Above})), above,
              1e-10);
}

TEST(Cut, C15_MassAndMomentsAddUp) {
  const PolygonSoup comb = prism(combOutline(), 2);
  const PolygonSoup bent = quad({-1, 2.2, 3}, {7, 3.3, 3}, {7, 2.1, -1}, {-1, 2, -1});  // not flat
  const CutResult r = cut(comb, bent);
  expectSound(r);
  geometry::MassProperties sum;
  bool first = true;
  for (const auto& f : separate(r)) {
    sum = first ? geometry::massProperties(f) : geometry::combine(sum, geometry::massProperties(f));
    first = false;
  }
  const auto whole = geometry::massProperties(comb);
  EXPECT_NEAR(sum.mass, whole.mass, 1e-10 * whole.mass);
  EXPECT_LT((sum.centre - whole.centre).norm(), 1e-10);
  EXPECT_LT((sum.inertia - whole.inertia).norm(), 1e-10 * whole.inertia.norm());
}

TEST(Cut, SameBytesForAnyNumberOfThreads) {
  shapes::RippledSphereShape shape;
  shape.n = 60;
  geometry::TriMesh a = shapes::makeRippledSphere(shape), b = a;
  for (Vec3& p : b.positions) p += Vec3(0.51, 0.13, 0.07);
  CutResult first;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    const CutResult r = cut(a, b, {.op = Op::Difference, .triangles = true});
    if (threads == 1) {
      first = r;
      expectSound(r);
      continue;
    }
    expectEqual(r, first);
  }
}

}  // namespace

}  // namespace sunder::cut
