#include "sunder/tet/plane_triangles.h"

#include "sunder/base/error.h"
#include "sunder/geometry/predicates.h"
#include "sunder/geometry/triangulate.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace sunder::tet {

namespace {

using geometry::incircle;
using geometry::orient2d;
using geometry::Triangle;

constexpr double kLargestCircle = 0.85;  // radius, in edges: that of a regular triangle is 0.58
constexpr double kHalfWayApart = 0.7;  // distance of points in walls, in lengths of the polygon's edges there
constexpr double kOffBoundary = 0.4;   // and from corners, in lengths of the chord

// Triangles that know their neighbours; edge i is opposite to corner i.
class Flipper {
 public:
  Flipper(std::span<const Vec2> polygon, std::vector<Triangle> triangles)
      : points(polygon.begin(), polygon.end()), corners(std::move(triangles)), across(corners.size()) {
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> sides;
    for (uint32_t t = 0; t < corners.size(); ++t)
      for (uint32_t i = 0; i < 3; ++i) sides[{from(t, i), to(t, i)}] = t;
    for (uint32_t t = 0; t < corners.size(); ++t)
      for (uint32_t i = 0; i < 3; ++i) {
        const auto other = sides.find({to(t, i), from(t, i)});
        across[t][i] = other == sides.end() ? kNoIndex : other->second;
      }
    for (uint32_t t = 0; t < corners.size(); ++t)
      for (uint32_t i = 0; i < 3; ++i) suspects_.push_back({from(t, i), to(t, i), t});
    flipAll();
  }

  uint32_t from(uint32_t t, uint32_t i) const { return corners[t][(i + 1) % 3]; }
  uint32_t to(uint32_t t, uint32_t i) const { return corners[t][(i + 2) % 3]; }
  const Vec2& at(uint32_t t, uint32_t i) const { return points[corners[t][i]]; }

  // The triangle that has `p`, on a straight way from `start`; none where the boundary is in between.
  uint32_t walk(uint32_t start, const Vec2& p) const {
    uint32_t t = start;
    for (size_t steps = 0; steps <= corners.size(); ++steps) {
      uint32_t out = 3;
      for (uint32_t i = 0; i < 3 && out == 3; ++i)
        if (orient2d(points[from(t, i)], points[to(t, i)], p) < 0) out = i;
      if (out == 3) return t;
      t = across[t][out];
      if (t == kNoIndex) return kNoIndex;
    }
    return kNoIndex;
  }
  uint32_t find(const Vec2& p) const {
    for (uint32_t t = 0; t < corners.size(); ++t) {
      bool inside = true;
      for (uint32_t i = 0; i < 3; ++i)
        inside = inside && orient2d(points[from(t, i)], points[to(t, i)], p) >= 0;
      if (inside) return t;
    }
    return kNoIndex;
  }

  // Adds `p`, which triangle `t` has; false where it is on the boundary or on a corner.
  bool insert(uint32_t t, const Vec2& p) {
    uint32_t onEdge = 3;
    for (uint32_t i = 0; i < 3; ++i)
      if (orient2d(points[from(t, i)], points[to(t, i)], p) == 0) {
        if (onEdge != 3 || across[t][i] == kNoIndex) return false;
        onEdge = i;
      }
    const auto v = uint32_t(points.size());
    points.push_back(p);
    const Triangle old = corners[t];
    const std::array<uint32_t, 3> outside = across[t];
    const auto count = uint32_t(corners.size());
    const std::array<uint32_t, 3> made{t, count, count + 1};  // made[i] has the old edge i
    corners.resize(count + 2);
    across.resize(count + 2);
    for (uint32_t i = 0; i < 3; ++i) {
      const uint32_t a = old[(i + 1) % 3], b = old[(i + 2) % 3];
      corners[made[i]] = {v, a, b};
      across[made[i]] = {outside[i], made[(i + 1) % 3], made[(i + 2) % 3]};
      if (outside[i] != kNoIndex) relink(outside[i], t, made[i]);
      suspects_.push_back({a, b, made[i]});
    }
    // One that is flat goes first: its circle says nothing.
    if (onEdge != 3) flip(made[onEdge], 0);
    flipAll();
    return true;
  }

  std::vector<Vec2> points;
  std::vector<Triangle> corners;
  std::vector<std::array<uint32_t, 3>> across;

 private:
  struct Suspect {
    uint32_t a, b, tet;
  };

  void relink(uint32_t t, uint32_t old, uint32_t now) {
    for (uint32_t& n : across[t])
      if (n == old) {
        n = now;
        return;
      }
  }

  // Turns the edge opposite to corner i of t, shared with another triangle.
  void flip(uint32_t t, uint32_t i) {
    const uint32_t u = across[t][i];
    uint32_t j = 0;
    while (across[u][j] != t) ++j;
    const uint32_t p = corners[t][i], a = from(t, i), b = to(t, i), q = corners[u][j];
    const uint32_t tb = across[t][(i + 1) % 3], ta = across[t][(i + 2) % 3];  // beyond b-p and p-a
    const uint32_t ua = across[u][(j + 1) % 3], ub = across[u][(j + 2) % 3];  // beyond a-q and q-b
    corners[t] = {p, a, q};
    across[t] = {ua, u, ta};
    corners[u] = {p, q, b};
    across[u] = {ub, tb, t};
    if (ua != kNoIndex) relink(ua, u, t);
    if (tb != kNoIndex) relink(tb, t, u);
    for (const Suspect& s : {Suspect{a, q, t}, Suspect{q, b, u}, Suspect{b, p, u}, Suspect{p, a, t}})
      suspects_.push_back(s);
  }

