#include "sunder/geometry/triangle_triangle.h"

#include "sunder/geometry/predicates.h"

#include <cassert>
#include <optional>

namespace sunder::geometry {

namespace {

using Corners = TriangleCorners;

constexpr TriangleFeature kFace{FeatureKind::Face, 0};
TriangleFeature vertex(int i) { return {FeatureKind::Vertex, static_cast<uint8_t>(i)}; }
TriangleFeature edge(int i) { return {FeatureKind::Edge, static_cast<uint8_t>(i)}; }
int next(int i) { return i == 2 ? 0 : i + 1; }

// On which side of a plane the three corners lie.
struct Sides {
  std::array<double, 3> value;
  std::array<int, 3> sign;

  Sides(const Corners& plane, const Corners& t) {
    for (size_t i = 0; i < 3; ++i) {
      value[i] = orient3d(plane[0], plane[1], plane[2], t[i]);
      sign[i] = geometry::sign(value[i]);
    }
  }
  int operator[](int i) const { return sign[static_cast<size_t>(i)]; }
  bool apart() const { return sign[0] != 0 && sign[0] == sign[1] && sign[1] == sign[2]; }
  bool allZero() const { return sign[0] == 0 && sign[1] == 0 && sign[2] == 0; }
};

const Vec3& at(const Corners& t, int i) { return t[static_cast<size_t>(i)]; }

Vec3 between(const Vec3& a, const Vec3& b, double weightA, double weightB) {
  const double scale = std::max(std::abs(weightA), std::abs(weightB));
  const double wa = std::abs(weightA) / scale, wb = std::abs(weightB) / scale;
  const double t = wb / (wa + wb);
  return ((1 - t) * a + t * b).cwiseMax(a.cwiseMin(b)).cwiseMin(a.cwiseMax(b));
}

// Where the straight edge i of `t` passes through the plane that `sides` refers to.
Vec3 throughPlane(const Corners& t, const Sides& sides, int i) {
  const size_t from = static_cast<size_t>(i), to = static_cast<size_t>(next(i));
  return between(t[from], t[to], sides.value[to], sides.value[from]);
}

// ---- Planes that cross: each triangle cuts an interval out of the common line ----

// An end of the interval, as the two corners of a line that passes the other plane there, from its negative
// to its positive side. For an end at a corner, any corner off the plane serves as the second.
struct IntervalEnd {
  int from, to;
  TriangleFeature feature;
};

// Ordered along (own normal) x (other's normal).
struct Interval {
  IntervalEnd first, last;
  TriangleFeature inside;  // of the points between the ends
  bool single;             // one point
};

Interval intervalOf(const Sides& s) {
  const int zeros = (s[0] == 0) + (s[1] == 0) + (s[2] == 0);
  int i = 0;
  if (zeros == 0) {  // i is alone on its side
    while (s[i] == s[next(i)] || s[i] == s[next(next(i))]) ++i;
    const int j = next(i), k = next(j);
    if (s[i] > 0) return {{k, i, edge(k)}, {j, i, edge(i)}, kFace, false};
    return {{i, j, edge(i)}, {i, k, edge(k)}, kFace, false};
  }
  if (zeros == 1) {  // i is on the plane
    while (s[i] != 0) ++i;
    const int j = next(i), k = next(j);
    const IntervalEnd corner = s[j] > 0
                                   ? IntervalEnd{i, j, vertex(i)}
                                   : (s[k] > 0 ? IntervalEnd{i, k, vertex(i)} : IntervalEnd{j, i, vertex(i)});
    if (s[j] == s[k]) return {corner, corner, vertex(i), true};
    if (s[j] > 0) return {corner, {k, j, edge(j)}, kFace, false};
    return {{j, k, edge(j)}, corner, kFace, false};
  }
  while (s[i] == 0) ++i;  // all but i are on the plane
  const int j = next(i), k = next(j);
  if (s[i] > 0) return {{k, i, vertex(k)}, {j, i, vertex(j)}, edge(j), false};
  return {{i, j, vertex(j)}, {i, k, vertex(k)}, edge(j), false};
}

// The intervals of both on their line, in the direction normal(p) x normal(q).
struct CommonLine {
  const Corners &p, &q;
  Interval ofP, ofQ;

