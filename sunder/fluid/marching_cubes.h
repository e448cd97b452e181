// The surface where the field of a BlockGrid passes a level, from above inside to below outside: marching
// cubes (Lorensen and Cline 1987) without holes.
//
// Guarantee: a closed manifold, wound so that the lower side is in front, for any field. Proof: in a face of a
// cube, each run of inside corners is cut off by one segment, the same seen from both cubes; in a cube the
// segments form loops that share no vertex; a loop becomes a fan none of whose diagonals lies in a face
// (marching_cubes_table.h finds one for each loop, or does not compile), so that no two cubes share a
// diagonal. Every side of a triangle thus has exactly two. Vertices lie on edges of the grid, one an edge, and
// around an edge the pieces of its four cubes form one ring.
//
// Along an edge the field is the cubic through four nodes, since straight lines leave the pattern of the grid
// on smooth surfaces. Normals are the field's gradient there.
#pragma once

#include "sunder/fluid/block_grid.h"

namespace sunder::fluid {

struct GridSurface {
  geometry::TriMesh mesh;
  std::vector<Vec3f> normals;       // by vertex, outwards
  std::vector<uint32_t> blockStart;  // first vertex of each block of the grid, and their number
};

// Same bits for any number of threads. Throws Error (Limit) for more than 2^32 - 2 vertices.
GridSurface marchingCubes(const BlockGrid& grid, float level);

}  // namespace sunder::fluid
