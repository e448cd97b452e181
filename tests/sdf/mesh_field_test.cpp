#include "sunder/sdf/mesh_field.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/base/stop.h"
#include "sunder/sdf/hp/hp_build.h"
#include "sunder/shapes/round.h"

#include <gtest/gtest.h>

namespace sunder::sdf {
namespace {

using geometry::TriMesh;

TriMesh ball(int n, double radius = 1, const Vec3& centre = Vec3::Zero()) {
  shapes::RippledSphereShape shape;
  shape.n = n;
  TriMesh mesh = shapes::makeRippledSphere(shape);
  for (Vec3& p : mesh.positions) p = centre + radius * p.normalized();
  return mesh;
}

TriMesh cube(double half) {
  TriMesh mesh;
  for (int i = 0; i < 8; ++i)
    mesh.positions.push_back(half * Vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1));
  mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return mesh;
}

void append(TriMesh& mesh, const TriMesh& other, bool flip = false) {
  const auto offset = static_cast<uint32_t>(mesh.positions.size());
  mesh.positions.insert(mesh.positions.end(), other.positions.begin(), other.positions.end());
  for (geometry::Triangle t : other.triangles) {
    if (flip) std::swap(t[1], t[2]);
    mesh.triangles.push_back({t[0] + offset, t[1] + offset, t[2] + offset});
  }
}

std::vector<Vec3> randomPoints(size_t count, double half, uint64_t seed) {
  RandomStream random(seed);
  std::vector<Vec3> points(count);
  for (Vec3& p : points) p = random.pointIn({Vec3::Constant(-half), Vec3::Constant(half)});
  return points;
}

TEST(MeshField, SphereWithinItsSagitta) {
  const TriMesh mesh = ball(20);
  const MeshField field(mesh);
  EXPECT_EQ(field.sign().rule, SignRule::PseudoNormal);
  EXPECT_TRUE(field.sign().problems().empty());
  // Largest distance from the sphere to a face: at a face's centre.
  double sagitta = 0;
  for (const auto& t : mesh.triangles)
    sagitta = std::max(sagitta,
                       1 - ((mesh.positions[t[0]] + mesh.positions[t[1]] + mesh.positions[t[2]]) / 3).norm());
  const std::vector<Vec3> points = randomPoints(100'000, 1.3, 1);
  std::vector<double> values(points.size());
  valuesOf(field, points, values);
  size_t wrong = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const double exact = points[i].norm() - 1;
    EXPECT_NEAR(values[i], exact, 1.05 * sagitta);
    wrong += std::abs(exact) > 1.05 * sagitta && (values[i] < 0) != (exact < 0);
  }
  EXPECT_EQ(wrong, 0u);
}

// Points whose nearest feature is a corner or an edge, where normals of single faces would get the sign
// wrong.
TEST(MeshField, CubeSignsAreRightAtEdgesAndCorners) {
  const MeshField field(cube(0.5));
  const std::vector<Vec3> points = randomPoints(100'000, 1, 2);
  std::vector<FieldSample> samples(points.size());
  samplesOf(field, points, samples);
  for (size_t i = 0; i < points.size(); ++i) {
    const Vec3 q = points[i].cwiseAbs() - Vec3::Constant(0.5);
    const double exact = q.cwiseMax(0.0).norm() + std::min(q.maxCoeff(), 0.0);
    ASSERT_NEAR(samples[i].value, exact, 1e-14);
    ASSERT_NEAR(samples[i].gradient.norm(), 1, 1e-12);
  }
  EXPECT_EQ(field.value({0.5, 0.5, 0.5}), 0);
  EXPECT_NEAR(field.sample({0.5, 0.1, 0.2}).gradient.x(), 1, 1e-15);
}

// A spike: at its tip and along its edges faces on the far side look away.
TEST(MeshField, ThinSpikesKeepTheirSign) {
  TriMesh mesh;
  mesh.positions = {{0, 0, 0}, {0.1, 0, 0}, {0.05, 0, 0.08}, {0.9, 2, 0.3}};
  mesh.triangles = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
  const MeshField field(mesh);
  const std::vector<Vec3> points = randomPoints(20'000, 2.5, 3);
  for (const Vec3& p : points) EXPECT_EQ(field.value(p) < 0, field.winding().exact(p) > 0.5);
}

TEST(MeshField, InsideOutIsTurned) {
  TriMesh mesh = cube(0.5);
  for (auto& t : mesh.triangles) std::swap(t[1], t[2]);
  const MeshField field(mesh);
  EXPECT_TRUE(field.sign().turned);
  EXPECT_NEAR(field.value(Vec3::Zero()), -0.5, 1e-15);
  EXPECT_NEAR(field.value({0, 0, 2}), 1.5, 1e-15);
  const MeshField forced(mesh, SignRule::Winding);
  EXPECT_NEAR(forced.value(Vec3(0.1, 0, 0)), -0.4, 1e-15);
}

TEST(MeshField, HollowBodies) {
  TriMesh hollow = ball(12, 1);
  append(hollow, ball(8, 0.5), true);  // a cavity: turned inwards
  const MeshField good(hollow);
  EXPECT_EQ(good.sign().rule, SignRule::PseudoNormal);
  EXPECT_GT(good.value(Vec3::Zero()), 0.4);
  EXPECT_LT(good.value({0.75, 0, 0}), -0.2);

  TriMesh solid = ball(12, 1);
  append(solid, ball(8, 0.5));  // a ball inside a ball: all of it is solid
  const MeshField full(solid);
  EXPECT_EQ(full.sign().rule, SignRule::Winding);
  EXPECT_EQ(full.sign().misplacedShells, 1u);
  EXPECT_LT(full.value({0.1, 0, 0}), 0);
  EXPECT_LT(full.value({0.75, 0, 0}), 0);
  EXPECT_GT(full.value({1.5, 0, 0}), 0);
}

TEST(MeshField, DirtyMeshesUseTheWindingNumber) {
  TriMesh open = ball(16);
  open.triangles.resize(open.triangles.size() - 5);
  const MeshField holed(open);
  EXPECT_EQ(holed.sign().rule, SignRule::Winding);
  EXPECT_GT(holed.sign().openEdges, 0u);
  EXPECT_FALSE(holed.sign().problems().empty());
  for (const Vec3& p : randomPoints(5000, 1.2, 4)) {
    if (std::abs(p.norm() - 1) < 0.1) continue;
    EXPECT_EQ(holed.value(p) < 0, p.norm() < 1);
  }

  TriMesh flipped = ball(16);
  for (size_t t = 0; t < 40; ++t) std::swap(flipped.triangles[7 * t][1], flipped.triangles[7 * t][2]);
  const MeshField mixed(flipped);
  EXPECT_EQ(mixed.sign().rule, SignRule::Winding);
  EXPECT_GT(mixed.sign().flippedEdges, 0u);

  TriMesh crossing = ball(12, 1);
  append(crossing, ball(12, 1, {0.7, 0.1, 0.2}));
  const MeshField both(crossing);
  EXPECT_EQ(both.sign().rule, SignRule::Winding);
  EXPECT_GT(both.sign().crossings, 0u);
  EXPECT_LT(both.value({0.35, 0.05, 0.1}), 0);
  EXPECT_LT(both.value({1.4, 0.1, 0.2}), 0);
}

TEST(MeshField, RefusesNothing) {
  EXPECT_THROW(MeshField(TriMesh{}), Error);
  TriMesh bad = cube(1);
  bad.positions[3].x() = NAN;
  EXPECT_THROW(MeshField{bad}, Error);
}

TEST(MeshField, SameBitsForAnyNumberOfThreads) {
  const MeshField field(ball(20));
  const std::vector<Vec3> points = randomPoints(30'000, 1.3, 6);
  std::vector<double> first(points.size()), other(points.size());
  {
    const ThreadLimit one(1);
    valuesOf(field, points, first);
  }
  const ThreadLimit four(4);
  valuesOf(field, points, other);
  EXPECT_EQ(first, other);
}

// A shell much thinner than the cells that its error asks for: without care its inside is lost.
TEST(MeshField, ThinWallsKeepTheirInside) {
  TriMesh shell = ball(16, 1);
  append(shell, ball(16, 0.95), true);
  const MeshField field(shell);
  const std::vector<Vec3> places = field.thinPlaces(0.1);
  EXPECT_GE(places.size(), 2 * 8 * 16 * 16u);
  for (const Vec3& p : places) EXPECT_LT(field.value(p), -0.015);
  EXPECT_TRUE(field.thinPlaces(0.03).empty());

  HpSettings s;
  s.error = 1e-2;
  s.thinReach = 0;
  HpReport report;
  const HpForest coarse = buildHp(field, s, report);
  size_t lost = 0;
  for (const Vec3& p : places) lost += evaluate(coarse, p) >= 0;
  EXPECT_GT(lost, places.size() / 10) << "the wall was not lost: the test shows nothing";
  s.thinReach = 16;
  const HpForest fine = buildHp(field, s, report);
  EXPECT_EQ(report.lostPlaces, 0u);
  EXPECT_GT(report.thinPlaces, 0u);
  for (const Vec3& p : places) EXPECT_LT(evaluate(fine, p), 0);
}

// Where many triangles are in one place, a block of points takes seconds.
TEST(MeshField, ARequestToStopEndsABlockOfPoints) {
  const MeshField field(cube(1));
  const std::vector<Vec3> points(1000, Vec3(0.1, 0.2, 0.3));
  std::vector<double> values(points.size());
  std::vector<FieldSample> samples(points.size());
  requestStop();
  EXPECT_THROW(field.values(points, values), Interrupted);
  EXPECT_THROW(field.samples(points, samples), Interrupted);
  clearStop();
  EXPECT_NO_THROW(field.values(points, values));
}

}  // namespace
}  // namespace sunder::sdf
