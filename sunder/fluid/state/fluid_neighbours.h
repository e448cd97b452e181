// Who is near whom in a fluid, made anew from the positions in each step; nothing of it is saved. The arrays
// hold for the positions of the last findNeighbours(); `place` and `density` for those of the last
// placeParticles() and sumDensity(), which position-based solvers repeat among the same neighbours.
#pragma once

#include "sunder/base/math.h"
#include "sunder/fluid/state/fluid_state.h"
#include "sunder/fluid/state/periodic.h"
#include "sunder/fluid/sums/sph_sums.h"
#include "sunder/spatial/points/neighbour_rows.h"
#include "sunder/spatial/points/point_grid.h"

#include <span>
#include <vector>

namespace sunder::fluid {

struct FluidNeighbours {
  spatial::PointGrid grid;      // particles by cells as wide as the support
  PeriodicSearch periodic;      // copies across joined sides, where there are any
  spatial::NeighbourRows rows;  // neighbours within the support
  PairBlocks blocks;            // the same by eights, with the gradients of the kernel
  Vec3 origin = Vec3::Zero();   // m: the middle of all particles
  std::vector<Vec4f> place;     // m, from the origin
  std::vector<Vec4f> density;   // of the fluid alone: gradient, 1/m, and value relative to rest

  // What the sums of sph_sums.h and sph_forces.h read. Refers to this and to `motion`.
  PairSums sums(const FluidModel& model, std::span<const Vec4f> motion) const;
  size_t bytes() const;  // besides lists of neighbours
};

// Takes particles across joined sides, every so many steps sorts them along the grid, and finds neighbours.
void findNeighbours(const FluidModel& model, FluidState& state, FluidNeighbours& neighbours);

// Sets origin and places of positions that may have moved since, and the length of `density`.
void placeParticles(std::span<const Vec3> positions, FluidNeighbours& neighbours);

}  // namespace sunder::fluid