  CommonLine(const Corners& first, const Sides& firstSides, const Corners& second, const Sides& secondSides)
      : p(first), q(second), ofP(intervalOf(firstSides)), ofQ(intervalOf(secondSides)) {
    std::swap(ofQ.first, ofQ.last);  // q's own direction is the opposite
  }
  // Positive when the end of q comes after the end of p, zero when they are the same point.
  int order(const IntervalEnd& a, const IntervalEnd& b) const {
    return sign(orient3d(at(p, a.from), at(p, a.to), at(q, b.from), at(q, b.to)));
  }
};

void addPoint(TriangleMeeting& result, TriangleFeature a, TriangleFeature b) {
  assert(result.count < result.storage.size());
  MeetingPoint& point = result.storage[result.count++];
  point.onFirst = a;
  point.onSecond = b;
}

void addPlaced(TriangleMeeting& result, const CommonLine& line, const Sides& ps, const Sides& qs,
               TriangleFeature a, TriangleFeature b) {
  addPoint(result, a, b);
  Vec3& position = result.storage[result.count - 1u].position;
  if (a.kind == FeatureKind::Vertex) {
    position = line.p[a.index];
  } else if (b.kind == FeatureKind::Vertex) {
    position = line.q[b.index];
  } else if (a.kind == FeatureKind::Edge && ps[a.index] * ps[next(a.index)] < 0) {
    position = throughPlane(line.p, ps, a.index);
  } else {
    position = throughPlane(line.q, qs, b.index);
  }
}

TriangleMeeting meetingOnLine(const Corners& p, const Sides& ps, const Corners& q, const Sides& qs) {
  TriangleMeeting result;
  const CommonLine line(p, ps, q, qs);
  const Interval &a = line.ofP, &b = line.ofQ;
  const int startToEnd = line.order(a.first, b.last), endToStart = line.order(a.last, b.first);
  if (startToEnd < 0 || endToStart > 0) return result;
  result.kind = MeetingKind::Point;
  if (startToEnd == 0) {
    addPlaced(result, line, ps, qs, a.first.feature, b.last.feature);
    return result;
  }
  if (endToStart == 0) {
    addPlaced(result, line, ps, qs, a.last.feature, b.first.feature);
    return result;
  }
  const int starts = line.order(a.first, b.first), ends = line.order(a.last, b.last);
  addPlaced(result, line, ps, qs, starts > 0 ? a.inside : a.first.feature,
            starts < 0 ? b.inside : b.first.feature);
  if (a.single || b.single) return result;
  addPlaced(result, line, ps, qs, ends < 0 ? a.inside : a.last.feature, ends > 0 ? b.inside : b.last.feature);
  result.kind = MeetingKind::Segment;
  return result;
}

// ---- Everything flat: coplanar triangles, segments and points ----

bool lexicographicallyLess(const Vec3& a, const Vec3& b) {
  for (int k = 0; k < 3; ++k) {
    if (a[k] != b[k]) return a[k] < b[k];
  }
  return false;
}

// What a triangle's corners span: 3, 2 or 1 of them.
struct Span {
  const Corners& t;
  int count = 3;
  std::array<int, 3> corner{0, 1, 2};
  int axis;  // of the projection in which it has area; -1 for segments and points
  int orientation = 0;

  explicit Span(const Corners& corners) : t(corners), axis(normalAxis(t[0], t[1], t[2])) {
    if (axis >= 0) {
      setAxis(axis);
      return;
    }
    int low = 0, high = 0;
    for (int i = 1; i < 3; ++i) {
      if (lexicographicallyLess(at(t, i), at(t, low))) low = i;
      if (lexicographicallyLess(at(t, high), at(t, i))) high = i;
    }
    count = low == high ? 1 : 2;
    corner = {low, high, 0};
  }
  void setAxis(int newAxis) {
    axis = newAxis;
    orientation = sign(orient2d(t[0], t[1], t[2], axis));
  }
  int edgeCount() const { return count == 3 ? 3 : count - 1; }
  int edgeIndex(int e) const {
    return count == 3 ? e : (next(corner[0]) == corner[1] ? corner[0] : corner[1]);
  }
  const Vec3& edgeStart(int e) const { return at(t, count == 3 ? e : corner[0]); }
  const Vec3& edgeEnd(int e) const { return at(t, count == 3 ? next(e) : corner[1]); }

