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

// A look at a ring in space along the axis of the largest component of its normal, from the front.
struct FlatView {
  int axis = 0;
  bool flip = false;
  Vec2 operator()(const Vec3& p) const;
};
FlatView flatView(std::span<const Vec3> ring);
std::vector<Vec2> flattened(std::span<const Vec3> ring);

}  // namespace sunder::cut
