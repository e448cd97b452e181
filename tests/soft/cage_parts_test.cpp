#include "sunder/soft/cage/cage_parts.h"

#include "sunder/base/error.h"
#include "sunder/geometry/components.h"
#include "sunder/soft/cage/auto_cage.h"
#include "sunder/soft/cage/clip_surface.h"
#include "sunder/soft/embed/surface_copies.h"

#include "soft/solids.h"

#include <set>

#include <gtest/gtest.h>

namespace sunder::soft {

namespace {

geometry::TetMesh oneTet(double size) {
  geometry::TetMesh mesh;
  mesh.positions = {{0, 0, 0}, {size, 0, 0}, {0, size, 0}, {0, 0, size}};
  mesh.tets = {{0, 1, 2, 3}};
  return mesh;
}

geometry::TriMesh ballAt(const Vec3& centre, double radius, int levels = 2) {
  geometry::TriMesh ball = splitSphere(radius, levels);
  for (Vec3& p : ball.positions) p += centre;
  return ball;
}

geometry::TriMesh insideOut(geometry::TriMesh mesh) {
  for (auto& t : mesh.triangles) std::swap(t[1], t[2]);
  return mesh;
}

uint32_t partsIn(const geometry::TriMesh& surface, const geometry::TetMesh& cage, uint32_t tet = 0) {
  const ClipSurface given(surface);
  const SurfaceClips clips = clipSurface(given, cage);
  return tetParts(given, cage, clips, tet, Solid(surface)).count;
}

// A palm with two fingers along x.
geometry::TriMesh hand() {
  using namespace sdf;
  const FieldPtr field = makeUnion({makeBoxField({Vec3(-1, -0.5, -0.2), Vec3(0, 0.5, 0.2)}),
                                    makeCapsuleField({-0.2, 0.3, 0}, {1.5, 0.3, 0}, 0.15),
                                    makeCapsuleField({-0.2, -0.3, 0}, {1.5, -0.3, 0}, 0.15)});
  IsosurfaceReport report;
  return isosurface(*field, {.edge = 0.06}, report);
}

}  // namespace

TEST(TetParts, AreCountedInOneTetrahedron) {
  const geometry::TetMesh tet = oneTet(4);
  EXPECT_EQ(partsIn(ballAt({0.8, 0.8, 0.8}, 0.5), tet), 1u);
  EXPECT_EQ(partsIn(together(ballAt({0.5, 0.5, 0.5}, 0.3), ballAt({1.5, 0.6, 0.6}, 0.3)), tet), 2u);
  // Across a face, across an edge, round a corner.
  EXPECT_EQ(partsIn(ballAt({1, 1, 0.1}, 0.5), tet), 1u);
  EXPECT_EQ(partsIn(ballAt({1, 0.1, 0.1}, 0.5), tet), 1u);
  EXPECT_EQ(partsIn(ballAt({0.1, 0.1, 0.1}, 0.5), tet), 1u);
  EXPECT_EQ(partsIn(together(ballAt({1, 0.1, 0.1}, 0.5), ballAt({2.5, 0.1, 0.1}, 0.5)), tet), 2u);
  // A shell is one part, also where its two surfaces cross faces in two contours, or nothing but the inner
  // one is within.
  const geometry::TriMesh shell =
      together(ballAt({0.8, 0.8, 0.8}, 0.6, 3), insideOut(ballAt({0.8, 0.8, 0.8}, 0.4, 3)));
  EXPECT_EQ(partsIn(shell, tet), 1u);
  geometry::TriMesh cut = shell;
  for (Vec3& p : cut.positions) p.z() -= 0.8;
  EXPECT_EQ(partsIn(cut, tet), 1u);
  for (Vec3& p : cut.positions) p.y() -= 0.8;
  EXPECT_EQ(partsIn(cut, tet), 1u);
  for (Vec3& p : cut.positions) p.x() -= 0.8;
  EXPECT_EQ(partsIn(cut, tet), 1u);
  const geometry::TriMesh cavity =
      together(ballAt({0, 0, 0}, 9, 3), insideOut(ballAt({0.8, 0.8, 0.8}, 0.4, 3)));
  EXPECT_EQ(partsIn(cavity, tet), 1u);
  // A ball in the cavity is another.
  EXPECT_EQ(partsIn(together(cavity, ballAt({0.8, 0.8, 0.8}, 0.2)), tet), 2u);
  EXPECT_EQ(partsIn(together(shell, ballAt({0.8, 0.8, 0.8}, 0.2)), tet), 2u);
  // A bar through the tetrahedron, and two, and a ring that comes in twice.
  EXPECT_EQ(partsIn(box({-1, 0.5, 0.5}, {6, 0.8, 0.8}), tet), 1u);
  EXPECT_EQ(partsIn(together(box({-1, 0.5, 0.5}, {6, 0.8, 0.8}), box({-1, 1.5, 0.5}, {6, 1.8, 0.8})), tet),
            2u);
  // The tetrahedron within the solid, and the solid with a slit through it.
  EXPECT_EQ(partsIn(box(Vec3::Constant(-1), Vec3::Constant(9)), tet), 1u);
  EXPECT_EQ(partsIn(together(box({-1, -1, -1}, {9, 9, 1}), box({-1, -1, 1.2}, {9, 9, 9})), tet), 2u);
  EXPECT_EQ(partsIn(box({10, 10, 10}, {11, 11, 11}), tet), 0u);
}

TEST(CageParts, TwoFingersInOneTetrahedronAreApart) {
  const geometry::TriMesh surface =
      together(box({0.3, 0.3, -1}, {0.6, 0.6, 1.5}), box({1.3, 0.3, -1}, {1.6, 0.6, 1.5}));
  geometry::TetMesh rest = oneTet(4);
  rest.positions.push_back({0, 0, -6});  // both go on below
  rest.tets.push_back({0, 2, 1, 4});
  PartsReport report;
  const Cage cage = separateParts(surface, makeCage(rest), &report);
  EXPECT_EQ(report.doubled, 2u);
  EXPECT_EQ(report.copies, 2u);
  EXPECT_EQ(report.most, 2u);
  EXPECT_EQ(report.pieces, 2u);
  EXPECT_EQ(cage.rest.tets.size(), 4u);
  EXPECT_EQ(cage.rest.positions.size(), 10u);
  const SurfaceCopies copies = assignSurface(surface, cage);
  const CopyStatistics before = copyStatistics(assignSurface(surface, makeCage(rest)));
  EXPECT_EQ(copyStatistics(copies).copies, before.copies);
  // Neighbours hold the same finger.
  for (uint32_t t = 0; t < 4; ++t) {
    std::set<bool> fingers;
    for (const uint32_t triangle : copies.trianglesOf.row(t)) fingers.insert(triangle >= 12);
    EXPECT_EQ(fingers.size(), 1u);
    for (const uint32_t other : cage.neighbours[t])
      if (other != kNoIndex) {
        EXPECT_EQ(copies.trianglesOf.row(other)[0] >= 12, *fingers.begin());
      }
  }
}

TEST(CageParts, FingersOfAHandMoveApart) {
  const geometry::TriMesh surface = hand();
  // Tetrahedra so coarse that both fingers pass through the same ones.
  const Cage coarse = makeCageAround(surface, {.tets = 12});
  PartsReport report;
  const Cage cage = separateParts(surface, coarse, &report);
  EXPECT_EQ(report.pieces, 1u) << "the palm holds the fingers together";
  EXPECT_TRUE(geometry::tetReport(cage.rest).sound());
  const SurfaceCopies copies = assignSurface(surface, cage);
  EXPECT_EQ(copyStatistics(copies).copies, copyStatistics(assignSurface(surface, coarse)).copies);
  // No tetrahedron has the ends of both fingers.
  for (uint32_t t = 0; t < cage.rest.tets.size(); ++t) {
    bool left = false, right = false;
    for (const uint32_t k : copies.trianglesOf.row(t)) {
      const Vec3& p = surface.positions[surface.triangles[k][0]];
      if (p.x() > 0.4) (p.y() > 0 ? left : right) = true;
    }
    if (left && right) {
      // Then it holds the place where they are joined as well.
      double least = 10;
      for (const uint32_t v : cage.rest.tets[t]) least = std::min(least, cage.rest.positions[v].x());
      EXPECT_LT(least, 0.2);
    }
  }
}

TEST(CageParts, OfShapesThatComeBackAreSoundAndLoseNothing) {
  const geometry::TriMesh ring = [] {
    sdf::IsosurfaceReport report;
    return sdf::isosurface(*sdf::makeTorusField(Vec3::Zero(), Vec3(0.2, 1, 0.1), 1, 0.2), {.edge = 0.12},
                           report);
  }();
  for (const geometry::TriMesh& surface : {ring, rabbit(0.025), hand()})
    for (const uint32_t tets : {6u, 40u}) {
      const Cage whole = makeCageAround(surface, {.tets = tets});
      PartsReport report;
      const Cage cage = separateParts(surface, whole, &report);
      const geometry::TetReport sound = geometry::tetReport(cage.rest);
      EXPECT_EQ(sound.duplicateTets + sound.inverted + sound.degenerate + sound.isolatedVertices, 0u) << tets;
      EXPECT_EQ(report.pieces, 1u);
      const SurfaceCopies copies = assignSurface(surface, cage);
      EXPECT_EQ(copyStatistics(copies).copies, copyStatistics(assignSurface(surface, whole)).copies);
    }
}

TEST(CageParts, LeavesAWholeSolidAlone) {
  const geometry::TriMesh surface = splitSphere(0.9, 3);
  PartsReport report;
  const Cage cage = separateParts(surface, makeCage(kuhnCage(3)), &report);
  EXPECT_EQ(report.doubled, 0u);
  EXPECT_EQ(report.vertices, 0u);
  EXPECT_EQ(report.pieces, 1u);
  EXPECT_EQ(cage.rest.tets.size(), 120u);  // 114 with surface, 6 inside
  EXPECT_TRUE(std::is_sorted(report.source.begin(), report.source.end()));
}

TEST(CageParts, AreDoubledThatOverlapWithoutParts) {
  geometry::TetMesh twice = oneTet(4);
  twice.tets.push_back(twice.tets[0]);
  for (int k = 0; k < 4; ++k) twice.positions.push_back(twice.positions[size_t(k)]);
  twice.tets[1] = {4, 5, 6, 7};
  EXPECT_THROW(assignSurface(ballAt({0.8, 0.8, 0.8}, 0.5), makeCage(twice)), Error);
  const auto two = together(ballAt({0.5, 0.5, 0.5}, 0.3), ballAt({1.5, 0.6, 0.6}, 0.3));
  const SurfaceCopies copies = assignSurface(two, makeCage(twice));
  EXPECT_EQ(copies.trianglesOf.row(0).size(), 320u);
  EXPECT_EQ(copies.trianglesOf.row(1).size(), 320u);
}

TEST(CageParts, TellsWhatIsOutside) {
  EXPECT_THROW(separateParts(ballAt({3, 3, 3}, 0.5), makeCage(oneTet(4))), Error);
}

}  // namespace sunder::soft
