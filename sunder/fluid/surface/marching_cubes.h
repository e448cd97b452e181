// The surface where the field of particle shapes passes its level, from above inside to below outside:
// marching cubes (Lorensen and Cline 1987) without holes.
//
// Guarantee: a closed manifold, wound so that the outside is in front, for any values at the nodes. Proof: in
// a face of a cube, each run of inside corners is cut off by one segment, the same seen from both cubes; in a
// cube the segments form loops that share no vertex; a loop becomes a fan none of whose diagonals lies in a
// face (marching_cubes_table.h finds one for each loop, or does not compile), so that no two cubes share a
// diagonal. Every side of a triangle thus has exactly two. Vertices lie on edges of the grid, one an edge,
// and around an edge the pieces of its four cubes form one ring.
//
// Where along its edge a vertex lies, its normal and its velocity come from the shapes themselves, not from
// the nodes: straight lines between nodes would leave the pattern of the grid on smooth water.
#pragma once

#include "sunder/fluid/surface/block_grid.h"
#include "sunder/fluid/surface/surface.h"

namespace sunder::fluid {

// The grid is that of the shapes; `velocities` is empty or one a particle. Same bits for any number of
// threads. Throws Error (Limit) for more than 2^32 - 1 vertices or triangles.
LiquidSurface marchingCubes(const BlockGrid& grid, std::span<const ParticleShape> shapes,
                            std::span<const Vec3f> velocities);

}  // namespace sunder::fluid
