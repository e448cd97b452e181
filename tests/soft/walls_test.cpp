#include "sunder/soft/walls/walls.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/vector_area.h"
#include "sunder/soft/cage/cage_parts.h"

#include "soft/wall_cases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::soft {

namespace {

void expectExact(const Embedded& e, const std::string& what) {
  EXPECT_LT(e.worstOpen(), 1e-10) << what;
  EXPECT_EQ(e.impossible(), 0u) << what;
  EXPECT_NEAR(e.volume(), e.solidVolume(), 1e-10 * std::max(1.0, std::abs(e.solidVolume()))) << what;
}

void expectClean(const Embedded& e, const std::string& what) {
  EXPECT_EQ(e.openEdges(), 0u) << what;
  EXPECT_EQ(e.walls.counts.oneSided, 0u) << what;
  EXPECT_EQ(e.walls.counts.healed, 0u) << what;
  EXPECT_EQ(e.walls.counts.crossed, 0u) << what;
}

// Area of the section of a closed mesh with the plane where coordinate `axis` is `at`.
double sectionArea(const geometry::TriMesh& mesh, int axis, double at) {
  double area = 0;
  for (const geometry::Triangle& t : mesh.triangles) {
    std::vector<Vec2> from, to;
    for (size_t k = 0; k < 3; ++k) {
      const Vec3 &a = mesh.positions[t[k]], &b = mesh.positions[t[(k + 1) % 3]];
      if ((a[axis] >= at) == (b[axis] >= at)) continue;
      const double s = (at - a[axis]) / (b[axis] - a[axis]);
      const Vec3 p = a + s * (b - a);
      const Vec2 q(p[(axis + 1) % 3], p[(axis + 2) % 3]);
      (a[axis] >= at ? from : to).push_back(q);
    }
    for (size_t i = 0; i < from.size(); ++i)
      area += 0.5 * (from[i].x() * to[i].y() - from[i].y() * to[i].x());
  }
  return std::abs(area);
}

// Of all walls in that plane.
double wallArea(const Embedded& e, int axis, double at) {
  double area = 0;
  for (const WallFace& face : e.walls.faces) {
    bool in = true;
    for (const uint8_t k : face.corners[0])
      in = in && std::abs(e.cage.rest.positions[e.cage.rest.tets[face.tets[0]][k]][axis] - at) < 1e-12;
    if (in) area += face.area;
  }
  return area;
}

bool same(const Walls& a, const Walls& b) {
  if (a.points != b.points || a.triangles != b.triangles || a.loopStart != b.loopStart) return false;
  if (a.faceOf != b.faceOf || a.faces.size() != b.faces.size()) return false;
  for (size_t f = 0; f < a.faces.size(); ++f)
    if (a.faces[f].tets != b.faces[f].tets || a.faces[f].section != b.faces[f].section ||
        a.faces[f].area != b.faces[f].area)
      return false;
  return true;
}

}  // namespace

TEST(Walls, PiecesOfTetrahedraAreClosedAndFillTheSolid) {
  for (const NamedMesh& solid : solids())
    for (const uint32_t n : {1u, 2u, 3u}) {
      const Embedded e(turned(solid.mesh, n), boxCage(n, 0.15));
      const std::string what = solid.name + " in " + std::to_string(n);
      expectExact(e, what);
      expectClean(e, what);
    }
}

TEST(WallsFull, PiecesOfTetrahedraAreClosedAndFillTheSolidInManyCages) {
  for (const NamedMesh& solid : solids())
    for (uint32_t seed = 0; seed < 12; ++seed) {
      const uint32_t n = 1 + seed % 6;
      const Embedded e(turned(solid.mesh, 100 + seed), boxCage(n, 0.2));
      const std::string what = solid.name + " turned by " + std::to_string(seed);
      expectExact(e, what);
      expectClean(e, what);
    }
}

TEST(Walls, AreasAreThoseOfPlaneSections) {
  for (const NamedMesh& solid : solids()) {
    const Embedded e(turned(solid.mesh, 9), boxCage(2));
    for (int axis = 0; axis < 3; ++axis)
      EXPECT_NEAR(wallArea(e, axis, 0), sectionArea(e.surface, axis, 0), 1e-12) << solid.name;
  }
}

