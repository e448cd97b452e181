// Triangles of a ring of corners that may have tips, where it runs along a slit and back. Plain ear clipping
// takes a tip for a spike without area and sews the slit shut. Here each tip is first joined to a corner that
// it sees; the pieces left and right of it are ordinary polygons (geometry/triangulate.h).
//
// O(n^2) for a ring with tips.
#pragma once

#include "sunder/geometry/mesh.h"

namespace sunder::cut {

// n - 2 triangles of ring indices, each edge of the ring in one of them, in its direction.
std::vector<geometry::Triangle> ringTriangles(std::span<const Vec3> ring);

}  // namespace sunder::cut
