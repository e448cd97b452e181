#include "sunder/sdf/voxel/voxelize.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/sdf/mesh_field.h"

#include "folders.h"
#include "sdf/voxel_cases.h"

#include <bit>
#include <filesystem>

namespace sunder::sdf {
namespace {

using namespace cases;
using geometry::TriMesh;

// The unit box of the published table: -0.3 to 0.7 in float, every face in kk x kk cells.
TriMesh publishedBox(int kk) {
  TriMesh mesh = shapes::makeBox({.size = Vec3::Ones(), .nx = kk, .ny = kk, .nz = kk});
  for (Vec3& p : mesh.positions) p = (p + Vec3::Constant(0.2)).cast<float>().cast<double>();
  return mesh;
}

TEST(Voxelize, BoxesFillTheGridForEverySubdivision) {
  for (const uint32_t n : {12u, 30u, 32u, 60u, 96u}) {
    for (const int kk : {1, 2, 5, 7, 10, 20, 40}) {
      const TriMesh mesh = publishedBox(kk);
      const VoxelFrame frame = frameAround(geometry::bounds(mesh.positions), n);
      for (const SweepAxis axis : {SweepAxis::X, SweepAxis::Y, SweepAxis::Z})
        ASSERT_EQ(voxelize(mesh, frame, axis).count(), size_t(n) * n * n) << n << " " << kk;
    }
  }
  EXPECT_EQ(voxelize(publishedBox(1), frameAround(geometry::bounds(publishedBox(1).positions), 32)).count(),
            32768u);
  EXPECT_EQ(voxelize(publishedBox(1), frameAround(geometry::bounds(publishedBox(1).positions), 96)).count(),
            884736u);
}

TEST(Voxelize, BallCountsMatchTheFormula) {
  EXPECT_EQ(ballGrid(32, 0).count(), 17256u);
  EXPECT_EQ(ballGrid(96, 0).count(), 463400u);
  const TriMesh mesh = shapes::makeIcosphere({.radius = 1, .frequency = 64});  // 81,920 triangles
  ASSERT_GE(mesh.triangles.size(), 80000u);
  for (const uint32_t n : {32u, 96u}) {
    const VoxelFrame frame{Vec3::Constant(-1), 2.0 / n, {n, n, n}};
    const double expected = double(ballGrid(n, 0).count());
    EXPECT_NEAR(double(voxelize(mesh, frame).count()), expected, 0.005 * expected);
  }
}

TEST(Voxelize, AgreesWithTheExactSignedDistance) {
  for (const char* name : {"torus", "rippled-sphere", "extrusion"}) {
    const TriMesh mesh = shapes::makeShape(name);
    const MeshField field(mesh);
    VoxelFrame frame = frameAround(geometry::bounds(mesh.positions), 40, 1);
    frame.origin += frame.edge * Vec3(0.123, 0.271, 0.377);
    const VoxelGrid grid = voxelize(mesh, frame);
    size_t compared = 0;
    for (uint32_t k = 0; k < frame.dims[2]; ++k) {
      for (uint32_t j = 0; j < frame.dims[1]; ++j) {
        for (uint32_t i = 0; i < frame.dims[0]; ++i) {
          const double distance = field.value(frame.centre(i, j, k));
          if (std::abs(distance) < frame.edge / 100) continue;  // snapping moves vertices by 1/512 voxel
          ASSERT_EQ(grid.at(i, j, k), distance < 0) << name << " " << i << " " << j << " " << k;
          ++compared;
        }
      }
    }
    EXPECT_GT(compared, frame.voxelCount() * 9 / 10);
  }
}

TEST(Voxelize, ThreeAxesAgreeAtAGenericOffset) {
  for (const char* name : {"torus", "wine-glass", "rippled-sphere"}) {
    TriMesh mesh = shapes::makeShape(name);
    VoxelFrame frame = frameAround(geometry::bounds(mesh.positions), 48, 1);
    frame.origin += frame.edge * Vec3(0.3137, 0.2719, 0.3771);
    const VotedVoxels voted = voxelizeByVote(mesh, frame);
    EXPECT_EQ(voted.differing, 0u) << name;
    for (const SweepAxis axis : {SweepAxis::X, SweepAxis::Y, SweepAxis::Z, SweepAxis::Automatic})
      EXPECT_EQ(voxelize(mesh, frame, axis), voted.grid) << name;
    EXPECT_GT(voted.grid.count(), 0u);
  }
}

TEST(Voxelize, TheVoteMendsAHole) {
  TriMesh mesh = shapes::makeIcosphere({.radius = 1, .frequency = 8});
  const VoxelFrame frame{Vec3::Constant(-1.05), 2.1 / 32, {32, 32, 32}};
  const VoxelGrid whole = voxelize(mesh, frame);
  // One triangle that faces x mostly.
  for (size_t t = 0; t < mesh.triangles.size(); ++t) {
    Vec3 middle = Vec3::Zero();
    for (const uint32_t v : mesh.triangles[t]) middle += mesh.positions[v] / 3;
    if (middle.x() < 0.97) continue;
    mesh.triangles.erase(mesh.triangles.begin() + ptrdiff_t(t));
    break;
  }
  ASSERT_EQ(mesh.triangles.size(), 1279u);
  const VotedVoxels voted = voxelizeByVote(mesh, frame);
  EXPECT_GT(voted.differing, 0u);
  EXPECT_EQ(voted.grid.words().size(), whole.words().size());
  size_t wrong = 0, wrongAlongX = 0;
  const VoxelGrid alongX = voxelize(mesh, frame, SweepAxis::X);
  for (size_t w = 0; w < whole.words().size(); ++w) {
    wrong += size_t(std::popcount(whole.words()[w] ^ voted.grid.words()[w]));
    wrongAlongX += size_t(std::popcount(whole.words()[w] ^ alongX.words()[w]));
  }
  EXPECT_GT(wrongAlongX, 20u);
  EXPECT_EQ(wrong, 0u);
}

TEST(Voxelize, WholeVoxelMovesMoveTheResult) {
  const TriMesh mesh = shapes::makeShape("torus");
  const Box3 box = geometry::bounds(mesh.positions);
  const double edge = 0x1p-5 * std::exp2(std::ceil(std::log2(box.extent().maxCoeff())));
  // The origin is a whole number of voxels, so positions moved by whole voxels are exact enough to snap
  // alike.
  VoxelFrame frame{Vec3::Zero(), edge, {80, 80, 80}};
  frame.origin = -40 * edge * Vec3::Ones();
  const VoxelGrid still = voxelize(mesh, frame);
  const VoxelGrid shifted = voxelize(moved(mesh, edge * Vec3(3, -5, 7)), frame);
  ASSERT_GT(still.count(), 1000u);
  ASSERT_EQ(still.count(), shifted.count());
  for (uint32_t k = 0; k < 73; ++k)
    for (uint32_t j = 5; j < 80; ++j)
      for (uint32_t i = 0; i < 77; ++i) ASSERT_EQ(still.at(i, j, k), shifted.at(i + 3, j - 5, k + 7));
}

TEST(Voxelize, VolumeConvergesWithTheSquareOfTheResolution) {
  const TriMesh mesh = shapes::makeIcosphere({.radius = 1, .frequency = 48});
  const double volume = geometry::massProperties(mesh).volume;
  RandomStream random(5);
  std::vector<double> rms;
  for (const uint32_t n : {16u, 32u, 64u}) {
    double sum = 0;
    const int offsets = 60;
    for (int o = 0; o < offsets; ++o) {
      const double edge = 2.0 / n;
      const VoxelFrame frame{Vec3::Constant(-1 - edge) + edge * random.pointIn({Vec3::Zero(), Vec3::Ones()}),
                             edge,
                             {n + 2, n + 2, n + 2}};
      const double relative = double(voxelize(mesh, frame).count()) * std::pow(edge, 3) / volume - 1;
      sum += relative * relative;
    }
    rms.push_back(std::sqrt(sum / offsets));
  }
  EXPECT_GT(rms[0] / rms[1], 2.7);
  EXPECT_LT(rms[0] / rms[1], 6.0);
  EXPECT_GT(rms[1] / rms[2], 2.7);
  EXPECT_LT(rms[1] / rms[2], 6.0);
}

TEST(Voxelize, FinerGridsHold27TimesAsMany) {
  const std::string path = sharedData() / "meshes/stanford-bunny.obj";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "the bunny is not there";
  const TriMesh mesh = geometry::toTriMesh(meshio::readMesh(path).surface);
  const Box3 box = geometry::bounds(mesh.positions);
  const double coarse = double(voxelizeByVote(mesh, frameAround(box, 32)).grid.count());
  const double fine = double(voxelizeByVote(mesh, frameAround(box, 96)).grid.count());
  EXPECT_NEAR(fine / coarse, 27, 0.5);
}

TEST(Voxelize, SameBitsForAnyNumberOfThreads) {
  const TriMesh mesh = shapes::makeShape("rippled-sphere");
  const VoxelFrame frame = frameAround(geometry::bounds(mesh.positions), 70, 2);
  for (const SweepAxis axis : {SweepAxis::X, SweepAxis::Y, SweepAxis::Z}) {
    VoxelGrid one, three;
    {
      const ThreadLimit limit(1);
      one = voxelize(mesh, frame, axis);
    }
    {
      const ThreadLimit limit(3);
      three = voxelize(mesh, frame, axis);
    }
    EXPECT_EQ(one, three);
  }
}

TEST(Voxelize, LargeTrianglesBeyondTheFrameAreCutOff) {
  // A box of 40,000 voxels around a frame in its middle: wide products, clamped columns.
  const TriMesh mesh = shapes::makeBox({.size = Vec3::Constant(40000)});
  const VoxelFrame inside{Vec3::Constant(-10.3), 1, {20, 21, 22}};
  for (const SweepAxis axis : {SweepAxis::X, SweepAxis::Y, SweepAxis::Z})
    EXPECT_EQ(voxelize(mesh, inside, axis).count(), 20u * 21 * 22);
  const VoxelFrame outside{Vec3::Constant(30000), 1, {20, 21, 22}};
  for (const SweepAxis axis : {SweepAxis::X, SweepAxis::Y, SweepAxis::Z})
    EXPECT_EQ(voxelize(mesh, outside, axis).count(), 0u);
  // A corner of it, turned: against the planes themselves.
  TriMesh turned = mesh;
  const Eigen::Matrix3d rotation =
      Quat(Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized())).toRotationMatrix();
  for (Vec3& p : turned.positions) p = rotation * p;
  const Vec3 corner = rotation * Vec3::Constant(20000);
  const VoxelFrame frame{corner - Vec3(15.2, 15.4, 15.7), 1, {30, 30, 30}};
  for (const SweepAxis axis : {SweepAxis::X, SweepAxis::Y, SweepAxis::Z}) {
    const VoxelGrid grid = voxelize(turned, frame, axis);
    size_t compared = 0;
    for (uint32_t k = 0; k < 30; ++k) {
      for (uint32_t j = 0; j < 30; ++j) {
        for (uint32_t i = 0; i < 30; ++i) {
          const double depth = 20000 - (rotation.transpose() * frame.centre(i, j, k)).cwiseAbs().maxCoeff();
          if (std::abs(depth) < 0.02) continue;
          ASSERT_EQ(grid.at(i, j, k), depth > 0);
          ++compared;
        }
      }
    }
    EXPECT_GT(compared, 26000u);
  }
}

TEST(Voxelize, BadInputIsNamed) {
  TriMesh mesh = shapes::makeBox({});
  const VoxelFrame frame = frameAround(geometry::bounds(mesh.positions), 8);
  mesh.triangles[3][1] = 99;
  EXPECT_THROW(voxelize(mesh, frame), Error);
  mesh = shapes::makeBox({});
  mesh.positions[2].y() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(voxelize(mesh, frame), Error);
  mesh.positions[2].y() = 1e9;
  EXPECT_THROW(voxelize(mesh, frame), Error);
  EXPECT_THROW(frameAround(Box3{}, 8), Error);
  EXPECT_THROW(frameAround({Vec3::Zero(), Vec3::Ones()}, 0), Error);
  EXPECT_THROW(VoxelGrid(unitFrame(40000, 1, 1)), Error);
  EXPECT_THROW(VoxelGrid(unitFrame(2000, 2000, 2000)), Error);
  EXPECT_THROW(VoxelGrid({Vec3::Zero(), 0.0, {1, 1, 1}}), Error);
  EXPECT_EQ(voxelize(TriMesh{}, unitFrame(4, 4, 4)).count(), 0u);
}

TEST(VoxelGrid, PaddingKeepsTheSolidInPlace) {
  const VoxelGrid grid = randomGrid({Vec3(1, 2, 3), 0.5, {70, 5, 4}}, 0.3, 4);
  for (const uint32_t layers : {0u, 1u, 3u, 64u, 70u}) {
    const VoxelGrid wide = padded(grid, layers);
    EXPECT_EQ(wide.count(), grid.count());
    EXPECT_TRUE(wide.solidBounds().lower.isApprox(grid.solidBounds().lower));
    EXPECT_TRUE(wide.solidBounds().upper.isApprox(grid.solidBounds().upper));
    for (uint32_t k = 0; k < 4; ++k)
      for (uint32_t j = 0; j < 5; ++j)
        for (uint32_t i = 0; i < 70; ++i)
          ASSERT_EQ(wide.at(i + layers, j + layers, k + layers), grid.at(i, j, k));
  }
}

}  // namespace
}  // namespace sunder::sdf