TEST(Walls, HaveTheExactAreasOfABoxAndOfASphere) {
  const Embedded box(moved(shapes::makeBox({.size = Vec3(0.9, 1.1, 0.7)}), Vec3(0.01, 0.02, 0.03)),
                     boxCage(2));
  EXPECT_NEAR(wallArea(box, 0, 0), 1.1 * 0.7, 1e-13);
  EXPECT_NEAR(wallArea(box, 1, 0), 0.9 * 0.7, 1e-13);
  EXPECT_NEAR(wallArea(box, 2, 0), 0.9 * 1.1, 1e-13);
  const Embedded ball(turned(shapes::makeIcosphere({.radius = 0.9, .frequency = 24}), 4), boxCage(2));
  EXPECT_NEAR(wallArea(ball, 2, 0), kPi * 0.81, 0.01 * kPi * 0.81);
}

TEST(Walls, AreSharedByBothSidesOfAFace) {
  const Embedded e(turned(earedHead(), 5), boxCage(3, 0.2));
  for (uint32_t t = 0; t < e.cage.rest.tets.size(); ++t)
    for (size_t k = 0; k < 4; ++k) {
      const uint32_t other = e.cage.neighbours[t][k];
      const WallFace& face = e.walls.faces[e.walls.faceOf[t][k]];
      if (other == kNoIndex) {
        EXPECT_EQ(face.tets[1], kNoIndex);
        continue;
      }
      ASSERT_TRUE((face.tets[0] == t && face.tets[1] == other) ||
                  (face.tets[0] == other && face.tets[1] == t));
      // Equal weights belong to the same vertices of the cage.
      for (size_t i = 0; i < 3; ++i)
        EXPECT_EQ(e.cage.rest.tets[face.tets[0]][face.corners[0][i]],
                  e.cage.rest.tets[face.tets[1]][face.corners[1][i]]);
    }
}

TEST(Walls, OfASolidWithFacesInTheFacesOfItsCage) {
  // The solid is the cage, half of it, and a block in the middle whose faces are all in faces of the cage.
  for (const auto& [low, high] :
       {std::pair(Vec3(-1, -1, -1), Vec3(1, 1, 1)), std::pair(Vec3(-1, -1, -1), Vec3(0, 1, 1)),
        std::pair(Vec3(-0.5, -0.5, -0.5), Vec3(0.5, 0.5, 0.5)),
        std::pair(Vec3(-0.5, -1, -0.5), Vec3(0.5, 0.5, 1))}) {
    for (const int cells : {1, 3}) {
      geometry::TriMesh box = shapes::makeBox({.size = high - low, .nx = cells, .ny = cells, .nz = cells});
      box = moved(box, 0.5 * (low + high));
      const Embedded e(box, boxCage(4));
      expectExact(e, "box");
      for (uint32_t t = 0; t < e.pieces.size(); ++t) {
        const double share = e.pieces[t].volume / e.tetVolume(t);
        EXPECT_TRUE(std::abs(share) < 1e-10 || std::abs(share - 1) < 1e-10) << share;
      }
      // A wall is solid on both sides.
      for (const WallFace& face : e.walls.faces) {
        if (face.area < 1e-10) continue;
        ASSERT_NE(face.tets[1], kNoIndex);
        for (const uint32_t t : face.tets) EXPECT_NEAR(e.pieces[t].volume, e.tetVolume(t), 1e-10);
      }
    }
  }
}

TEST(Walls, OfAStepWhoseLedgeLiesInFacesOfTheCage) {
  shapes::Outline outline;
  outline.outer = {{-0.75, -0.75}, {0.75, -0.75}, {0.75, 0}, {0.1, 0}, {0.1, 0.75}, {-0.75, 0.75}};
  const Embedded e(shapes::extrude(outline, 1.1, 2), boxCage(4));
  expectExact(e, "step");
  EXPECT_NEAR(wallArea(e, 1, 0), 0.85 * 1.1, 1e-10);
}

