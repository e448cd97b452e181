#include "sunder/sdf/isosurface.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/mesh_report.h"

#include "sdf/sdf_cases.h"

#include <cstring>

#include <gtest/gtest.h>

namespace sunder::sdf {
namespace {

void expectClosed(const geometry::TriMesh& mesh) {
  const geometry::MeshReport r = geometry::meshReport(geometry::MeshView(mesh));
  EXPECT_TRUE(r.watertight);
  EXPECT_TRUE(r.manifold());
  EXPECT_TRUE(r.consistentlyOriented);
  EXPECT_FALSE(r.insideOut);
  EXPECT_EQ(r.degenerateFaces, 0u);
  EXPECT_EQ(r.duplicateFaces, 0u);
}

TEST(Isosurface, SphereConverges) {
  const FunctionField ball([](const Vec3& p) { return p.norm() - 1; },
                           {Vec3::Constant(-1), Vec3::Constant(1)});
  double before = 0;
  for (const double edge : {0.2, 0.1, 0.05}) {
    IsosurfaceReport report;
    const geometry::TriMesh mesh = isosurface(ball, {.edge = edge}, report);
    expectClosed(mesh);
    EXPECT_EQ(geometry::meshReport(geometry::MeshView(mesh)).genus, 0);
    const double error = std::abs(geometry::massProperties(geometry::MeshView(mesh)).volume - 4 * kPi / 3);
    EXPECT_LT(report.largest, 0.2 * edge * edge);  // the sagitta of a triangle
    if (before > 0) {
      EXPECT_LT(error, before / 3);
    }
    before = error;
    for (const Vec3& p : mesh.positions) EXPECT_NEAR(p.norm(), 1, 2e-3 * edge);
  }
}

TEST(Isosurface, TorusHasOneHandle) {
  IsosurfaceReport report;
  const geometry::TriMesh mesh =
      isosurface(torusField(), {.edge = 0.02, .box = {Vec3::Constant(-2), Vec3::Constant(2)}}, report);
  expectClosed(mesh);
  EXPECT_EQ(geometry::meshReport(geometry::MeshView(mesh)).genus, 1);
  EXPECT_NEAR(geometry::massProperties(geometry::MeshView(mesh)).volume, 2 * kPi * kPi * 0.7 * 0.09, 0.01);
  EXPECT_FALSE(report.cutOff);
  // Most blocks were skipped.
  EXPECT_LT(report.samples, report.cells / 4);
}

// Not distances at all: random signs at the lattice points, the worst that can happen.
TEST(Isosurface, AnyFieldGivesAClosedManifold) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const FunctionField noise(
        [&](const Vec3& p) {
          uint64_t bits[3];
          std::memcpy(bits, p.data(), sizeof bits);
          RandomStream random(seed, bits[0] ^ bits[1] * 3 ^ bits[2] * 5);
          return random.uniform(-1, 1);
        },
        {Vec3::Constant(-1), Vec3::Constant(1)});
    IsosurfaceReport report;
    const geometry::TriMesh mesh = isosurface(noise, {.edge = 0.25, .skipFar = false}, report);
    EXPECT_GT(mesh.triangles.size(), 1000u);
    const geometry::MeshReport r = geometry::meshReport(geometry::MeshView(mesh));
    EXPECT_TRUE(r.watertight) << seed;
    EXPECT_TRUE(r.manifold()) << seed;
    EXPECT_TRUE(r.consistentlyOriented) << seed;
  }
}

// Fields that break the promise by which far blocks are skipped: too steep, or with jumps like those of a
// coarse approximation. The surface is followed into the blocks that were skipped.
TEST(Isosurface, SteepAndBrokenFieldsStayClosed) {
  const Box3 box{Vec3::Constant(-1), Vec3::Constant(1)};
  const FunctionField steep([](const Vec3& p) { return 3 * (p.norm() - 0.8); }, box);
  IsosurfaceReport report;
  expectClosed(isosurface(steep, {.edge = 0.04}, report));
  for (uint64_t seed = 0; seed < 5; ++seed) {
    // Every cube of side 0.3 has its own radius, and some claim to be far from the surface.
    const FunctionField jumps(
        [&](const Vec3& p) {
          const Vec3 cell = (p / 0.3).array().floor();
          RandomStream random(seed,
                              uint64_t(int64_t(cell.x() + 100 * cell.y() + 10'000 * cell.z()) + 1'000'000));
          return random.uniform(1, 4) * (p.norm() - random.uniform(0.5, 0.9));
        },
        box);
    const geometry::TriMesh mesh = isosurface(jumps, {.edge = 0.05}, report);
    const geometry::MeshReport r = geometry::meshReport(geometry::MeshView(mesh));
    EXPECT_TRUE(r.watertight) << seed;
    EXPECT_TRUE(r.manifold()) << seed;
  }
}

TEST(Isosurface, SolidsBeyondTheBoxAreCutOff) {
  const FunctionField plane([](const Vec3& p) { return p.y(); }, {Vec3::Constant(-1), Vec3::Constant(1)});
  IsosurfaceReport report;
  const geometry::TriMesh mesh = isosurface(plane, {.edge = 0.1}, report);
  expectClosed(mesh);
  EXPECT_TRUE(report.cutOff);
}

TEST(Isosurface, OffsetsAndSameBits) {
  const FunctionField ball([](const Vec3& p) { return p.norm() - 1; },
                           {Vec3::Constant(-1), Vec3::Constant(1)});
  geometry::TriMesh first;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    IsosurfaceReport report;
    const geometry::TriMesh mesh = isosurface(ball, {.edge = 0.1, .value = 0.25}, report);
    for (const Vec3& p : mesh.positions) EXPECT_NEAR(p.norm(), 1.25, 1e-3);
    if (threads == 1) {
      first = mesh;
    } else {
      EXPECT_EQ(first.positions, mesh.positions);
      EXPECT_EQ(first.triangles, mesh.triangles);
    }
  }
}

TEST(Isosurface, RefusesNonsense) {
  const FunctionField endless([](const Vec3& p) { return p.y(); },
                              {Vec3::Constant(-std::numeric_limits<double>::infinity()), Vec3::Zero()});
  IsosurfaceReport report;
  EXPECT_THROW(isosurface(endless, {}, report), Error);
  EXPECT_THROW(isosurface(torusField(), {.edge = -1}, report), Error);
  EXPECT_THROW(isosurface(torusField(), {.edge = 1e-6}, report), Error);
}

}  // namespace
}  // namespace sunder::sdf
