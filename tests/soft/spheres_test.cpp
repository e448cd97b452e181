#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/soft/cage/cage_parts.h"
#include "sunder/soft/spheres/collision_spheres.h"
#include "sunder/spatial/query/triangle_distance.h"

#include "soft/wall_cases.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::soft {

namespace {

struct WithSpheres : Embedded {
  sdf::MeshField field;
  CollisionSpheres spheres;

  WithSpheres(const geometry::TriMesh& mesh, Cage given, const SphereSettings& settings = {})
      : Embedded(mesh, std::move(given)),
        field(surface),
        spheres(makeSpheres(surface, cage, copies, walls, field, settings)) {}

  Vec3 centre(size_t s) const {
    Vec3 x = Vec3::Zero();
    for (int k = 0; k < 4; ++k)
      x += spheres.weights[s][k] *
           cage.rest.positions[cage.rest.tets[spheres.tets[s]][static_cast<size_t>(k)]];
    return x;
  }
  double toPiece(size_t s) const {
    std::vector<std::array<Vec3, 3>> triangles;
    pieceTriangles(cage, copies, walls, spheres.tets[s], triangles);
    double squared = std::numeric_limits<double>::infinity();
    for (const auto& t : triangles)
      squared = std::min(
          squared,
          (spatial::closestPointOnTriangle(centre(s), t[0], t[1], t[2]).point - centre(s)).squaredNorm());
    return std::sqrt(squared);
  }
};

}  // namespace

TEST(CollisionSpheres, AreAtLeastThreeInEveryTetrahedronAndInsideSolidAndTetrahedron) {
  for (const NamedMesh& solid : solids())
    for (const uint32_t n : {1u, 3u}) {
      const WithSpheres e(turned(solid.mesh, 7), boxCage(n, 0.2));
      const std::string what = solid.name + " in " + std::to_string(n);
      EXPECT_EQ(e.spheres.counts.bare, 0u) << what;
      for (uint32_t t = 0; t < e.pieces.size(); ++t) {
        const uint32_t count = e.spheres.start[t + 1] - e.spheres.start[t];
        if (e.pieces[t].volume > 1e-9 * e.tetVolume(t))
          EXPECT_GE(count, 3u) << what;
        else
          EXPECT_EQ(count, 0u) << what;
        for (uint32_t s = e.spheres.start[t]; s < e.spheres.start[t + 1]; ++s)
          EXPECT_EQ(e.spheres.tets[s], t);
      }
      for (size_t s = 0; s < e.spheres.size(); ++s) {
        EXPECT_GE(e.spheres.weights[s].minCoeff(), 0) << what;
        EXPECT_NEAR(e.spheres.weights[s].sum(), 1, 1e-12);
        const double depth = -e.field.value(e.centre(s));
        EXPECT_GT(depth, 0) << what;
        EXPECT_GT(e.spheres.radii[s], 0);
        EXPECT_LE(e.spheres.radii[s], depth * (1 + 1e-9)) << what;
      }
    }
}

TEST(CollisionSpheres, ThatAreLeftOutAreASpacingFromTheBoundaryOfTheirPiece) {
  const geometry::TriMesh surface = turned(earedHead(12), 2);
  const double r = 0.03;
  const WithSpheres all(surface, boxCage(1), {.radius = r, .tangent = false, .cull = false});
  const WithSpheres some(surface, boxCage(1), {.radius = r, .tangent = false});
  EXPECT_EQ(all.spheres.counts.culled, 0u);
  EXPECT_GT(some.spheres.counts.culled, 100u);
  EXPECT_EQ(all.spheres.size(), some.spheres.size() + some.spheres.counts.culled);
  size_t s = 0, left = 0;
  for (size_t i = 0; i < all.spheres.size(); ++i) {
    if (s < some.spheres.size() && all.spheres.weights[i] == some.spheres.weights[s] &&
        all.spheres.tets[i] == some.spheres.tets[s]) {
      ++s;
      continue;
    }
    ++left;
    EXPECT_GE(all.toPiece(i), 2 * r * (1 - 1e-9));
  }
  EXPECT_EQ(left, some.spheres.counts.culled);
}