TEST(Walls, OfSolidsThatTouchVerticesEdgesAndFacesOfTheCage) {
  const geometry::TriMesh octahedron = shapes::makeOctahedron({.radius = 0.5, .frequency = 2});
  for (const uint32_t n : {2u, 4u}) {
    expectExact(Embedded(octahedron, boxCage(n)), "octahedron");
    expectExact(Embedded(shapes::makeOctahedron({.radius = 1, .frequency = 4}), boxCage(n)),
                "large octahedron");
    expectExact(Embedded(shapes::makeIcosphere({.radius = 0.75, .frequency = 4}), boxCage(n)), "sphere");
    expectExact(
        Embedded(shapes::makeTorus({.radius = 0.5, .tube = 0.25, .segments = 8, .sides = 8}), boxCage(n)),
        "torus");
  }
}

namespace {

// Boxes, octahedra, steps and balls with vertices, edges and faces in those of the cage.
void expectExactOnTheLattice(uint64_t seed, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    RandomStream random(seed, i);
    const auto whole = [&](uint32_t from, uint32_t choices) {
      return static_cast<int>(from + random.below(choices));
    };
    const auto place = [&](double unit) {
      Vec3 p;
      for (int k = 0; k < 3; ++k) p[k] = unit * whole(0, 5);
      return p;
    };
    geometry::TriMesh mesh;
    switch (random.below(4)) {
      case 0: {
        Vec3 size;
        for (int k = 0; k < 3; ++k) size[k] = 0.25 * whole(1, 6);
        const int cells = whole(1, 3);
        mesh = shapes::makeBox({.size = size, .nx = cells, .ny = cells, .nz = cells});
        mesh = moved(mesh, place(0.125) - Vec3::Constant(0.25));
        break;
      }
      case 1: {
        const int radius = whole(1, 3);
        mesh = shapes::makeOctahedron({.radius = 0.25 * radius, .frequency = whole(1, 4)});
        mesh = moved(mesh, place(0.0625) - Vec3::Constant(0.125));
        break;
      }
      case 2: {
        const double a = -0.75 + 0.25 * whole(1, 2), b = -0.75 + 0.25 * whole(1, 2);
        shapes::Outline outline;
        outline.outer = {{-0.75, -0.75}, {0.75, -0.75}, {0.75, a}, {b, a}, {b, 0.75}, {-0.75, 0.75}};
        const double depth = 0.25 * whole(1, 5);
        mesh = shapes::extrude(outline, depth, whole(1, 3));
        break;
      }
      default:
        mesh = shapes::makeIcosphere({.radius = 0.5, .frequency = whole(2, 4)});
        for (Vec3& x : mesh.positions)
          for (int k = 0; k < 3; ++k) x[k] = std::round(16 * x[k]) / 16;
        mesh = moved(mesh, place(0.125) - Vec3::Constant(0.25));
    }
    const Embedded e(mesh, boxCage(static_cast<uint32_t>(whole(1, 4))));
    const std::string what = "solid " + std::to_string(i);
    expectExact(e, what);
    EXPECT_EQ(e.walls.counts.healed, 0u) << what;
    EXPECT_EQ(e.walls.counts.oneSided, 0u) << what;
    EXPECT_EQ(e.walls.counts.crossed, 0u) << what;
  }
}

}  // namespace

TEST(Walls, OfSolidsWithPlacesInCommonWithTheirCage) { expectExactOnTheLattice(77, 40); }
TEST(WallsFull, OfManySolidsWithPlacesInCommonWithTheirCage) { expectExactOnTheLattice(78, 2000); }

