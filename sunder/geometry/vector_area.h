// Areas and normals of single triangles and polygons. The vector area of a flat face is as long as its area
// and points along its normal, counter-clockwise seen from its tip; here it comes twice as long, which saves
// a product where only its direction matters. Of many faces at a time: mesh_view.h and normals.h.
//
// Taken about a corner, so that a mesh far from the origin loses no digits. Plain double precision: a face
// whose corners are nearly on one line may get any direction (mesh_view.h's hasNoArea tells).
#pragma once

#include "sunder/geometry/mesh.h"

namespace sunder::geometry {

inline Vec3 twiceVectorArea(const Vec3& a, const Vec3& b, const Vec3& c) { return (b - a).cross(c - a); }
inline Vec3 twiceVectorArea(std::span<const Vec3> positions, const Triangle& t) {
  return twiceVectorArea(positions[t[0]], positions[t[1]], positions[t[2]]);
}

// The same of a polygon with corners at(0) .. at(corners - 1), concave ones included: the sum over its fan
// (Newell's formula). Zero with fewer than three corners.
template <class At>
Vec3 twiceVectorArea(size_t corners, At&& at) {
  Vec3 sum = Vec3::Zero();
  if (corners < 3) return sum;
  const Vec3 origin = at(0);
  Vec3 previous = at(1) - origin;
  for (size_t i = 2; i < corners; ++i) {
    const Vec3 current = at(i) - origin;
    sum += previous.cross(current);
    previous = current;
  }
  return sum;
}

inline double triangleArea(const Vec3& a, const Vec3& b, const Vec3& c) {
  return 0.5 * twiceVectorArea(a, b, c).norm();
}
inline double triangleArea(std::span<const Vec3> positions, const Triangle& t) {
  return 0.5 * twiceVectorArea(positions, t).norm();
}

}  // namespace sunder::geometry
