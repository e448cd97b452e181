#include "sunder/soft/spheres/volume_points.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/mesh_view.h"
#include "sunder/soft/spheres/solid_points.h"

#include "soft/wall_cases.h"

#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::soft {

namespace {

Vec3 placeOf(const Embedded& e, const VolumePoints& points, size_t p) {
  Vec3 at = Vec3::Zero();
  for (int k = 0; k < 4; ++k)
    at += points.weights[p][k] * e.cage.rest.positions[e.cage.rest.tets[points.tets[p]][size_t(k)]];
  return at;
}

VolumePoints pointsIn(const Embedded& e, double spacing) {
  return makeVolumePoints(e.surface, e.cage, e.copies, e.walls, sdf::MeshField(e.surface), spacing);
}

}  // namespace

TEST(VolumePoints, AddUpToTheSolidAndLieInIt) {
  for (const NamedMesh& solid : solids()) {
    const Embedded e(turned(solid.mesh, 19), boxCage(2, 0.2));
    const geometry::MassProperties whole = geometry::massProperties(e.surface);
    const double spacing = volumeSpacing(whole.volume, geometry::surfaceArea(e.surface), 0.12);
    const VolumePoints points = pointsIn(e, spacing);
    const sdf::MeshField field(e.surface);
    double volume = 0;
    Vec3 centre = Vec3::Zero();
    for (size_t p = 0; p < points.size(); ++p) {
      const Vec3 at = placeOf(e, points, p);
      EXPECT_GT(points.volumes[p], 0);
      EXPECT_LT(field.value(at), 0) << solid.name;
      volume += points.volumes[p];
      centre += points.volumes[p] * at;
    }
    EXPECT_NEAR(volume, whole.volume, 1e-10) << solid.name;
    EXPECT_LT((centre / volume - whole.centre).norm(), 0.2 * spacing) << solid.name;
  }
}

// Below a face along the grid volumes lie as deep as the solid does, for wherever the grid begins.
TEST(VolumePoints, MeetAFlatFaceExactly) {
  for (const double half : {0.61, 0.66, 0.7}) {
    geometry::TriMesh box = shapes::makeBox({.size = Vec3::Constant(2 * half)});
    const Embedded e(box, boxCage(2));
    const VolumePoints points = pointsIn(e, 0.1);
    // First moment of what is at most 0.35 from the lower face, in the middle of it: rows of the grid.
    double volume = 0, moment = 0;
    for (size_t p = 0; p < points.size(); ++p) {
      const Vec3 at = placeOf(e, points, p);
      if (std::abs(at.x()) > half - 0.15 || std::abs(at.z()) > half - 0.15) continue;
      volume += points.volumes[p];
      moment += points.volumes[p] * at.y();
    }
    EXPECT_NEAR(moment / volume, 0, 1e-3) << half;
  }
}

TEST(VolumePoints, DoNotDependOnThreads) {
  const Embedded e(earedHead(), boxCage(3, 0.1));
  std::vector<double> sums;
  for (const unsigned threads : {1u, 4u}) {
    const ThreadLimit limit(threads);
    const VolumePoints points = pointsIn(e, 0.08);
    double sum = double(points.size());
    for (size_t p = 0; p < points.size(); ++p) sum += points.volumes[p] * double(p) + points.weights[p][1];
    sums.push_back(sum);
  }
  EXPECT_EQ(sums[0], sums[1]);
}

TEST(VolumePoints, RefuseMoreThanThereMayBe) {
  const Embedded e(earedHead(), boxCage(2));
  EXPECT_THROW(pointsIn(e, 1e-4), Error);
  EXPECT_EQ(volumeSpacing(0.01, 2, 0.1), 0.01);  // a plate of a centimetre
  EXPECT_EQ(volumeSpacing(1, 6, 0.1), 0.1);
  EXPECT_NEAR(volumeSpacing(0.1, 200, 0.1), std::cbrt(0.1 / kMostVolumePoints), 1e-12);  // a vast sheet
}

}  // namespace sunder::soft