TEST(CollisionSpheres, TouchTheSurfaceEverywhere) {
  const geometry::TriMesh surface = shapes::makeIcosphere({.radius = 0.9, .frequency = 12});
  const double r = 0.05;
  const WithSpheres e(surface, boxCage(2, 0.2), {.radius = r});
  size_t tangent = 0;
  for (size_t s = 0; s < e.spheres.size(); ++s) {
    if (e.spheres.kinds[s] != SphereKind::Tangent) continue;
    ++tangent;
    EXPECT_NEAR(-e.field.value(e.centre(s)), e.spheres.radii[s], 1e-3 * r);
  }
  EXPECT_EQ(tangent, e.spheres.counts.tangent);
  // No place on the surface is further than the diagonal of a cell from where a sphere touches it.
  for (const Vec3& p : surface.positions) {
    double nearest = std::numeric_limits<double>::infinity();
    for (size_t s = 0; s < e.spheres.size(); ++s)
      nearest = std::min(nearest, (e.centre(s) - p).norm() - e.spheres.radii[s]);
    EXPECT_LT(nearest, 2 * std::sqrt(3.0) * r);
  }
}

TEST(CollisionSpheres, HaveTheRadiusThatWasAskedForWhereTheyMayStickOut) {
  const WithSpheres e(turned(earedHead(12), 2), boxCage(1), {.radius = 0.04, .fit = false, .tangent = false});
  for (size_t s = 0; s < e.spheres.size(); ++s) EXPECT_EQ(e.spheres.radii[s], 0.04);
  EXPECT_EQ(e.spheres.counts.halved, 0u);
}

TEST(CollisionSpheres, AreHalvedInSmallPartsAndStandForSlivers) {
  // Plates a thousandth and a millionth thick, with a radius of a tenth.
  for (const double thickness : {1e-3, 1e-6}) {
    const geometry::TriMesh plate = turned(shapes::makeBox({.size = Vec3(1.2, thickness, 0.8)}), 5);
    const WithSpheres e(plate, boxCage(2, 0.1), {.radius = 0.1});
    EXPECT_GT(e.spheres.counts.halved, 0u);
    EXPECT_EQ(e.spheres.counts.bare, 0u);
    EXPECT_EQ(e.spheres.counts.sliver > 0, thickness < 1e-4);
    EXPECT_FALSE(e.spheres.warnings().empty());
    for (uint32_t t = 0; t < e.pieces.size(); ++t) {
      if (e.pieces[t].volume <= 1e-9 * e.tetVolume(t)) continue;
      EXPECT_GE(e.spheres.start[t + 1] - e.spheres.start[t], 3u);
    }
    for (size_t s = 0; s < e.spheres.size(); ++s) {
      EXPECT_LT(e.field.value(e.centre(s)), 0);
      EXPECT_GE(e.spheres.weights[s].minCoeff(), 0);
      EXPECT_GT(e.spheres.radii[s], 0);
    }
  }
}

TEST(CollisionSpheres, OfPartsThatShareAPlaceStayInTheirPart) {
  const geometry::TriMesh fingers = twoFingers(0.1);
  PartsReport report;
  const WithSpheres e(fingers, separateParts(fingers, boxCage(1), &report), {.radius = 0.03});
  for (size_t s = 0; s < e.spheres.size(); ++s) {
    const Vec3 c = e.centre(s);
    if (c.y() < -0.2) continue;
    // Every part's centre of mass is on the side of its own finger.
    const Vec3 mass = e.pieces[e.spheres.tets[s]].centre;
    EXPECT_TRUE(mass.y() <= 0.2 || mass.x() * c.x() > 0);
  }
}

TEST(CollisionSpheres, HaveTheSameBitsForAnyNumberOfThreads) {
  const geometry::TriMesh surface = turned(earedHead(12), 3);
  std::vector<CollisionSpheres> made;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    made.push_back(WithSpheres(surface, boxCage(2, 0.2)).spheres);
  }
  for (const CollisionSpheres& other : made) {
    EXPECT_EQ(made[0].weights, other.weights);
    EXPECT_EQ(made[0].radii, other.radii);
    EXPECT_EQ(made[0].start, other.start);
  }
}

TEST(CollisionSpheres, RefuseRadiiThatCannotBe) {
  const geometry::TriMesh surface = shapes::makeIcosphere({.radius = 0.9, .frequency = 3});
  EXPECT_THROW(WithSpheres(surface, boxCage(1), {.radius = -1}), Error);
  EXPECT_THROW(WithSpheres(surface, boxCage(1), {.radius = std::numeric_limits<double>::quiet_NaN()}), Error);
  EXPECT_THROW(WithSpheres(surface, boxCage(1), {.radius = 1e-5}), Error);
}

}  // namespace sunder::soft
