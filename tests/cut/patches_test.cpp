// The cutter's patches: areas by formula, the same faces as the lids of a split, nothing lost.
#include "sunder/cut/patches.h"

#include "sunder/base/error.h"
#include "sunder/shapes/catalogue.h"

#include "cut/cut_shapes.h"

#include <cmath>

namespace sunder::cut {

namespace {

using namespace testing;

double areaOf(const PolygonSoup& soup) {
  double sum = 0;
  for (size_t f = 0; f < soup.faceCount(); ++f) sum += geometry::vectorArea(soup, f).norm();
  return sum;
}

double sumOf(const CutterPatches& p, bool inside) {
  double sum = 0;
  for (uint32_t i = 0; i < p.patches; ++i)
    if ((p.inside[i] != 0) == inside) sum += p.area[i];
  return sum;
}

TEST(CutterPatches, AQuadThroughACube) {
  const PolygonSoup sheet = quad({-1, -1, 0.5}, {2, -1, 0.5}, {2, 2, 0.5}, {-1, 2, 0.5});
  const CutterPatches p = cutterPatches(unitCube(), sheet);
  ASSERT_EQ(p.patches, 2u);
  EXPECT_EQ(p.inside[0] + p.inside[1], 1);
  EXPECT_NEAR(sumOf(p, true), 1, 1e-14);
  EXPECT_NEAR(sumOf(p, false), 8, 1e-13);
}

TEST(CutterPatches, AreTheLidsOfASplit) {
  RandomStream random(3);
  for (int i = 0; i < 60; ++i) {
    shapes::NoisySheetShape shape;
    shape.width = shape.depth = i % 3 == 0 ? 1.5 : 6;  // small ones end inside
    shape.nx = shape.nz = 1 + i % 12;
    shape.amplitude = 0.2;
    shape.closed = i % 5 == 4;
    const PolygonSoup knife =
        moved(geometry::toSoup(shapes::makeNoisySheet(shape)),
              {random.uniform(-0.3, 0.3), random.uniform(-0.3, 0.3), random.uniform(-0.3, 0.3)},
              Quat(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1), 1).normalized());
    const PolygonSoup body = geometry::toSoup(rippled(8));
    SCOPED_TRACE(i);
    const CutResult r = cut(geometry::MeshView(body), knife, {.triangles = true, .keepEmpty = true});
    const CutterPatches p = cutterPatches(body, knife, true);
    double lids = 0;
    for (size_t f = 0; f < r.mesh.faceCount(); ++f)
      if (r.fromCutter[f]) lids += geometry::vectorArea(r.mesh, f).norm();
    ASSERT_FALSE(r.seam.empty());
    EXPECT_NEAR(2 * sumOf(p, true), lids, 1e-10);
    EXPECT_NEAR(sumOf(p, true) + sumOf(p, false), areaOf(knife), 1e-10);
    for (size_t v = 0; v < p.mesh.positions.size(); ++v)
      EXPECT_EQ(p.mesh.positions[v], p.vertexFrom[v] == VertexFrom::Cutter
                                         ? knife.positions[p.sourceVertex[v]]
                                         : r.seamPoints[p.sourceVertex[v]]);
    // Patches have no vertex in common.
    std::vector<uint32_t> owner(p.mesh.positions.size(), ~0u);
    for (size_t f = 0; f < p.mesh.faceCount(); ++f)
      for (const uint32_t v : p.mesh.face(f)) {
        EXPECT_TRUE(owner[v] == ~0u || owner[v] == p.patch[f]);
        owner[v] = p.patch[f];
      }
  }
}

TEST(CutterPatches, ASolidThatDoesNotMeetIsOnePatch) {
  const CutterPatches inside = cutterPatches(unitCube(), box(Vec3::Constant(0.25), Vec3::Constant(0.5)));
  ASSERT_EQ(inside.patches, 1u);
  EXPECT_TRUE(inside.inside[0]);
  const CutterPatches outside = cutterPatches(unitCube(), box(Vec3::Constant(2), Vec3::Constant(3)));
  ASSERT_EQ(outside.patches, 1u);
  EXPECT_FALSE(outside.inside[0]);
}

TEST(CutterPatches, OpenMeshesHaveThemToo) {
  const PolygonSoup surface = quad({-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0});
  const PolygonSoup wall = quad({0.1, -3, -1}, {0.1, 3, -1}, {0.1, 3, 2}, {0.1, -3, 2});
  const CutterPatches p = cutterPatches(surface, wall);
  // The surface ends within the wall: a slit, and one patch on both sides of it.
  ASSERT_EQ(p.patches, 1u);
  EXPECT_NEAR(p.area[0], 18, 1e-12);
  EXPECT_THROW(cutterPatches(PolygonSoup{}, wall), Error);
}

}  // namespace

}  // namespace sunder::cut
