// Polygons to triangles by ear clipping. A polygon of n corners always becomes n - 2 triangles that use its
// corners only and have every polygon edge exactly once, in the polygon's direction, so meshes stay closed
// even where a polygon is bad; `clean` tells whether it was not. For a simple polygon (concave, with straight
// corners, however thin) the result is a partition into triangles of positive area: turns are decided by the
// exact orient2d.
//
// Polygons in space may be slightly out of plane; they are looked at along the axis of the largest component
// of their Newell normal. Cost: O(n) for convex polygons, about O(n^1.5) for usual concave ones, O(n^2) at
// worst. Ear clipping after Meisters 1975, with the update rule of O'Rourke ("Computational Geometry in C");
// corners that may block an ear are found through a grid. Holes are joined to the outside by bridges,
// rightmost first (Eberly 2002, "Triangulation by ear clipping"), but bridges are chosen by exact visibility.
#pragma once

#include "sunder/geometry/mesh.h"

namespace sunder::geometry {

struct Triangulation {
  std::vector<Triangle> triangles;  // indices of corners
  uint32_t zeroArea = 0;            // triangles without area: repeated corners and spikes
  uint32_t forced = 0;              // ears that had to be cut though something was in the way
  bool clean = true;                // none of these, and the polygon winds around once
};

// Fewer than three corners give no triangle. Triangles turn as the polygon does.
Triangulation triangulate(std::span<const Vec3> polygon);
Triangulation triangulate(std::span<const Vec2> polygon);

// The region inside `outer` and outside all `holes`, in counter-clockwise triangles; the loops may turn
// either way. Indices count the outer corners first, then those of the holes in turn. (corners + 2 * holes -
// 2) triangles. Holes must be inside and apart, else the result is not clean. Throws Error (Geometry) for a
// loop of fewer than three corners.
Triangulation triangulate(std::span<const Vec2> outer, std::span<const std::vector<Vec2>> holes);

}  // namespace sunder::geometry
