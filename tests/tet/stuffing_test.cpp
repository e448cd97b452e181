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

// The figures of the paper, which meshes of solids keep.
constexpr double kPaperSmallest = 10.78, kPaperLargest = 164.74;

void expectGood(const geometry::TetMesh& mesh, const FillReport& report, double smallest = kPaperSmallest,
                double largest = kPaperLargest) {
  ASSERT_FALSE(mesh.tets.empty());
  const geometry::TetReport r = geometry::tetReport(mesh);
  EXPECT_EQ(r.inverted, 0u);
  EXPECT_EQ(r.degenerate, 0u);
  EXPECT_EQ(r.duplicateTets, 0u);
  EXPECT_EQ(r.nonManifoldFaces, 0u);
  EXPECT_EQ(r.overlappingFaces, 0u);
  EXPECT_EQ(r.isolatedVertices, 0u);
  const auto [low, high] = angleRange(mesh);
  EXPECT_GE(low, smallest);
  EXPECT_LE(high, largest);
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
    for (const double edge : {0.11, 0.07, 0.045}) {
      for (const int levels : {0, 1, 3}) {
        FillReport report;
        const geometry::TetMesh mesh = fill(*field, {.edge = edge, .levels = levels}, report);
        expectGood(mesh, report);
        expectManifold(mesh);
      }
    }
  }
}

TEST(Stuffing, RandomSmoothFields) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const FunctionField field = waveField(seed);
    for (const double edge : {0.14, 0.1, 0.07}) {
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
  size_t tets = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const FunctionField noise(
        [&](const Vec3& p) {
          uint64_t bits[3];
          std::memcpy(bits, p.data(), sizeof bits);
          RandomStream random(seed, bits[0] ^ bits[1] * 3 ^ bits[2] * 5);
          return random.uniform(-1, 0.01 + 0.02 * double(seed));
        },
        {Vec3::Constant(-1), Vec3::Constant(1)});
    FillReport report;
    const geometry::TetMesh mesh = fill(noise, {.edge = 0.2, .skipFar = false}, report);
    if (!mesh.tets.empty()) expectGood(mesh, report, kFillSmallestAngle, kFillLargestAngle);
    tets += mesh.tets.size();
  }
  EXPECT_GT(tets, 5000u);
}

TEST(Stuffing, GradingSavesTetrahedra) {
  const FunctionField ball = ballField();
  FillReport uniform, graded;
  const geometry::TetMesh fine = fill(ball, {.edge = 0.04}, uniform);
  const geometry::TetMesh mesh = fill(ball, {.edge = 0.04, .levels = 4}, graded);
  EXPECT_LT(mesh.tets.size(), fine.tets.size() / 2);
  EXPECT_GT(graded.leaves[3], 0u);
  EXPECT_EQ(uniform.leaves[1], 0u);
  // The same surface, so the same volume to rounding.
  EXPECT_NEAR(geometry::totalVolume(mesh), geometry::totalVolume(fine), 1e-10);
  EXPECT_EQ(graded.warped, uniform.warped);
  EXPECT_EQ(graded.cutPoints, uniform.cutPoints);
  const double around = 360 / 3.0;
  EXPECT_LE(graded.largestAngle, std::max(uniform.largestAngle, around));
}