  // The feature that holds x, which must be in the plane when there is one.
  std::optional<TriangleFeature> locate(const Vec3& x) const {
    if (count == 3) {
      std::array<int, 3> s;
      for (int e = 0; e < 3; ++e) {
        s[static_cast<size_t>(e)] = orientation * sign(orient2d(at(t, e), at(t, next(e)), x, axis));
        if (s[static_cast<size_t>(e)] < 0) return std::nullopt;
      }
      return featureOfZeros(s);
    }
    for (int i = 0; i < count; ++i) {
      if (at(t, corner[static_cast<size_t>(i)]) == x) return vertex(corner[static_cast<size_t>(i)]);
    }
    if (count == 1) return std::nullopt;
    const Vec3 &low = edgeStart(0), &high = edgeEnd(0);
    if (!lexicographicallyLess(low, x) || !lexicographicallyLess(x, high) || !collinear(low, high, x)) {
      return std::nullopt;
    }
    return edge(edgeIndex(0));
  }
  // Which feature a point is on, given the edges whose lines it is on.
  static TriangleFeature featureOfZeros(const std::array<int, 3>& s) {
    const int zeros = (s[0] == 0) + (s[1] == 0) + (s[2] == 0);
    if (zeros == 0) return kFace;
    for (int e = 0; e < 3; ++e) {
      if (s[static_cast<size_t>(e)] != 0) continue;
      if (zeros == 1) return edge(e);
      if (s[static_cast<size_t>(next(e))] == 0) return vertex(next(e));
    }
    return kFace;
  }
};

void addCrossing(TriangleMeeting& result, const Span& p, int e, const Span& q, int f) {
  const Vec3 &a = p.edgeStart(e), &b = p.edgeEnd(e), &c = q.edgeStart(f), &d = q.edgeEnd(f);
  int axis = p.axis >= 0 ? p.axis : q.axis;
  if (axis < 0) {  // two segments: they must share a plane that no other corner has told us
    axis = normalAxis(a, b, c);
    if (axis < 0 || orient3d(a, b, c, d) != 0) return;
  }
  const double sa = orient2d(c, d, a, axis), sb = orient2d(c, d, b, axis);
  const int cd = sign(orient2d(a, b, c, axis)) * sign(orient2d(a, b, d, axis));
  if (sign(sa) * sign(sb) >= 0 || cd >= 0) return;
  addPoint(result, edge(p.edgeIndex(e)), edge(q.edgeIndex(f)));
  result.storage[result.count - 1u].position = between(a, b, sb, sa);
}

bool onEdge(const TriangleFeature& feature, int e) {
  if (feature.kind == FeatureKind::Edge) return feature.index == e;
  return feature.kind == FeatureKind::Vertex && (feature.index == e || feature.index == next(e));
}

// Does a polygon that has these two corners on edge e of p run from the one to the other, counter-clockwise
// in p?
bool runsForward(const Span& p, int e, const Span& q, const MeetingPoint& a, const MeetingPoint& b) {
  if (a.onFirst == vertex(e) || b.onFirst == vertex(next(e))) return true;
  if (b.onFirst == vertex(e) || a.onFirst == vertex(next(e))) return false;
  // A crossing is the beginning exactly when edge e comes from outside of q there.
  auto begins = [&](const MeetingPoint& x) {
    const int f = x.onSecond.index;
    return q.orientation * sign(orient2d(at(q.t, f), at(q.t, next(f)), at(p.t, e), p.axis)) < 0;
  };
  if (a.onSecond.kind == FeatureKind::Edge) return begins(a);
  if (b.onSecond.kind == FeatureKind::Edge) return !begins(b);
  // Two corners of q: its edge lies along e, with its area on the same side.
  return (b.onSecond.index == next(a.onSecond.index)) == (p.orientation == q.orientation);
}

// The corners of a convex polygon that share an edge of p or q are neighbours: that alone gives their cycle.
void sortAround(TriangleMeeting& result, const Span& p, const Span& q) {
  const size_t n = result.count;
  std::array<std::array<bool, 6>, 6> adjacent{};
  size_t from = 6, to = 6;
  for (int e = 0; e < 3; ++e) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = i + 1; j < n; ++j) {
        const MeetingPoint &a = result.storage[i], &b = result.storage[j];
        const bool sharedP = onEdge(a.onFirst, e) && onEdge(b.onFirst, e);
        if (sharedP || (onEdge(a.onSecond, e) && onEdge(b.onSecond, e)))
          adjacent[i][j] = adjacent[j][i] = true;
        if (sharedP && from == 6) {
          const bool forward = runsForward(p, e, q, a, b);
          from = forward ? i : j;
          to = forward ? j : i;
        }
      }
    }
  }
  if (from == 6) {  // no side on p's boundary: the polygon is q itself
    assert(n == 3);
    const bool forward = result.storage[1].onSecond.index == next(result.storage[0].onSecond.index);
    if (forward != (p.orientation == q.orientation)) std::swap(result.storage[1], result.storage[2]);
    return;
  }
  std::array<MeetingPoint, 6> sorted;
  size_t filled = 0;
  sorted[filled++] = result.storage[from];
  for (size_t previous = from, current = to; current != from;) {
    assert(filled < n);
    sorted[filled++] = result.storage[current];
    size_t following = 0;
    while (following < n && (following == previous || !adjacent[current][following])) ++following;
    assert(following < n);
    previous = current;
    current = following;
  }
  assert(filled == n);
  result.storage = sorted;
}

