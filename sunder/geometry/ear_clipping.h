// Ear clipping of one ring of corners in the plane, the core of triangulate.h. Private to the room.
#pragma once

#include "sunder/geometry/triangulate.h"

namespace sunder::geometry {

// `ring` names its corners in `points`, counter-clockwise; a point may appear more than once (bridges to
// holes). Cuts it into ring.size() - 2 triangles of point indices, appended to `result`, and counts what was
// wrong.
void clipEars(std::span<const Vec2> points, std::span<const uint32_t> ring, Triangulation& result);

// Orientation of a ring: 1 counter-clockwise, -1 clockwise. By area where doubles are sure of it, otherwise
// by the turn at the lexicographically smallest corner, which is exact for simple polygons.
int ringOrientation(std::span<const Vec2> ring);

inline bool before(const Vec2& a, const Vec2& b) {
  return a.x() < b.x() || (a.x() == b.x() && a.y() < b.y());
}

// For three points of one line: is b strictly between the others?
inline bool strictlyBetween(const Vec2& a, const Vec2& b, const Vec2& c) {
  return (before(a, b) && before(b, c)) || (before(c, b) && before(b, a));
}

}  // namespace sunder::geometry
