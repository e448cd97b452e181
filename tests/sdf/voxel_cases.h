// Bit volumes and meshes that several tests of voxels share.
#pragma once

#include "sunder/base/random.h"
#include "sunder/sdf/voxel/voxel_grid.h"
#include "sunder/shapes/catalogue.h"

namespace sunder::sdf::cases {

inline VoxelFrame unitFrame(uint32_t nx, uint32_t ny, uint32_t nz) {
  return {Vec3::Zero(), 1.0, {nx, ny, nz}};
}

template <class Inside>
VoxelGrid gridWhere(const VoxelFrame& frame, Inside&& inside) {
  VoxelGrid grid(frame);
  for (uint32_t k = 0; k < frame.dims[2]; ++k)
    for (uint32_t j = 0; j < frame.dims[1]; ++j)
      for (uint32_t i = 0; i < frame.dims[0]; ++i)
        if (inside(frame.centre(i, j, k))) grid.set(i, j, k, true);
  return grid;
}

// A ball that just fits n^3 voxels, in a volume with `padding` more on every side; voxels of edge 1.
inline VoxelGrid ballGrid(uint32_t n, uint32_t padding) {
  const Vec3 middle = Vec3::Constant(0.5 * n + padding);
  return gridWhere(unitFrame(n + 2 * padding, n + 2 * padding, n + 2 * padding),
                   [&](const Vec3& p) { return (p - middle).squaredNorm() < 0.25 * n * n; });
}

// n^3 voxels inside, `padding` empty ones around.
inline VoxelGrid boxGrid(uint32_t n, uint32_t padding) {
  const double low = padding, high = padding + n;
  return gridWhere(unitFrame(n + 2 * padding, n + 2 * padding, n + 2 * padding),
                   [&](const Vec3& p) { return (p.array() > low).all() && (p.array() < high).all(); });
}

inline VoxelGrid randomGrid(const VoxelFrame& frame, double filled, uint64_t seed) {
  RandomStream random(seed);
  return gridWhere(frame, [&](const Vec3&) { return random.uniform() < filled; });
}

inline geometry::TriMesh moved(geometry::TriMesh mesh, const Vec3& by, double scale = 1) {
  for (Vec3& p : mesh.positions) p = scale * p + by;
  return mesh;
}

}  // namespace sunder::sdf::cases