TEST(Walls, WithHolesAndIslands) {
  // A hollow ball with another inside it, all cut by the same faces.
  const auto ball = [](double r) { return shapes::makeIcosphere({.radius = r, .frequency = 6}); };
  const geometry::TriMesh shells = both(both(ball(0.9), insideOut(ball(0.6))), ball(0.3));
  for (const uint32_t n : {1u, 2u}) {
    const Embedded e(turned(moved(shells, Vec3(0.01, 0.02, 0.03)), 8), boxCage(n));
    expectExact(e, "shells");
    expectClean(e, "shells");
  }
  // A small ball that pokes through the middle of one face only: a contour without an end.
  const Cage cage = boxCage(1);
  const geometry::Tetrahedron& t = cage.rest.tets[0];
  Vec3 middle = Vec3::Zero();
  int inner = 0;
  while (cage.neighbours[0][static_cast<size_t>(inner)] == kNoIndex) ++inner;
  for (int k = 0; k < 4; ++k)
    if (k != inner) middle += cage.rest.positions[t[static_cast<size_t>(k)]] / 3;
  const Embedded e(moved(ball(0.1), middle), cage);
  expectExact(e, "ball");
  expectClean(e, "ball");
  EXPECT_EQ(e.walls.counts.partial, 1u);
  EXPECT_EQ(e.walls.counts.full, 0u);
  // The same as a hollow: the face is full around it.
  const Embedded hollow(
      both(shapes::makeBox({.size = Vec3::Constant(1.99)}), insideOut(moved(ball(0.1), middle))), cage);
  expectExact(hollow, "hollow");
  expectClean(hollow, "hollow");
}

TEST(Walls, OfSolidsAndHollowsInOneTetrahedron) {
  const Cage cage = boxCage(1);
  Vec3 middle = Vec3::Zero();
  for (const uint32_t v : cage.rest.tets[0]) middle += 0.25 * cage.rest.positions[v];
  const geometry::TriMesh ball = moved(shapes::makeIcosphere({.radius = 0.1, .frequency = 3}), middle);
  const Embedded solid(ball, cage);
  EXPECT_EQ(solid.walls.counts.empty, solid.walls.faces.size());
  expectExact(solid, "ball");
  const Embedded hollow(both(shapes::makeBox({.size = Vec3::Constant(1.9)}), insideOut(ball)), cage);
  expectExact(hollow, "hollow");
}

TEST(Walls, OfPartsThatShareAPlaceInTheCage) {
  const geometry::TriMesh fingers = twoFingers();
  for (const uint32_t n : {1u, 2u, 3u}) {
    PartsReport report;
    Embedded e(fingers, separateParts(fingers, boxCage(n, 0.1), &report));
    expectExact(e, "fingers in " + std::to_string(n));
    EXPECT_EQ(e.openEdges(), 0u);
    EXPECT_EQ(e.walls.counts.healed, 0u);
    EXPECT_TRUE(n != 3 || report.doubled > 0);
  }
}

TEST(Walls, AsTrianglesFaceOutwardsOfTheirTetrahedra) {
  const Embedded e(turned(earedHead(), 2), boxCage(2, 0.1));
  const WallMesh mesh = wallMesh(e.walls);
  ASSERT_EQ(mesh.walls.size(), mesh.triangles.size());
  std::vector<Vec3> placed;
  for (size_t v = 0; v < mesh.tets.size(); ++v) {
    Vec3 x = Vec3::Zero();
    for (int k = 0; k < 4; ++k)
      x += mesh.weights[v][k] * e.cage.rest.positions[e.cage.rest.tets[mesh.tets[v]][static_cast<size_t>(k)]];
    placed.push_back(x);
  }
  double area = 0;
  for (size_t i = 0; i < mesh.triangles.size(); ++i) {
    const uint32_t tet = mesh.walls[i] / 4, corner = mesh.walls[i] % 4;
    for (const uint32_t v : mesh.triangles[i]) {
      EXPECT_EQ(mesh.tets[v], tet);
      EXPECT_EQ(mesh.weights[v][corner], 0.0);
    }
    const Vec3 normal = geometry::twiceVectorArea(placed, mesh.triangles[i]);
    const Vec3 inner = e.cage.rest.positions[e.cage.rest.tets[tet][corner]] - placed[mesh.triangles[i][0]];
    EXPECT_LE(normal.dot(inner), 1e-15);
    area += 0.5 * normal.norm();
  }
  double expected = 0;
  for (const WallFace& face : e.walls.faces) expected += face.area * (face.tets[1] == kNoIndex ? 1 : 2);
  EXPECT_NEAR(area, expected, 1e-10);
}

