// Points on a triangle mesh of which no two are nearer than a spacing, and which leave next to no room for
// more: a Poisson-disk set, as boundary particles are sampled (Corsini, Cignoni and Scopigno 2012). Darts
// are thrown in an order that depends on the seed alone; those too near one that stuck are dropped.
//
// Distances are straight ones, not along the surface: sheets thinner than the spacing share their particles.
// Cost: about a microsecond a dart, 20 darts for each square of the spacing.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/sdf/point_samples.h"

#include <cstdint>
#include <vector>

namespace sunder::fluid {

// Throws Error (Usage) for a spacing that is not positive, Error (Geometry) for a mesh without area, Error
// (Limit) for more than kMostDarts.
std::vector<sdf::SurfaceSample> poissonDiskSamples(const geometry::TriMesh& mesh, double spacing,
                                                   uint64_t seed = 1);
// Their points alone.
std::vector<Vec3> poissonDisk(const geometry::TriMesh& mesh, double spacing, uint64_t seed = 1);

inline constexpr double kMostDarts = 2e8;

}  // namespace sunder::fluid
