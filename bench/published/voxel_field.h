// A field over the voxels of a distance transform: phi at the centres, trilinear between them. The gradient
// is that of the interpolant, so values and gradients belong together; it jumps at planes through centres and
// is not of unit length.
//
// Its domain is the box of the outermost centres. Outside, a point is moved to the nearest point of the
// domain and its distance to that added, as HpField does; the gradient is then the direction away from the
// domain. Values are off by what the transform says (distance_transform.h) plus the interpolation's part,
// together about a voxel: a field for contacts of voxelized bodies, not for measuring.
//
// Cost: about 30 ns a point in random order; memory 4 bytes a voxel. Throws Error (Geometry) for a volume
// without sites, whose distances are infinite.
#pragma once

#include "sunder/sdf/field.h"
#include "sunder/sdf/voxel/distance_transform.h"

#include "bench/published/trilinear.h"

namespace sunder::published {
using namespace sdf;

class VoxelField : public Field {
 public:
  explicit VoxelField(const DistanceVolume& volume);
  explicit VoxelField(const VoxelGrid& grid);  // transforms it first, padded by two layers

  void values(std::span<const Vec3> points, std::span<double> out) const override;
  void samples(std::span<const Vec3> points, std::span<FieldSample> out) const override;
  Box3 bounds() const override { return solid_; }  // of the cubes inside

  const Box3& domain() const { return lattice_.box; }
  const VoxelFrame& frame() const { return frame_; }

 private:
  VoxelFrame frame_;
  GridLattice lattice_;
  std::vector<float> phi_;  // m
  Box3 solid_;
};

}  // namespace sunder::published
