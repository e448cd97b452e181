#include "sunder/tet/stuffing.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/geometry/mesh_report.h"
#include "sunder/geometry/tet_mesh.h"

#include "tet/tet_cases.h"

#include <cstring>

#include <gtest/gtest.h>

namespace sunder::tet {
namespace {

// Angles of every tetrahedron by a formula other than the library's: from the areas and the volume by atan2.
std::pair<double, double> angleRange(const geometry::TetMesh& mesh) {
  double low = 180, high = 0;
  for (const geometry::Tetrahedron& t : mesh.tets) {
    for (int i = 0; i < 4; ++i)
      for (int j = i + 1; j < 4; ++j) {
        int k = 0;
        while (k == i || k == j) ++k;
        int l = 6 - i - j - k;
        const Vec3 &p = mesh.positions[t[size_t(i)]], &q = mesh.positions[t[size_t(j)]];
        const Vec3 axis = (q - p).normalized();
        Vec3 u = mesh.positions[t[size_t(k)]] - p, v = mesh.positions[t[size_t(l)]] - p;
        u -= axis * axis.dot(u);
        v -= axis * axis.dot(v);
        const double angle = std::atan2(u.cross(v).norm(), u.dot(v)) * 180 / kPi;
        low = std::min(low, angle);
        high = std::max(high, angle);
      }
  }
  return {low, high};
}

void expectGood(const geometry::TetMesh& mesh, const FillReport& report) {
  ASSERT_FALSE(mesh.tets.empty());
  const geometry::TetReport r = geometry::tetReport(mesh);
  EXPECT_EQ(r.inverted, 0u);
  EXPECT_EQ(r.degenerate, 0u);
  EXPECT_EQ(r.duplicateTets, 0u);
  EXPECT_EQ(r.nonManifoldFaces, 0u);
  EXPECT_EQ(r.overlappingFaces, 0u);
  EXPECT_EQ(r.isolatedVertices, 0u);
  const auto [low, high] = angleRange(mesh);
  EXPECT_GE(low, kFillSmallestAngle);
  EXPECT_LE(high, kFillLargestAngle);
  EXPECT_NEAR(low, report.smallestAngle, 1e-5);
  EXPECT_NEAR(high, report.largestAngle, 1e-5);
  EXPECT_EQ(report.tets, mesh.tets.size());
  EXPECT_EQ(report.vertices, mesh.positions.size());
}

void expectManifold(const geometry::TetMesh& mesh) {
  const geometry::TetBoundary boundary = geometry::boundarySurface(mesh);
  const geometry::MeshReport r = geometry::meshReport(geometry::MeshView(boundary.surface));
  EXPECT_TRUE(r.watertight);
  EXPECT_TRUE(r.manifold());
  EXPECT_TRUE(r.consistentlyOriented);
  EXPECT_FALSE(r.insideOut);
}

TEST(Stuffing, SphereConverges) {
  const FunctionField ball = ballField();
  for (const int levels : {0, 3}) {
    double before = 0;
    for (const double edge : {0.2, 0.1, 0.05}) {
      FillReport report;
      const geometry::TetMesh mesh = fill(ball, {.edge = edge, .levels = levels}, report);
      expectGood(mesh, report);
      expectManifold(mesh);
      const double error = std::abs(geometry::totalVolume(mesh) - 4 * kPi / 3);
      EXPECT_LT(error, 1.2 * edge * edge);
      if (before > 0) {
        EXPECT_LT(error, before / 3);
      }
      before = error;
      for (const Vec3& p : geometry::boundarySurface(mesh).surface.positions)
        EXPECT_NEAR(p.norm(), 1, 2e-5 * edge);
    }
  }
}

TEST(Stuffing, ShapesAtThreeSizes) {
  const FunctionField torus = sdf::torusField(), box = sdf::boxField(), shell = shellField();
  for (const FunctionField* field : {&torus, &box, &shell}) {
    for (const double edge : {0.11, 0.06, 0.03}) {
      for (const int levels : {0, 1, 2, 4}) {
        FillReport report;
        const geometry::TetMesh mesh = fill(*field, {.edge = edge, .levels = levels}, report);
        expectGood(mesh, report);
        expectManifold(mesh);
      }
    }
  }
}

TEST(Stuffing, RandomSmoothFields) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const FunctionField field = waveField(seed);
    for (const double edge : {0.12, 0.08, 0.05}) {
      for (const int levels : {0, 3}) {
        FillReport report;
        const geometry::TetMesh mesh =
            fill(field, {.edge = edge, .levels = levels, .box = field.bounds(), .skipFar = false}, report);
        expectGood(mesh, report);
      }
    }
  }
}

// Not distances at all: random values at the lattice points, so that every stencil occurs with cuts anywhere.
TEST(Stuffing, AnglesHoldForAnyField) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const FunctionField noise(
        [&](const Vec3& p) {
          uint64_t bits[3];
          std::memcpy(bits, p.data(), sizeof bits);
          RandomStream random(seed, bits[0] ^ bits[1] * 3 ^ bits[2] * 5);
          return random.uniform(-1, 0.5 + 0.05 * double(seed));
        },
        {Vec3::Constant(-1), Vec3::Constant(1)});
    FillReport report;
    const geometry::TetMesh mesh = fill(noise, {.edge = 0.2, .skipFar = false}, report);
    expectGood(mesh, report);
  }
}

}  // namespace
}  // namespace sunder::tet
