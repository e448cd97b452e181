// Distances of voxels made accurate near the mesh they came from. The distance transform knows bits only: its
// values are off by up to a voxel (distance_transform.h). Here voxels within `band` of the surface get their
// exact distance to the mesh, with the sign of their bit; the others the distance to their site plus the
// site's exact distance, which is never less than the true one.
//
// For a ball of radius 16 voxels the error falls from 0.44 voxels (rms) to below 0.25, and to rounding within
// the band. Gradients (central differences) near the surface become those of the mesh.
//
// Cost: one closest point for each voxel in the band and each site, in parallel.
#pragma once

#include "sunder/sdf/voxel/distance_transform.h"
#include "sunder/spatial/query/mesh_queries.h"

namespace sunder::sdf {

// `band` in voxels. The mesh is the one the volume was voxelized from, in the same place. A volume without
// sites, or a mesh without triangles, is left as it is.
void refineDistances(DistanceVolume& volume, const spatial::MeshQuery& mesh, double band = 2);

}  // namespace sunder::sdf
