// What each tetrahedron of a cage holds of the solid: a piece bounded by clipped triangles of the surface and
// by walls, and its moments.
#pragma once

#include "sunder/soft/walls/walls.h"

#include <array>
#include <vector>

namespace sunder::soft {

// The closed surface of one piece at rest, as triangles that face outwards; walls after the surface. Replaces
// what is in `triangles`. The polygons of the surface are flat and convex and come as fans.
void pieceTriangles(const Cage& cage, const SurfaceCopies& copies, const Walls& walls, uint32_t tet,
                    std::vector<std::array<Vec3, 3>>& triangles);

// Integrals over a piece, by the divergence theorem about the first corner of its tetrahedron.
struct PieceMoments {
  double volume = 0;           // of 1, m^3
  Vec3 centre = Vec3::Zero();  // of x, over the volume; of the tetrahedron where there is no volume
  Mat3 second = Mat3::Zero();  // of (x - centre) (x - centre)^T, m^5
  Vec3 open = Vec3::Zero();    // vector area of the boundary, m^2: zero for a closed one
};

// By tetrahedron. Parallel, same bits for any number of threads.
std::vector<PieceMoments> pieceMoments(const Cage& cage, const SurfaceCopies& copies, const Walls& walls);

}  // namespace sunder::soft
