// Particles from voxels, fine at the surface and coarse inside: eight voxels that are all inside and deep
// enough become one of twice the edge, level by level, while a level still has eight. Every voxel of level l
// that is left becomes a particle, a ball of radius 2^l * edge / 2 in the middle of its cube. The cubes of
// all levels together are the original voxels, each once; so mass and centre of mass are kept exactly.
//
// The lattice of level l starts at the volume's corner, so the padding decides what can merge: with two empty
// layers around a box and the default bound the counts are those of the published method. findPadding()
// looks for the best.
//
// Values: a merged voxel takes the mean of its eight, exact for a linear field (MergedValue::Mean), or the
// published lower bound, the shallowest of them less the distance between centres (MergedValue::Bound); its
// gradient is the eight's mean made unit, or the shallowest's. Deviation from the source: a voxel of a level
// above 0 merges only where it exists.
//
// Cost: some 14 ms for 365,000 voxels inside in one thread, linear. The result does not depend on the number
// of threads.
#pragma once

#include "sunder/sdf/voxel/distance_transform.h"

#include <vector>

namespace sunder::sdf {

enum class MergedValue { Mean, Bound };

struct MergeSettings {
  // Only voxels with phi below this merge; in voxels. -infinity merges nothing. With -0.866 or less every
  // site stays at level 0.
  double deeperThan = -1.5;
  MergedValue value = MergedValue::Mean;
};

struct VoxelParticle {
  Vec3 centre = Vec3::Zero();
  double radius = 0;  // m; the cube it stands for has the edge 2 * radius
  double phi = 0;     // m, negative
  Vec3 gradient = Vec3::Zero();
  uint8_t level = 0;
  bool boundary = false;  // a site of the distance transform
};

struct MergedVoxels {
  std::vector<VoxelParticle> particles;  // by level, then by z, y, x
  std::vector<size_t> perLevel;
};

// Throws Error (Usage) where grid and volume have different frames.
MergedVoxels mergeVoxels(const VoxelGrid& grid, const DistanceVolume& volume, const MergeSettings& = {});

// How many empty layers, 1 to `most`, around the solid (a grid whose own padding counts for nothing: its
// solid should reach its borders) give the fewest particles; of equals the smallest.
uint32_t findPadding(const VoxelGrid& grid, const MergeSettings& = {}, uint32_t most = 8);

}  // namespace sunder::sdf
