// Larger meshes: the public bunny, rippled spheres in many places, faces with very many points.
#include "sunder/base/error.h"
#include "sunder/geometry/mesh_report.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/shapes/catalogue.h"

#include "cut/cut_shapes.h"
#include "folders.h"

#include <filesystem>

namespace sunder::cut {

namespace {

using namespace testing;

// Booleans and the split of one pair: closed, and the volumes add up.
void checkPair(const geometry::TriMesh& a, const geometry::TriMesh& b) {
  const double va = geometry::massProperties(a).volume, vb = geometry::massProperties(b).volume;
  const auto run = [&](Op op) {
    const CutResult r = cut(a, b, {.op = op, .triangles = true});
    EXPECT_EQ(unmatchedEdges(r.mesh), 0u);
    return total(r);
  };
  const double common = run(Op::Intersection);
  EXPECT_NEAR(run(Op::Difference), va - common, 1e-10 * va);
  EXPECT_NEAR(run(Op::Union), va + vb - common, 1e-10 * va);
  EXPECT_NEAR(run(Op::Split), va, 1e-10 * va);
}

void sweep(int shifts, int n) {
  checkPair(rippled(n), rippled(n, {0.5, 0.15, 0.1}));
  checkPair(rippled(n), rippled(n));
  RandomStream random(3);
  for (int i = 0; i < shifts && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(i);
    // Every other shift on a grid, where vertices meet edges and faces.
    Vec3 shift(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1));
    if (i % 2 == 0) shift = (shift * 20).array().round() / 20;
    checkPair(rippled(n), rippled(n, shift));
  }
}

TEST(CutMeshes, SweepOfShifts) { sweep(30, 8); }
TEST(CutMeshesFull, SweepOfAThousandShifts) { sweep(1000, 35); }

TEST(CutMeshes, C7_BunnyByFourSheets) {
  const std::filesystem::path path = sharedData() / "meshes/stanford-bunny.obj";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const geometry::TriMesh bunny = geometry::toTriMesh(meshio::readMesh(path).surface);
  const geometry::MeshReport report = geometry::meshReport(bunny);
  const Box3 box = geometry::bounds(bunny.positions);
  const auto level = [&](double height) {
    shapes::NoisySheetShape shape;
    shape.width = shape.depth = 2 * box.diagonal();
    shape.amplitude = 0.02 * box.diagonal();
    shape.frequency = 4 / box.diagonal();
    shape.nx = shape.nz = 40;
    shape.closed = false;
    geometry::TriMesh sheet = shapes::makeNoisySheet(shape);
    const Vec3 at(box.center().x(), box.lower.y() + height * box.extent().y(), box.center().z());
    for (Vec3& p : sheet.positions) p += at;
    return sheet;
  };
  PolygonSoup body = geometry::toSoup(bunny);
  if (!report.watertight) {
    // An open scan: surfaces are cut, nothing is sealed, no area is lost.
    const CutResult r = cut(body, level(0.5));
    EXPECT_GE(r.fragments, 2u);
    EXPECT_NEAR(geometry::surfaceArea(r.mesh) / geometry::surfaceArea(body), 1, 1e-10);
    return;
  }
  double volume = geometry::massProperties(body).volume, sum = 0;
  size_t pieces = 0;
  for (const double height : {0.2, 0.4, 0.6, 0.8}) {
    const CutResult below = cut(body, level(height), {.op = Op::Below}),
                    rest = cut(body, level(height), {.op = Op::Above});
    EXPECT_EQ(unmatchedEdges(below.mesh), 0u);
    EXPECT_EQ(unmatchedEdges(rest.mesh), 0u);
    sum += total(below);
    pieces += below.fragments;
    body = rest.mesh;
  }
  sum += geometry::massProperties(body).volume;
  EXPECT_NEAR(sum / volume, 1, 1e-10);
  EXPECT_GE(pieces, 4u);
}

// A solid ball instead of the bunny, whose scan is open: counts of polygons against counts of triangles.
TEST(CutMeshes, C7_BallByFourSheets) {
  const PolygonSoup ball = geometry::toSoup(rippled(20));
  std::vector<PolygonSoup> sheets;
  for (int i = 0; i < 4; ++i) {
    shapes::NoisySheetShape shape;
    shape.width = shape.depth = 4;
    shape.amplitude = 0.05;
    shape.frequency = 2;
    shape.nx = shape.nz = 40;
    shape.seed = i + 1;
    shape.closed = false;
    sheets.push_back(moved(geometry::toSoup(shapes::makeNoisySheet(shape)), {0, -0.6 + 0.4 * i, 0}));
  }
  const CutResult polygons = cut(ball, sheets), triangles = cut(ball, sheets, {.triangles = true});
  for (const CutResult* r : {&polygons, &triangles}) {
    expectSound(*r);
    EXPECT_EQ(r->fragments, 5u);
    EXPECT_NEAR(total(*r) / volumeOf(ball), 1, 1e-10);
    const Counts c = countsOf(r->mesh);
    EXPECT_EQ(c.vertices + c.faces, c.edges + 2 * r->fragments);
  }
  EXPECT_LE(polygons.mesh.positions.size(), triangles.mesh.positions.size());
  const auto touched = [](const CutResult& r) {
    size_t count = 0;
    for (size_t f = 0; f < r.mesh.faceCount(); ++f) {
      const auto face = r.mesh.face(f);
      count += std::any_of(face.begin(), face.end(),
                           [&](uint32_t v) { return r.vertexFrom[v] == VertexFrom::Seam; });
    }
    return count;
  };
  EXPECT_LE(double(touched(polygons)), 0.75 * double(touched(triangles)));
}

TEST(CutMeshes, CutsInARow) {
  geometry::PolygonSoup body = geometry::toSoup(rippled(20));
  RandomStream random(11);
  double volume = geometry::massProperties(body).volume;
  for (int i = 0; i < 100; ++i) {
    const Vec3 n = random.unitVector(), u = n.unitOrthogonal(), v = n.cross(u),
               at = random.uniform(0.7, 0.95) * n;
    const PolygonSoup plane =
        quad(at - 3 * u - 3 * v, at + 3 * u - 3 * v, at + 3 * u + 3 * v, at - 3 * u + 3 * v);
    const CutResult r = cut(body, plane, {.triangles = true});
    ASSERT_EQ(unmatchedEdges(r.mesh), 0u) << "cut " << i;
    ASSERT_NEAR(total(r), volume, 1e-9) << "cut " << i;
    body = cut(body, plane, {.op = Op::Below, .triangles = i % 2 == 0}).mesh;
    ASSERT_EQ(unmatchedEdges(body), 0u) << "cut " << i;
    volume = geometry::massProperties(body).volume;
  }
  EXPECT_LT(volume, geometry::massProperties(rippled(20)).volume);
  EXPECT_GT(volume, 1);
}

// A saw blade through one large triangle: all its points are in one face.
TEST(CutMeshes, C14_ManyPointsInOneFace) {
  for (const uint32_t teeth : {10u, 1000u, 20'000u}) {
    geometry::TriMesh floor;
    floor.positions = {{-1, 0, -1}, {3, 0, -1}, {-1, 0, 3}};
    floor.triangles = {{0, 2, 1}};
    geometry::TriMesh blade;
    for (uint32_t i = 0; i <= teeth; ++i)
      for (const double y : {-1.0, 1.0})
        blade.positions.push_back({double(i) / teeth * 1.2 - 0.1, y, i % 2 == 0 ? 0.1 : 0.12});
    for (uint32_t i = 0; i < teeth; ++i) {
      blade.triangles.push_back({2 * i, 2 * i + 1, 2 * i + 3});
      blade.triangles.push_back({2 * i, 2 * i + 3, 2 * i + 2});
    }
    const CutResult r = cut(floor, blade, {.triangles = true});
    // The blade starts and ends inside: a slit, one piece, no area lost.
    EXPECT_EQ(r.fragments, 1u);
    EXPECT_EQ(r.statistics.seamSegments, 2 * teeth);
    EXPECT_EQ(r.mesh.positions.size(), 3 + 2 + 2 * (2 * teeth - 1));
    EXPECT_NEAR(geometry::surfaceArea(r.mesh), 8, 1e-9);
  }
}

// Slots of a comb: every one is a hole in the plate's two faces.
TEST(CutMeshes, PlateWithManyHoles) {
  const PolygonSoup plate = box({0, 0, 0}, {1, 1, 0.1});
  PolygonSoup pins;
  constexpr int kRow = 12;
  for (int i = 0; i < kRow; ++i)
    for (int j = 0; j < kRow; ++j) {
      const PolygonSoup pin =
          box({(i + 0.3) / kRow, (j + 0.3) / kRow, -1}, {(i + 0.6) / kRow, (j + 0.6) / kRow, 1});
      const uint32_t first = static_cast<uint32_t>(pins.positions.size());
      for (const Vec3& p : pin.positions) pins.positions.push_back(p);
      for (size_t f = 0; f < pin.faceCount(); ++f) {
        std::vector<uint32_t> ring(pin.face(f).begin(), pin.face(f).end());
        for (uint32_t& v : ring) v += first;
        pins.addFace(ring);
      }
    }
  for (const bool triangles : {false, true}) {
    const CutResult r = cut(plate, pins, {.op = Op::Difference, .triangles = triangles});
    expectSound(r);
    ASSERT_EQ(r.fragments, 1u);
    EXPECT_NEAR(r.volume[0], 0.1 * (1 - 0.09), 1e-12);
    EXPECT_EQ(cut(plate, pins, {.triangles = triangles}).fragments, 1u + kRow * kRow);
  }
}

// Polygons come back: the same counts whether faces came as polygons or as their triangles with a common
// source.
TEST(CutMeshes, C6_PolygonsStayPolygons) {
  const PolygonSoup comb = prism(combOutline(), 2);
  const PolygonSoup knife = quad({-1, 3, 3}, {7, 3, 3}, {7, 3, -1}, {-1, 3, -1});
  const CutResult polygons = cut(comb, knife), triangles = cut(comb, knife, {.triangles = true});
  EXPECT_NEAR(total(polygons), total(triangles), 1e-12);
  // 16 faces of the comb, of which two are in four pieces and 6 in two; three lids on either side.
  EXPECT_EQ(polygons.mesh.faceCount(), 8u + 2 * 4 + 6 * 2 + 6);
  for (size_t f = 0; f < triangles.mesh.faceCount(); ++f) ASSERT_EQ(triangles.mesh.face(f).size(), 3u);
  EXPECT_LT(polygons.mesh.faceCount(), triangles.mesh.faceCount() * 3 / 4);
}

// A frustum over a concave outline, top and bottom flat but not parallel, cut by one quad.
TEST(CutMeshes, C6_ConcaveFrustum) {
  const std::vector<Vec2> outline = {{0, 0}, {8, 0}, {8, 8}, {4, 2}, {0, 8}};
  PolygonSoup frustum = prism(outline, 8);
  // Upper corners move towards the apex (4, 4, 16), up to the plane z = 8 + (y - 4) / 4: sides stay flat.
  for (Vec3& p : frustum.positions) {
    if (p.z() == 0) continue;
    const double t = (8 + (p.y() - 4) / 4) / (16 - (4 - p.y()) / 4);
    p = Vec3(p.x() + t * (4 - p.x()), p.y() + t * (4 - p.y()), 16 * t);
  }
  const PolygonSoup knife = quad({-20, -20, 4}, {20, -20, 4}, {20, 20, 4}, {-20, 20, 4});
  const CutResult r = cut(frustum, knife);
  expectSound(r);
  ASSERT_EQ(r.fragments, 2u);
  for (const auto& f : separate(r)) {
    EXPECT_EQ(unmatchedEdges(f), 0u);
    EXPECT_EQ(countsOf(f), (Counts{10, 15, 7}));  // again a frustum over five corners
  }
  EXPECT_NEAR(total(r), volumeOf(frustum), 1e-11);
}

}  // namespace

}  // namespace sunder::cut
