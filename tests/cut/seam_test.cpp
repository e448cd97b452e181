#include "sunder/cut/arrangement/seam.h"

#include "sunder/shapes/catalogue.h"

#include "cut/cut_shapes.h"

namespace sunder::cut {

namespace {

using namespace testing;

// Few faces are tested against all vertices, many through trees: the same seam.
TEST(Seam, TreesFindWhatSidesOfAllVerticesFind) {
  const geometry::TriMesh mesh = rippled(10);
  geometry::TriMesh few;  // eight faces
  few.positions = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  for (Vec3& p : few.positions) p += Vec3(0.5, 0.25, 0.125);
  few.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  geometry::TriMesh many = few;  // and a far one
  for (const Vec3& p : {Vec3(9, 9, 9), Vec3(10, 9, 9), Vec3(9, 10, 9)}) many.positions.push_back(p);
  many.triangles.push_back({6, 7, 8});
  const KernelMesh a = makeKernelMesh(mesh, "mesh");
  const Seam one = findSeam(a, makeKernelMesh(few, "cutter")),
             other = findSeam(a, makeKernelMesh(many, "cutter"));
  ASSERT_GT(one.segments.size(), 20u);
  ASSERT_EQ(one.segments.size(), other.segments.size());
  for (size_t i = 0; i < one.segments.size(); ++i) {
    EXPECT_EQ(one.segments[i].face[0], other.segments[i].face[0]);
    EXPECT_EQ(one.segments[i].face[1], other.segments[i].face[1]);
    EXPECT_EQ(one.segments[i].start, other.segments[i].start);
    EXPECT_EQ(one.segments[i].end, other.segments[i].end);
  }
}

// Every point between closed meshes has the two faces of its edge, and so two segments that meet there.
TEST(Seam, PointsJoinTwoSegmentsOfEitherMesh) {
  for (const Vec3& shift : {Vec3(0.51, 0.13, 0.07), Vec3(0.5, 0.15, 0.1), Vec3(0, 0, 0), Vec3(0.1, 0, 0)}) {
    const geometry::TriMesh ma = rippled(12), mb = rippled(12, shift);
    const KernelMesh a = makeKernelMesh(ma, "mesh"), b = makeKernelMesh(mb, "cutter");
    const Seam seam = findSeam(a, b);
    std::vector<size_t> starts(seam.points.size()), ends(seam.points.size());
    for (const SeamSegment& s : seam.segments) {
      ++starts[s.start];
      ++ends[s.end];
    }
    for (size_t i = 0; i < seam.points.size(); ++i) {
      EXPECT_EQ(starts[i], 1u);
      EXPECT_EQ(ends[i], 1u);
      // On its edge, and on the plane of its face.
      const SeamPoint& x = seam.points[i];
      const KernelMesh &own = x.edgeOf == kMesh ? a : b, &other = x.edgeOf == kMesh ? b : a;
      const Vec3 &p = own.positions[own.origin(x.halfedge)], &q = own.positions[own.target(x.halfedge)];
      EXPECT_LT((x.position - p).cross(q - p).norm(), 1e-15);
      const Corners3 f = cornersOf(other, x.face);
      const Vec3 normal = (*f.b - *f.a).cross(*f.c - *f.a).normalized();
      EXPECT_LT(std::abs(normal.dot(x.position - *f.a)), 1e-14);
    }
  }
}

TEST(Seam, WindingTellsInsideFromOutside) {
  const geometry::TriMesh sphere = rippled(16);
  const KernelMesh mesh = makeKernelMesh(sphere, "mesh");
  RandomStream random(9);
  for (int i = 0; i < 2000; ++i) {
    const Vec3 p = random.uniform(0, 1.5) * random.unitVector();
    const double r = p.norm();
    if (r > 0.75 && r < 1.2) continue;  // the ripples are in between
    EXPECT_EQ(windingAround(p, kMesh, mesh), r < 1 ? 1 : 0);
    EXPECT_EQ(windingAround(p, kCutter, mesh), r < 1 ? 1 : 0);
  }
  // Vertices of the mesh itself: with the shift each is inside or outside, never neither.
  for (size_t v = 0; v < sphere.positions.size(); v += 7) {
    const int w = windingAround(sphere.positions[v], kMesh, mesh);
    EXPECT_TRUE(w == 0 || w == 1);
  }
}

TEST(KernelMesh, HalfedgesPairUp) {
  const PolygonSoup comb = prism(combOutline(), 2);
  const KernelMesh mesh = makeKernelMesh(comb, "mesh");
  EXPECT_TRUE(mesh.closed());
  // 14-gons make 12 triangles each, quads two.
  EXPECT_EQ(mesh.triangles.size(), 2u * 12 + 14 * 2);
  size_t diagonals = 0;
  for (uint32_t h = 0; h < mesh.twin.size(); ++h) {
    const uint32_t t = mesh.twin[h];
    ASSERT_NE(t, kNoIndex);
    EXPECT_EQ(mesh.twin[t], h);
    EXPECT_EQ(mesh.origin(t), mesh.target(h));
    EXPECT_EQ(mesh.isDiagonal(h), mesh.sourceOf(h / 3) == mesh.sourceOf(t / 3));
    diagonals += mesh.isDiagonal(h);
  }
  EXPECT_EQ(diagonals, 2u * (2 * 11 + 14));
  // A fan of very many faces around one vertex.
  geometry::TriMesh fan;
  fan.positions.push_back(Vec3::Zero());
  constexpr uint32_t kMany = 5000;
  for (uint32_t i = 0; i < kMany; ++i) {
    const double angle = 2 * kPi * i / kMany;
    fan.positions.push_back({std::cos(angle), std::sin(angle), 0});
  }
  for (uint32_t i = 0; i < kMany; ++i) fan.triangles.push_back({0, 1 + i, 1 + (i + 1) % kMany});
  const KernelMesh open = makeKernelMesh(fan, "mesh");
  EXPECT_FALSE(open.closed());
  size_t border = 0;
  for (const uint32_t t : open.twin) border += t == kNoIndex;
  EXPECT_EQ(border, kMany);
}

}  // namespace

}  // namespace sunder::cut