TEST(Walls, HaveTheSameBitsForAnyNumberOfThreads) {
  const geometry::TriMesh surface = turned(earedHead(), 3);
  const Cage cage = boxCage(4, 0.2);
  const SurfaceCopies copies = assignSurface(surface, cage);
  std::vector<Walls> walls;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    walls.push_back(makeWalls(surface, cage, copies));
  }
  EXPECT_TRUE(same(walls[0], walls[1]));
  EXPECT_TRUE(same(walls[0], walls[2]));
}

TEST(Walls, OfAnOpenSurfaceAreClosedByStraightLinesAndCounted) {
  geometry::TriMesh open = turned(shapes::makeIcosphere({.radius = 0.9, .frequency = 8}), 6);
  double missing = 0;  // area
  for (size_t i = 0; i < 40; ++i) {
    missing += geometry::triangleArea(open.positions, open.triangles[13 * i]);
    open.triangles.erase(open.triangles.begin() + static_cast<ptrdiff_t>(13 * i));
  }
  const Embedded e(open, boxCage(3));
  EXPECT_GT(e.walls.counts.healed, 0u);
  for (const Vec3& p : e.walls.points) EXPECT_TRUE(p.allFinite());
  for (const PieceMoments& p : e.pieces) {
    EXPECT_TRUE(std::isfinite(p.volume) && p.centre.allFinite());
    EXPECT_LT(p.open.norm(), missing);
  }
  EXPECT_NEAR(e.volume(), 4.0 / 3 * kPi * 0.729, 0.1);
}

TEST(Walls, OfSurfacesWithDefectsAreFiniteAndTheDefectsAreCounted) {
  const auto ball = [](double x) {
    return moved(shapes::makeIcosphere({.radius = 0.5, .frequency = 6}), Vec3(x, 0.02, 0.03));
  };
  geometry::TriMesh loose;  // no triangles have a vertex in common
  const geometry::TriMesh whole = ball(0.01);
  for (const geometry::Triangle& t : whole.triangles) {
    const auto base = static_cast<uint32_t>(loose.positions.size());
    for (const uint32_t v : t) loose.positions.push_back(whole.positions[v]);
    loose.triangles.push_back({base, base + 1, base + 2});
  }
  geometry::TriMesh crumpled = whole;
  RandomStream random(1, 2);
  for (Vec3& x : crumpled.positions) x += 0.2 * random.pointIn({Vec3::Constant(-1), Vec3::Constant(1)});
  geometry::TriMesh repeated = whole;
  repeated.triangles.push_back({0, 1, 1});
  repeated.triangles.push_back(whole.triangles[0]);
  for (const geometry::TriMesh& mesh : {loose, crumpled, repeated, both(ball(-0.2), ball(0.2))}) {
    size_t defects = 0;
    for (const uint32_t n : {2u, 3u}) {
      const Embedded e(mesh, boxCage(n, 0.1));
      for (const Vec3& p : e.walls.points) EXPECT_TRUE(p.allFinite());
      for (const PieceMoments& p : e.pieces) EXPECT_TRUE(std::isfinite(p.volume) && p.second.allFinite());
      defects += e.walls.counts.healed + e.walls.counts.crossed;
    }
    EXPECT_GT(defects, 0u);
  }
  // Without any vertices in common the surface is closed all the same.
  expectExact(Embedded(loose, boxCage(2)), "loose");
}

TEST(Walls, RefuseWhatDoesNotBelongTogether) {
  const Embedded e(shapes::makeIcosphere({.radius = 0.5, .frequency = 2}), boxCage(2));
  EXPECT_THROW(makeWalls(e.surface, boxCage(3), e.copies), Error);
  EXPECT_THROW(makeWalls(shapes::makeBox(), e.cage, e.copies), Error);
  const geometry::TriMesh inner = insideOut(e.surface);
  EXPECT_THROW(makeWalls(inner, e.cage, assignSurface(inner, e.cage)), Error);
  SurfaceCopies broken = e.copies;
  broken.polygons.pop_back();
  EXPECT_THROW(makeWalls(e.surface, e.cage, broken), Error);
}

}  // namespace sunder::soft
