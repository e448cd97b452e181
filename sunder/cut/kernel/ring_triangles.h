// Triangles of a ring of corners that may have tips, where it runs along a slit and back. Plain ear clipping
// takes a tip for a spike without area and sews the slit shut. Here each tip is first joined to a corner that
// it sees; the pieces left and right of it are ordinary polygons (geometry/triangulate.h).
//
// O(n^2) for a ring with tips.
#pragma once

#include "sunder/geometry/mesh.h"

namespace sunder::cut {

// n - 2 triangles of ring indices, each edge of the ring in one of them, in its direction. `clean` becomes
// false where some have no area.
std::vector<geometry::Triangle> ringTriangles(std::span<const Vec3> ring, bool& clean);

// Does a triangle have a vertex twice? Bridges put a vertex into a ring more than once, and where a hole has
// no area ears between the two can be cut.
bool repeatsCorner(std::span<const geometry::Triangle> triangles, std::span<const uint32_t> ids);

// Triangles of such a ring that never have a vertex or an edge twice: all meet in a new vertex, a copy of
// corner 0, and a corner whose vertex was in the ring before is reached through a copy of it. Indices from
// the ring's size on are new vertices, and copyOf says which corner's position each has.
struct SpokeTriangles {
  std::vector<geometry::Triangle> triangles;
  std::vector<uint32_t> copyOf;
};
SpokeTriangles spokeTriangles(std::span<const uint32_t> ids);

}  // namespace sunder::cut
