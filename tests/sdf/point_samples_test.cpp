#include "sunder/sdf/point_samples.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/shapes/catalogue.h"

#include <cmath>

namespace sunder::sdf {
namespace {

TEST(PointSamples, SurfaceSamplesLieOnTheirTrianglesAndKeepApart) {
  const geometry::TriMesh mesh = shapes::makeShape("torus");
  const MeshField field(mesh);
  const std::vector<SurfaceSample> samples = sampleSurface(mesh, {.count = 500});
  ASSERT_EQ(samples.size(), 500u);
  double area = 0;
  for (const auto& [a, b, c] : mesh.triangles)
    area += 0.5 * (mesh.positions[b] - mesh.positions[a]).cross(mesh.positions[c] - mesh.positions[a]).norm();
  // Hexagonal packing of so many points on that area is the best there is; random points would be at 0.01.
  const double best = std::sqrt(2 * area / (std::sqrt(3.0) * 500));
  double separation = 1e9;
  for (size_t i = 0; i < samples.size(); ++i) {
    ASSERT_NEAR(field.value(samples[i].point), 0, 1e-9);
    const auto& [a, b, c] = mesh.triangles[samples[i].triangle];
    ASSERT_NEAR(
        (samples[i].point - mesh.positions[a])
            .dot((mesh.positions[b] - mesh.positions[a]).cross(mesh.positions[c] - mesh.positions[a])),
        0, 1e-9);
    for (size_t j = 0; j < i; ++j)
      separation = std::min(separation, (samples[i].point - samples[j].point).norm());
  }
  EXPECT_GT(separation, 0.6 * best);
}

TEST(PointSamples, ScatteredCandidatesAreUniformByArea) {
  // A box of unlike sides: counts per face by area, each within five deviations of a binomial count.
  const geometry::TriMesh mesh = shapes::makeBox({.size = Vec3(1, 2, 4), .nx = 2, .ny = 3, .nz = 5});
  const size_t n = 20000;
  std::vector<size_t> faces(3, 0);
  for (const SurfaceSample& s : scatterOnSurface(mesh, n, 9)) {
    const Vec3 q = s.point.cwiseAbs().cwiseQuotient(Vec3(0.5, 1, 2));
    int axis;
    ASSERT_NEAR(q.maxCoeff(&axis), 1, 1e-12);
    ++faces[size_t(axis)];
  }
  const double areas[3] = {16, 8, 4};
  for (size_t d = 0; d < 3; ++d) {
    const double p = areas[d] / 28;
    EXPECT_NEAR(double(faces[d]), p * n, 5 * std::sqrt(n * p * (1 - p)));
  }
}

TEST(PointSamples, InsideSamplesAreInsideAtTheirDepth) {
  const FieldPtr torus = makeTorusField({1, 2, 3}, Vec3(1, 1, 1), 1, 0.3);
  for (const double depth : {0.0, 0.1}) {
    const std::vector<Vec3> points = sampleInside(*torus, {.count = 400}, depth);
    ASSERT_EQ(points.size(), 400u);
    for (const Vec3& p : points) EXPECT_LT(torus->value(p), -depth);
    double separation = 1e9;
    for (size_t i = 0; i < points.size(); ++i)
      for (size_t j = 0; j < i; ++j) separation = std::min(separation, (points[i] - points[j]).norm());
    const double volume = 2 * kPi * kPi * (0.3 - depth) * (0.3 - depth);
    EXPECT_GT(separation, 0.6 * std::cbrt(volume / 400));
  }
  EXPECT_THROW(sampleInside(*torus, {.count = 10}, 0.5), Error);
  EXPECT_THROW(sampleInside(*makePlaneField(Vec3::UnitX(), 0), {.count = 10}), Error);
  EXPECT_THROW(sampleSurface(geometry::TriMesh{}, {.count = 10}), Error);
  EXPECT_THROW(sampleInside(*torus, {.count = 10, .candidates = 0}), Error);
}

TEST(PointSamples, BodiesHaveBothKindsAndTheSamePointsForAnyThreads) {
  const geometry::TriMesh mesh = shapes::makeIcosphere({.radius = 1, .frequency = 12});
  const MeshField field(mesh);
  const auto run = [&](unsigned threads) {
    const ThreadLimit limit(threads);
    return sampleBody(mesh, field, 300, 120);
  };
  const BodySamples one = run(1), three = run(3);
  ASSERT_EQ(one.points.size(), 420u);
  EXPECT_EQ(one.points, three.points);
  for (size_t i = 0; i < one.points.size(); ++i) {
    EXPECT_EQ(one.surface[i], i < 300);
    const double value = field.value(one.points[i]);
    if (i < 300) {
      EXPECT_NEAR(value, 0, 1e-9);
    } else {
      EXPECT_LT(value, -0.05);
    }
  }
  // A sheet so thin that no point keeps the usual distance.
  const geometry::TriMesh plate = shapes::makeBox({.size = Vec3(1, 0.01, 1)});
  EXPECT_EQ(sampleBody(plate, MeshField(plate), 50, 50).points.size(), 100u);
}

}  // namespace
}  // namespace sunder::sdf
