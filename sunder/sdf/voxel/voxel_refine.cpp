#include "sunder/sdf/voxel/voxel_refine.h"

#include "sunder/base/parallel.h"

#include <cmath>

namespace sunder::sdf {

void refineDistances(DistanceVolume& volume, const spatial::MeshQuery& mesh, double band) {
  if (!volume.hasSites() || mesh.empty()) return;
  // |phi| exceeds the distance to the cubes' surface by less than 0.37 and that is within 0.87 of the mesh
  // for voxels that are not lost between thin parts: a margin of 1.25 misses no voxel of the band.
  const double reach = band + 1.25;
  std::vector<uint32_t> near;
  for (size_t v = 0; v < volume.phi.size(); ++v)
    if (volume.isSite(v) || std::abs(double(volume.phi[v])) < reach) near.push_back(uint32_t(v));
  std::vector<Vec3> points(near.size());
  std::vector<spatial::ClosestPoint> closest(near.size());
  for (size_t i = 0; i < near.size(); ++i) {
    const auto [x, y, z] = volume.frame.place(near[i]);
    points[i] = volume.frame.centre(x, y, z);
  }
  mesh.closest(points, closest);
  // Sites and the band first, then the rest from the sites, which do not change any more.
  LargeVector<float> refined(volume.phi);
  for (size_t i = 0; i < near.size(); ++i)
    refined[near[i]] = float(std::copysign(std::sqrt(closest[i].squaredDistance) / volume.frame.edge,
                                           double(volume.phi[near[i]])));
  parallelFor(volume.phi.size(), [&](size_t v) {
    if (volume.isSite(v) || std::abs(double(volume.phi[v])) < reach) return;
    const auto a = volume.frame.place(v), b = volume.frame.place(volume.site[v]);
    const Vec3 way(double(a[0]) - b[0], double(a[1]) - b[1], double(a[2]) - b[2]);
    const double distance = way.norm() + std::abs(double(refined[volume.site[v]]));
    refined[v] = float(std::copysign(distance, double(volume.phi[v])));
  });
  volume.phi = std::move(refined);
}

}  // namespace sunder::sdf