  void flipAll() {
    while (!suspects_.empty()) {
      const Suspect s = suspects_.back();
      suspects_.pop_back();
      // The edge may have gone over to another triangle since; then it was noted again.
      for (uint32_t i = 0; i < 3; ++i) {
        if (from(s.tet, i) != s.a || to(s.tet, i) != s.b) continue;
        const uint32_t u = across[s.tet][i];
        if (u == kNoIndex) break;
        uint32_t j = 0;
        while (across[u][j] != s.tet) ++j;
        if (incircle(at(s.tet, 0), at(s.tet, 1), at(s.tet, 2), at(u, j)) > 0) flip(s.tet, i);
        break;
      }
    }
  }

  std::vector<Suspect> suspects_;
};

Vec2 circleOf(const Vec2& a, const Vec2& b, const Vec2& c) {
  const Vec2 u = b - a, v = c - a;
  const double twice = 2 * (u.x() * v.y() - u.y() * v.x());
  const double uu = u.squaredNorm(), vv = v.squaredNorm();
  return a + Vec2(v.y() * uu - u.y() * vv, u.x() * vv - v.x() * uu) / twice;
}

// Between corners that are not next to each other, from the shortest chord on: those across walls come
// before those that run along in them.
void addHalfWay(Flipper& mesh, std::span<const Vec2> polygon, const PlaneFillSettings& settings) {
  const auto n = uint32_t(polygon.size());
  const auto wall = [&](uint32_t v) { return settings.notWalls.empty() || !settings.notWalls[v]; };
  struct Chord {
    double length;
    uint32_t a, b;
    bool operator<(const Chord& o) const { return std::tie(length, a, b) < std::tie(o.length, o.a, o.b); }
  };
  std::vector<Chord> chords;
  for (uint32_t t = 0; t < mesh.corners.size(); ++t)
    for (uint32_t i = 0; i < 3; ++i) {
      const uint32_t a = mesh.from(t, i), b = mesh.to(t, i);
      if (mesh.across[t][i] == kNoIndex || a > b || !wall(a) || !wall(b)) continue;
      chords.push_back({(polygon[a] - polygon[b]).norm(), a, b});
    }
  std::sort(chords.begin(), chords.end());
  // Mean length of the edges at a corner.
  const auto spacing = [&](uint32_t v) {
    return 0.5 *
           ((polygon[v] - polygon[(v + 1) % n]).norm() + (polygon[v] - polygon[(v + n - 1) % n]).norm());
  };
  for (const Chord& chord : chords) {
    const Vec2 middle = 0.5 * (polygon[chord.a] + polygon[chord.b]);
    const double apart = kHalfWayApart * std::min(0.5 * (spacing(chord.a) + spacing(chord.b)), settings.edge);
    bool room = true;
    for (uint32_t v = 0; v < mesh.points.size() && room; ++v)
      room = (mesh.points[v] - middle).norm() >= (v < n ? kOffBoundary * chord.length : apart);
    if (!room) continue;
    if (const uint32_t t = mesh.find(middle); t != kNoIndex) mesh.insert(t, middle);
  }
}

void refine(Flipper& mesh, std::span<const Vec2> polygon, const PlaneFillSettings& settings) {
  const auto n = uint32_t(polygon.size());
  bool changed = true;
  while (changed) {
    changed = false;
    const size_t known = mesh.corners.size();
    for (uint32_t t = 0; t < known; ++t) {
      const Vec2 middle = circleOf(mesh.at(t, 0), mesh.at(t, 1), mesh.at(t, 2));
      if (!((middle - mesh.at(t, 0)).norm() > kLargestCircle * settings.edge) || !middle.allFinite())
        continue;
      // Not where an edge of the boundary would see it under a right angle or more.
      bool clear = true;
      for (uint32_t v = 0; v < n && clear; ++v)
        clear = (polygon[v] - middle).dot(polygon[(v + 1) % n] - middle) > 0;
      if (!clear) continue;
      const uint32_t place = mesh.walk(t, middle);
      if (place == kNoIndex || !mesh.insert(place, middle)) continue;
      changed = true;
      if (mesh.corners.size() > settings.mostTriangles)
        throw Error(ErrorKind::Limit, fmt::format("more than {} triangles", settings.mostTriangles))
            .hint("use a longer edge");
    }
  }
}

}  // namespace

PlaneTriangles fillPolygon(std::span<const Vec2> polygon, const PlaneFillSettings& settings) {
  if (!(settings.edge > 0)) throw Error(ErrorKind::Usage, "a polygon to fill needs an edge length above 0");
  for (const Vec2& p : polygon)
    if (!p.allFinite()) throw Error(ErrorKind::Geometry, "a polygon to fill has a point that is not finite");
  geometry::Triangulation ears = geometry::triangulate(polygon);
  if (polygon.size() < 3 || !ears.clean || ears.triangles.empty())
    throw Error(ErrorKind::Geometry, "a polygon to fill crosses or touches itself");
  const auto& [a, b, c] = ears.triangles[0];
  if (orient2d(polygon[a], polygon[b], polygon[c]) < 0)
    throw Error(ErrorKind::Geometry, "a polygon to fill turns clockwise");
  Flipper mesh(polygon, std::move(ears.triangles));
  if (settings.halfWay) addHalfWay(mesh, polygon, settings);
  refine(mesh, polygon, settings);
  return {std::move(mesh.points), std::move(mesh.corners)};
}

}  // namespace sunder::tet
