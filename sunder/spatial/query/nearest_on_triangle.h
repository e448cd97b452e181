// The point of a triangle nearest to a point, in plain doubles, for the inner loops (triangle_distance.h is
// the public form). Inline, no branches on rounding noise that could matter: whatever candidate wins, the
// distance returned is that of a point of the triangle, and it is at most the distance to each edge.
// Private to the room.
//
// Corners and edges that several triangles share give all of them the same bits: a corner by its own
// difference, an edge by running it from its smaller end to its larger one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace sunder::spatial {

struct D3 {
  double x, y, z;
};
inline D3 operator+(D3 a, D3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline D3 operator-(D3 a, D3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline D3 operator*(double s, D3 a) { return {s * a.x, s * a.y, s * a.z}; }
inline double dot(D3 a, D3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline D3 cross(D3 a, D3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
inline bool before(D3 a, D3 b) {
  if (a.x != b.x) return a.x < b.x;
  return a.y != b.y ? a.y < b.y : a.z < b.z;
}
template <class Vector>
D3 plain(const Vector& v) {
  return {v.x(), v.y(), v.z()};
}

struct PlainTriangle {
  D3 corner[3];
};
static_assert(sizeof(PlainTriangle) == 72);

// 0 to 2: a corner; 3 to 5: inside the edge from corner i - 3 to the next; 6: inside the face.
enum : uint8_t { kRegionFace = 6 };

struct NearestOnTriangle {
  double squared;
  double weight[3];  // barycentric
  uint8_t region;
};

// Where on the segment ab, 0 to 1, the point nearest to p = a + ap is.
inline double nearestOnSegment(D3 ab, D3 ap) {
  const double along = dot(ab, ap), length = dot(ab, ab);
  if (!(along > 0)) return 0;
  return along >= length ? 1 : along / length;
}

inline NearestOnTriangle nearestOnTriangle(D3 p, const PlainTriangle& triangle) {
  const D3 a = triangle.corner[0], b = triangle.corner[1], c = triangle.corner[2];
  const D3 ab = b - a, ac = c - a, ap = p - a;
  const double e = dot(ab, ab), f = dot(ab, ac), g = dot(ac, ac), d1 = dot(ab, ap), d2 = dot(ac, ap);
  const double det = e * g - f * f, v = g * d1 - f * d2, w = e * d2 - f * d1;
  NearestOnTriangle best{std::numeric_limits<double>::infinity(), {1, 0, 0}, 0};
  if (v > 0 && w > 0 && v + w < det) {
    const double s = v / det, t = w / det;
    const D3 r = ap - s * ab - t * ac;
    best = {dot(r, r), {1 - s - t, s, t}, kRegionFace};
    if (det > 1e-6 * (e * g)) return best;  // no sliver: the signs above are right but for a hair
  }
  const D3 bc = c - b, bp = p - b, cp = p - c;
  const double tab = nearestOnSegment(ab, ap), tbc = nearestOnSegment(bc, bp), tac = nearestOnSegment(ac, ap);
  const D3 rab = ap - tab * ab, rbc = bp - tbc * bc, rac = ap - tac * ac;
  const double qab = dot(rab, rab), qbc = dot(rbc, rbc), qac = dot(rac, rac);
  const double least = std::min(std::min(qab, qbc), qac);
  if (best.squared < least) return best;
  uint8_t edge;
  double t;
  if (least == qab) {
    edge = 0, t = tab;
  } else if (least == qbc) {
    edge = 1, t = tbc;
  } else {
    edge = 2, t = 1 - tac;  // runs from c to a
    if (tac == 1) t = 0;
  }
  const auto cornerBest = [&](uint8_t corner, D3 difference) {
    NearestOnTriangle found{dot(difference, difference), {0, 0, 0}, corner};
    found.weight[corner] = 1;
    return found;
  };
  if (t == 0) return cornerBest(edge, edge == 0 ? ap : edge == 1 ? bp : cp);
  if (t == 1) return cornerBest(edge == 2 ? 0 : edge + 1, edge == 0 ? bp : edge == 1 ? cp : ap);
  const uint8_t next = edge == 2 ? 0 : edge + 1;
  uint8_t from = edge, to = next;
  if (before(triangle.corner[to], triangle.corner[from])) std::swap(from, to);
  const D3 side = triangle.corner[to] - triangle.corner[from], start = p - triangle.corner[from];
  t = nearestOnSegment(side, start);
  if (t == 0) return cornerBest(from, start);
  if (t == 1) return cornerBest(to, p - triangle.corner[to]);
  const D3 r = start - t * side;
  NearestOnTriangle found{dot(r, r), {0, 0, 0}, static_cast<uint8_t>(3 + edge)};
  found.weight[from] = 1 - t;
  found.weight[to] = t;
  return found;
}

}  // namespace sunder::spatial
