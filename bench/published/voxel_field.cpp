#include "bench/published/voxel_field.h"

#include "sunder/base/error.h"

#include <cassert>

namespace sunder::published {
using namespace sdf;

VoxelField::VoxelField(const DistanceVolume& volume) : frame_(volume.frame) {
  if (!volume.hasSites())
    throw Error(ErrorKind::Geometry, "a voxel field needs voxels on both sides of a surface")
        .hint("the volume is all inside or all outside; take smaller voxels, or pad a full one");
  const auto [nx, ny, nz] = frame_.dims;
  lattice_ = GridLattice({frame_.centre(0, 0, 0), frame_.centre(nx - 1, ny - 1, nz - 1)}, frame_.dims);
  phi_.resize(volume.phi.size());
  Box3 cubes;
  double deepestAtBorder = 0;
  for (size_t v = 0; v < phi_.size(); ++v) {
    phi_[v] = float(double(volume.phi[v]) * frame_.edge);
    if (!(volume.phi[v] < 0)) continue;
    const auto [i, j, k] = frame_.place(v);
    cubes.grow(Vec3(i, j, k));
    cubes.grow(Vec3(i + 1.0, j + 1.0, k + 1.0));
    const bool border = i == 0 || j == 0 || k == 0 || i + 1 == nx || j + 1 == ny || k + 1 == nz;
    if (border) deepestAtBorder = std::min(deepestAtBorder, double(volume.phi[v]));
  }
  solid_ = {frame_.origin + frame_.edge * cubes.lower, frame_.origin + frame_.edge * cubes.upper};
  // A solid that reaches the border goes on outside until the added distance has eaten its depth.
  if (deepestAtBorder < 0) {
    solid_.grow(Vec3(lattice_.box.lower + Vec3::Constant(frame_.edge * deepestAtBorder)));
    solid_.grow(Vec3(lattice_.box.upper - Vec3::Constant(frame_.edge * deepestAtBorder)));
  }
}

VoxelField::VoxelField(const VoxelGrid& grid) : VoxelField(distanceTransform(padded(grid, 2))) {}

void VoxelField::values(std::span<const Vec3> points, std::span<double> out) const {
  assert(points.size() == out.size());
  for (size_t i = 0; i < points.size(); ++i) {
    const GridLattice::Place place = lattice_.place(points[i]);
    out[i] = trilinear(lattice_, phi_.data(), place).value + place.outside.norm();
  }
}

void VoxelField::samples(std::span<const Vec3> points, std::span<FieldSample> out) const {
  assert(points.size() == out.size());
  for (size_t i = 0; i < points.size(); ++i) {
    const GridLattice::Place place = lattice_.place(points[i]);
    out[i] = beyond(trilinear(lattice_, phi_.data(), place), place.outside);
  }
}

}  // namespace sunder::published
