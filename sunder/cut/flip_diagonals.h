// Better triangles for a polygon: flips diagonals until each is locally Delaunay (Lawson 1977), which makes
// the smallest angle as large as the polygon allows. Ear clipping likes thin triangles along almost straight
// borders, and their rounded corners may fold over. Turns and circles are exact, so it ends; triangles
// without area are left where they are.
//
// O(n) flips for usual polygons.
#pragma once

#include "sunder/geometry/mesh.h"

namespace sunder::cut {

// `points` by corner, so that the triangles turn counter-clockwise. Edges of the polygon run from a corner to
// the next one and stay.
void flipDiagonals(std::span<const Vec2> points, std::span<geometry::Triangle> triangles);

// The points of a ring in space, looked at along the axis of the largest component of its normal.
std::vector<Vec2> flattened(std::span<const Vec3> ring);

}  // namespace sunder::cut
