#include "sunder/sdf/voxel/voxel_refine.h"

#include "sunder/base/parallel.h"
#include "sunder/sdf/voxel/voxelize.h"

#include "sdf/voxel_cases.h"

#include <cmath>

namespace sunder::sdf {
namespace {

using namespace cases;

struct Errors {
  double rms = 0, inBand = 0, low = 0, worstNormal = 0;
};

Errors errorsOfBall(const DistanceVolume& volume, const Vec3& middle, double radius) {
  Errors e;
  size_t inside = 0;
  for (size_t v = 0; v < volume.phi.size(); ++v) {
    const auto [i, j, k] = volume.frame.place(v);
    const Vec3 p = volume.frame.centre(i, j, k);
    const double exact = ((p - middle).norm() - radius) / volume.frame.edge;
    const double error = double(volume.phi[v]) - exact;
    if (std::abs(exact) < 2) e.inBand = std::max(e.inBand, std::abs(error));
    e.low = std::max(e.low, std::abs(exact) - std::abs(double(volume.phi[v])));
    if (std::abs(exact) < 0.9) {
      const double cosine = volume.gradient(i, j, k).dot((p - middle).normalized());
      e.worstNormal = std::max(e.worstNormal, std::acos(std::min(1.0, cosine)) * 180 / kPi);
    }
    if (volume.phi[v] > 0) continue;
    e.rms += error * error;
    ++inside;
  }
  e.rms = std::sqrt(e.rms / double(inside));
  return e;
}

TEST(VoxelRefine, BallIsExactInTheBandAndBetterElsewhere) {
  const geometry::TriMesh mesh = shapes::makeIcosphere({.radius = 16, .frequency = 80});
  const VoxelFrame frame{Vec3::Constant(-19), 1, {38, 38, 38}};
  DistanceVolume volume = distanceTransform(voxelize(mesh, frame));
  const Errors before = errorsOfBall(volume, Vec3::Zero(), 16);
  refineDistances(volume, spatial::MeshQuery(mesh));
  const Errors after = errorsOfBall(volume, Vec3::Zero(), 16);
  EXPECT_GT(before.rms, 0.4);
  EXPECT_GT(before.inBand, 0.5);
  EXPECT_GT(before.worstNormal, 10);
  EXPECT_LT(after.inBand, 2e-3);  // the mesh is a polyhedron: 16 / 8 / 80^2 of sagitta
  EXPECT_LT(after.rms, 0.25);
  EXPECT_LT(after.low, 2e-3);  // never below the true distance
  EXPECT_LT(after.worstNormal, 2);
}

TEST(VoxelRefine, KeepsSignsAndVolumesWithoutASurface) {
  const geometry::TriMesh mesh = shapes::makeShape("torus");
  const VoxelGrid grid = voxelize(mesh, frameAround(geometry::bounds(mesh.positions), 30, 2));
  const DistanceVolume plain = distanceTransform(grid);
  const auto run = [&](unsigned threads) {
    const ThreadLimit limit(threads);
    DistanceVolume volume = plain;
    refineDistances(volume, spatial::MeshQuery(mesh));
    return volume;
  };
  const DistanceVolume one = run(1), three = run(3);
  EXPECT_EQ(one.phi, three.phi);
  EXPECT_EQ(one.site, plain.site);
  for (size_t v = 0; v < plain.phi.size(); ++v)
    ASSERT_EQ(std::signbit(one.phi[v]), std::signbit(plain.phi[v]));
  DistanceVolume empty = distanceTransform(VoxelGrid(unitFrame(4, 4, 4)));
  refineDistances(empty, spatial::MeshQuery(mesh));
  EXPECT_EQ(empty.phi[0], INFINITY);
}

}  // namespace
}  // namespace sunder::sdf
