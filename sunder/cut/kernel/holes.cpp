#include "sunder/cut/kernel/holes.h"

#include "sunder/geometry/predicates.h"

#include <limits>

namespace sunder::cut {

namespace {

using geometry::orient2d;

// 1 inside, 0 on, -1 outside.
int locate(const Vec2& p, const Loop& loop) {
  int winding = 0;
  for (size_t i = 0; i < loop.size(); ++i) {
    const Vec2 &a = loop[i].at, &b = loop[i + 1 == loop.size() ? 0 : i + 1].at;
    if (a == p) return 0;
    const bool up = a.y() <= p.y() && p.y() < b.y(), down = b.y() <= p.y() && p.y() < a.y();
    if (!up && !down) {
      const bool between = std::min(a.x(), b.x()) <= p.x() && p.x() <= std::max(a.x(), b.x());
      if (a.y() == p.y() && b.y() == p.y() && between) return 0;
      continue;
    }
    const double turn = orient2d(a, b, p);
    if (turn == 0) return 0;
    if (up && turn > 0) ++winding;
    if (down && turn < 0) --winding;
  }
  return winding != 0 ? 1 : -1;
}

bool insideTriangle(const Vec2& p, const Vec2& a, const Vec2& b, const Vec2& c) {
  const double s = orient2d(a, b, p), t = orient2d(b, c, p), u = orient2d(c, a, p);
  return (s >= 0 && t >= 0 && u >= 0) || (s <= 0 && t <= 0 && u <= 0);
}

// Does the direction to `p` leave corner i of the loop into its inside?
bool looksInside(const Loop& loop, size_t i, const Vec2& p) {
  const Vec2 &at = loop[i].at, &before = loop[i == 0 ? loop.size() - 1 : i - 1].at,
             &after = loop[i + 1 == loop.size() ? 0 : i + 1].at;
  const bool leftOfOut = orient2d(at, after, p) > 0, leftOfIn = orient2d(before, at, p) > 0;
  return orient2d(before, at, after) > 0 ? leftOfOut && leftOfIn : leftOfOut || leftOfIn;
}

}  // namespace

int64_t votesInside(const Loop& hole, const Loop& loop) {
  int64_t votes = 0;
  for (size_t i = 0; i < hole.size(); ++i) {
    const Vec2 &a = hole[i].at, &b = hole[i + 1 == hole.size() ? 0 : i + 1].at;
    votes += locate(a, loop) + locate(0.5 * (a + b), loop);
  }
  return votes;
}

Bridge findBridge(const Loop& loop, const Loop& hole) {
  size_t from = 0;
  for (size_t i = 1; i < hole.size(); ++i) {
    const Vec2 &p = hole[i].at, &best = hole[from].at;
    if (p.x() > best.x() || (p.x() == best.x() && p.y() > best.y())) from = i;
  }
  const Vec2 v = hole[from].at;
  // A slit has its corners twice, once on either side: the bridge ends on the side that it comes from.
  const auto facing = [&](const Vec2& target) {
    for (size_t i = 0; i < hole.size(); ++i)
      if (hole[i].at == v && looksInside(hole, i, target)) return i;
    return from;
  };
  // The edge that a ray to the right meets first; going up, since the inside is to its left.
  size_t best = loop.size();
  double reach = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < loop.size(); ++i) {
    const Vec2 &a = loop[i].at, &b = loop[i + 1 == loop.size() ? 0 : i + 1].at;
    if (!(a.y() <= v.y() && v.y() < b.y()) || orient2d(a, b, v) < 0) continue;
    const double x = a.x() + (v.y() - a.y()) / (b.y() - a.y()) * (b.x() - a.x());
    if (x < reach) {
      reach = x;
      best = i;
    }
  }
  if (best == loop.size()) {
    // Rounding put the hole outside: take the nearest corner.
    size_t nearest = 0;
    for (size_t i = 1; i < loop.size(); ++i)
      if ((loop[i].at - v).squaredNorm() < (loop[nearest].at - v).squaredNorm()) nearest = i;
    return {nearest, facing(loop[nearest].at)};
  }
  const size_t after = best + 1 == loop.size() ? 0 : best + 1;
  size_t to = loop[best].at.x() > loop[after].at.x() ? best : after;
  const Vec2 hit(reach, v.y()), w = loop[to].at;
  double slope = std::numeric_limits<double>::infinity(), distance = slope;
  size_t closer = loop.size();
  for (size_t i = 0; i < loop.size(); ++i) {
    const Vec2& p = loop[i].at;
    if (p == w || p.x() < v.x() || !insideTriangle(p, v, hit, w) || !looksInside(loop, i, v)) continue;
    const Vec2 d = p - v;
    const double s = d.x() > 0 ? std::abs(d.y()) / d.x() : std::numeric_limits<double>::max();
    if (s < slope || (s == slope && d.squaredNorm() < distance)) {
      slope = s;
      distance = d.squaredNorm();
      closer = i;
    }
  }
  if (closer < loop.size()) to = closer;
  return {to, facing(loop[to].at)};
}

}  // namespace sunder::cut