// Corners of the intersection: corners of one in the other, and proper crossings of edges.
TriangleMeeting meetingOfFlats(const Span& p, Span q) {
  TriangleMeeting result;
  if (p.count == 3 && q.count == 3) q.setAxis(p.axis);
  for (int i = 0; i < p.count; ++i) {
    const int c = p.corner[static_cast<size_t>(i)];
    const auto found = q.locate(at(p.t, c));
    if (!found) continue;
    addPoint(result, vertex(c), *found);
    result.storage[result.count - 1u].position = at(p.t, c);
  }
  for (int i = 0; i < q.count; ++i) {
    const int c = q.corner[static_cast<size_t>(i)];
    const auto found = p.locate(at(q.t, c));
    if (!found || found->kind == FeatureKind::Vertex) continue;
    addPoint(result, *found, vertex(c));
    result.storage[result.count - 1u].position = at(q.t, c);
  }
  for (int e = 0; e < p.edgeCount(); ++e) {
    for (int f = 0; f < q.edgeCount(); ++f) addCrossing(result, p, e, q, f);
  }
  result.kind = static_cast<MeetingKind>(std::min<int>(result.count, 3));
  if (result.kind == MeetingKind::Polygon) sortAround(result, p, q);
  return result;
}

// A triangle and a segment or point.
TriangleMeeting meetingWithThin(const Span& triangle, const Span& thin) {
  TriangleMeeting result;
  const Corners& t = triangle.t;
  std::array<double, 2> side{};
  for (size_t i = 0; i < static_cast<size_t>(thin.count); ++i) {
    side[i] = orient3d(t[0], t[1], t[2], at(thin.t, thin.corner[i]));
  }
  if (side[0] == 0 && side[1] == 0) return meetingOfFlats(triangle, thin);
  if (thin.count == 1 || sign(side[0]) * sign(side[1]) > 0) return result;
  if (side[0] == 0 || side[1] == 0) {
    const int c = thin.corner[side[0] == 0 ? 0 : 1];
    if (const auto found = triangle.locate(at(thin.t, c))) {
      addPoint(result, *found, vertex(c));
      result.storage[0].position = at(thin.t, c);
      result.kind = MeetingKind::Point;
    }
    return result;
  }
  const Vec3 &u = thin.edgeStart(0), &v = thin.edgeEnd(0);
  std::array<int, 3> s;
  for (int e = 0; e < 3; ++e) {
    s[static_cast<size_t>(e)] = sign(orient3d(at(t, e), at(t, next(e)), u, v));
  }
  const auto [low, high] = std::minmax({s[0], s[1], s[2]});
  if (low < 0 && high > 0) return result;
  addPoint(result, Span::featureOfZeros(s), edge(thin.edgeIndex(0)));
  const TriangleFeature& hit = result.storage[0].onFirst;
  result.storage[0].position =
      hit.kind == FeatureKind::Vertex ? t[hit.index] : between(u, v, side[1], side[0]);
  result.kind = MeetingKind::Point;
  return result;
}

TriangleMeeting meetingOfSpans(const Corners& first, const Corners& second) {
  const Span p(first), q(second);
  if (p.count == 3 && q.count < 3) return meetingWithThin(p, q);
  if (p.count < 3 && q.count == 3) {
    TriangleMeeting result = meetingWithThin(q, p);
    for (size_t i = 0; i < result.count; ++i)
      std::swap(result.storage[i].onFirst, result.storage[i].onSecond);
    return result;
  }
  return meetingOfFlats(p, q);
}

}  // namespace

// Corners off the other's plane prove that the other has area. So when both have some, the planes cross.
bool intersect(const TriangleCorners& first, const TriangleCorners& second) {
  const Sides ofSecond(first, second);
  if (ofSecond.apart()) return false;
  const Sides ofFirst(second, first);
  if (ofFirst.apart()) return false;
  if (ofFirst.allZero() || ofSecond.allZero()) return meetingOfSpans(first, second).kind != MeetingKind::None;
  const CommonLine line(first, ofFirst, second, ofSecond);
  return line.order(line.ofP.first, line.ofQ.last) >= 0 && line.order(line.ofP.last, line.ofQ.first) <= 0;
}

TriangleMeeting meeting(const TriangleCorners& first, const TriangleCorners& second) {
  const Sides ofSecond(first, second);
  if (ofSecond.apart()) return {};
  const Sides ofFirst(second, first);
  if (ofFirst.apart()) return {};
  if (ofFirst.allZero() || ofSecond.allZero()) return meetingOfSpans(first, second);
  return meetingOnLine(first, ofFirst, second, ofSecond);
}

}  // namespace sunder::geometry