// Tetrahedra of the transition between sizes: those without a vertex on the surface, all of them undistorted.
TEST(Stuffing, TransitionsAreUndistorted) {
  FillReport report;
  geometry::TetMesh mesh = fill(ballField(), {.edge = 0.05, .levels = 4}, report);
  std::vector<uint8_t> onSurface(mesh.positions.size(), 0);
  for (size_t v = 0; v < mesh.positions.size(); ++v) onSurface[v] = mesh.positions[v].norm() > 1 - 1e-5;
  std::erase_if(mesh.tets, [&](const geometry::Tetrahedron& t) {
    return onSurface[t[0]] || onSurface[t[1]] || onSurface[t[2]] || onSurface[t[3]];
  });
  ASSERT_GT(mesh.tets.size(), 10'000u);
  const auto [low, high] = angleRange(mesh);
  EXPECT_NEAR(low, 45, 1e-6);
  EXPECT_NEAR(high, 120, 1e-6);
}

TEST(Stuffing, FarBlocksAreSkipped) {
  FillReport skipped, all;
  const FunctionField ball = ballField();
  const geometry::TetMesh a = fill(ball, {.edge = 0.05, .levels = 2}, skipped);
  const geometry::TetMesh b = fill(ball, {.edge = 0.05, .levels = 2, .skipFar = false}, all);
  EXPECT_EQ(a.positions, b.positions);
  EXPECT_EQ(a.tets, b.tets);
  EXPECT_LT(skipped.samples, all.samples / 2);
}

// A field steeper than a distance breaks the promise that far blocks are skipped by; where its
// surface shows up in blocks that were looked at, it is followed.
TEST(Stuffing, SteepFieldsAreFollowed) {
  const FunctionField gentle([](const Vec3& p) { return 0.1 * (p.norm() - 1); },
                             {Vec3::Constant(-1), Vec3::Constant(1)});
  const FunctionField steep([](const Vec3& p) { return 1.8 * (p.norm() - 1); },
                            {Vec3::Constant(-1), Vec3::Constant(1)});
  for (const FunctionField* field : {&gentle, &steep}) {
    FillReport report;
    const geometry::TetMesh mesh = fill(*field, {.edge = 0.1}, report);
    expectGood(mesh, report);
    expectManifold(mesh);
    EXPECT_NEAR(geometry::totalVolume(mesh), 4 * kPi / 3, 0.02);
  }
}

TEST(Stuffing, SolidsBeyondTheBoxAreCutOff) {
  const FunctionField plane([](const Vec3& p) { return p.y(); }, {Vec3::Constant(-1), Vec3::Constant(1)});
  FillReport report;
  const geometry::TetMesh mesh = fill(plane, {.edge = 0.1, .box = plane.bounds()}, report);
  EXPECT_TRUE(report.cutOff);
  expectGood(mesh, report);
  expectManifold(mesh);
  EXPECT_NEAR(geometry::totalVolume(mesh), 4, 0.1);
  fill(ballField(), {.edge = 0.2}, report);
  EXPECT_FALSE(report.cutOff);
}

TEST(Stuffing, SameBitsForAnyNumberOfThreads) {
  const FunctionField box = sdf::boxField();
  for (const bool sharp : {false, true}) {
    geometry::TetMesh first;
    for (const unsigned threads : {1u, 2u, 4u}) {
      const ThreadLimit limit(threads);
      FillReport report;
      const geometry::TetMesh mesh = fill(box, {.edge = 0.05, .levels = 3, .sharp = sharp}, report);
      if (threads == 1) {
        first = mesh;
      } else {
        EXPECT_EQ(first.positions, mesh.positions);
        EXPECT_EQ(first.tets, mesh.tets);
      }
    }
  }
}

TEST(Stuffing, SharpEdgesAreReached) {
  const FunctionField box = sdf::boxField();
  FillReport plain, sharp;
  const geometry::TetMesh before = fill(box, {.edge = 0.06, .levels = 2}, plain);
  const geometry::TetMesh mesh = fill(box, {.edge = 0.06, .levels = 2, .sharp = true}, sharp);
  expectGood(mesh, sharp, kSharpSmallestAngle, kSharpLargestAngle);
  expectManifold(mesh);
  EXPECT_EQ(before.tets, mesh.tets);
  EXPECT_GT(sharp.sharpMoved, 50u);
  EXPECT_LE(sharp.sharpMoved, sharp.sharpCandidates);
  EXPECT_EQ(plain.sharpMoved, 0u);
  const double exact = 8 * 0.7 * 0.5 * 0.9;
  EXPECT_LT(std::abs(geometry::totalVolume(mesh) - exact),
            0.5 * std::abs(geometry::totalVolume(before) - exact));
  FillReport round;
  fill(ballField(), {.edge = 0.06, .sharp = true}, round);
  EXPECT_EQ(round.sharpMoved, 0u);
}

// The boundary touches itself wherever it can: random signs at the lattice points.
TEST(Stuffing, BoundariesAreManifoldForAnyField) {
  size_t doubled = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const FunctionField noise(
        [&](const Vec3& p) {
          uint64_t bits[3];
          std::memcpy(bits, p.data(), sizeof bits);
          RandomStream random(seed, bits[0] ^ bits[1] * 3 ^ bits[2] * 5);
          return random.uniform(-1, 0.1 * double(seed));
        },
        {Vec3::Constant(-1), Vec3::Constant(1)});
    FillReport report, touching;
    const geometry::TetMesh mesh = fill(noise, {.edge = 0.2, .skipFar = false}, report);
    if (mesh.tets.empty()) continue;
    const geometry::TriMesh boundary = geometry::boundarySurface(mesh).surface;
    const geometry::MeshReport r = geometry::meshReport(geometry::MeshView(boundary));
    EXPECT_TRUE(r.watertight) << seed;
    EXPECT_TRUE(r.manifold()) << seed;
    EXPECT_TRUE(r.consistentlyOriented) << seed;
    const geometry::TetMesh before =
        fill(noise, {.edge = 0.2, .skipFar = false, .manifold = false}, touching);
    EXPECT_EQ(before.tets.size(), mesh.tets.size());
    EXPECT_EQ(before.positions.size() + report.doubled, mesh.positions.size());
    EXPECT_EQ(geometry::totalVolume(before), geometry::totalVolume(mesh));
    doubled += report.doubled;
  }
  EXPECT_GT(doubled, 1000u);
}

// A dome without a floor: where the winding number changes its sign there is no surface.
TEST(Stuffing, OpenSheetsAreRefused) {
  const FunctionField dome(
      [](const Vec3& p) {
        const double distance =
            p.y() > 0 ? std::abs(p.norm() - 1) : std::hypot(p.y(), std::hypot(p.x(), p.z()) - 1);
        return p.y() > 0 && p.norm() < 1 ? -distance : distance;
      },
      {Vec3::Constant(-1), Vec3::Constant(1)});
  FillReport report;
  EXPECT_THROW(fill(dome, {.edge = 0.1}, report), Error);
  EXPECT_GT(report.jumps, 0u);
}

TEST(Stuffing, RefusesNonsense) {
  const FunctionField endless([](const Vec3& p) { return p.y(); },
                              {Vec3::Constant(-std::numeric_limits<double>::infinity()), Vec3::Zero()});
  const FunctionField broken([](const Vec3&) { return std::nan(""); },
                             {Vec3::Constant(-1), Vec3::Constant(1)});
  FillReport report;
  EXPECT_THROW(fill(endless, {}, report), Error);
  EXPECT_THROW(fill(broken, {.edge = 0.2}, report), Error);
  EXPECT_THROW(fill(ballField(), {.edge = -1}, report), Error);
  EXPECT_THROW(fill(ballField(), {.edge = 0.1, .levels = 99}, report), Error);
  EXPECT_THROW(fill(ballField(), {.edge = 0.1, .alphaLong = 0.5}, report), Error);
  EXPECT_THROW(fill(ballField(), {.edge = 1e-7}, report), Error);
  const FunctionField nothing([](const Vec3&) { return 1.0; }, {Vec3::Constant(-1), Vec3::Constant(1)});
  EXPECT_TRUE(fill(nothing, {.edge = 0.2}, report).tets.empty());
}

}  // namespace
}  // namespace sunder::tet
