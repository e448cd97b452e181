#include "sunder/shapes/lathe_core.h"

#include "sunder/base/error.h"
#include "sunder/geometry/predicates.h"
#include "sunder/shapes/lathe.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace sunder::shapes {

namespace {

double cross(const Vec2& a, const Vec2& b) { return a.x() * b.y() - a.y() * b.x(); }

double twiceArea(std::span<const Vec2> polygon) {
  double sum = 0;
  for (size_t i = 0; i < polygon.size(); ++i)
    sum += cross(polygon[i] - polygon[0], polygon[(i + 1) % polygon.size()] - polygon[0]);
  return sum;
}

bool onSegment(const Vec2& p, const Vec2& a, const Vec2& b) {
  return std::min(a.x(), b.x()) <= p.x() && p.x() <= std::max(a.x(), b.x()) &&
         std::min(a.y(), b.y()) <= p.y() && p.y() <= std::max(a.y(), b.y());
}

bool segmentsMeet(const Vec2& a, const Vec2& b, const Vec2& c, const Vec2& d) {
  const double abc = geometry::orient2d(a, b, c), abd = geometry::orient2d(a, b, d);
  const double cda = geometry::orient2d(c, d, a), cdb = geometry::orient2d(c, d, b);
  if (((abc > 0 && abd < 0) || (abc < 0 && abd > 0)) && ((cda > 0 && cdb < 0) || (cda < 0 && cdb > 0)))
    return true;
  return (abc == 0 && onSegment(c, a, b)) || (abd == 0 && onSegment(d, a, b)) ||
         (cda == 0 && onSegment(a, c, d)) || (cdb == 0 && onSegment(b, c, d));
}

Error badProfile(const std::string& what) { return Error(ErrorKind::Geometry, "lathe profile " + what); }

// Throws where the profile is not a simple polygon in r >= 0.
void checkProfile(std::span<const Vec2> profile) {
  const size_t n = profile.size();
  if (n < 3) throw badProfile(fmt::format("has {} points, but needs at least 3", n));
  auto at = [&](size_t i) -> const Vec2& { return profile[i % n]; };
  for (size_t i = 0; i < n; ++i)
    if (!at(i).allFinite()) throw badProfile(fmt::format("point {} is not finite", i));
  for (size_t i = 0; i < n; ++i) {
    const Vec2 &p = at(i), &before = at(i + n - 1), &after = at(i + 1);
    if (p.x() < 0) throw badProfile(fmt::format("point {} has the negative radius {}", i, p.x()));
    if (p == after) throw badProfile(fmt::format("points {} and {} are equal", i, (i + 1) % n));
    if (p.x() == 0 && before.x() > 0 && after.x() > 0)
      throw badProfile(fmt::format("point {} touches the axis alone, which would pinch the surface", i));
    if (geometry::orient2d(before, p, after) == 0 && (p - before).dot(after - p) < 0)
      throw badProfile(fmt::format("runs back into itself at point {}", i));
  }
  // Edges by their lower end: only those whose spans of y overlap are compared.
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  auto low = [&](size_t i) { return std::min(at(i).y(), at(i + 1).y()); };
  auto high = [&](size_t i) { return std::max(at(i).y(), at(i + 1).y()); };
  std::ranges::sort(order,
                    [&](uint32_t a, uint32_t b) { return std::pair(low(a), a) < std::pair(low(b), b); });
  for (size_t x = 0; x < n; ++x)
    for (size_t y = x + 1; y < n && low(order[y]) <= high(order[x]); ++y) {
      const size_t i = order[x], j = order[y];
      if ((i + 1) % n == j || (j + 1) % n == i) continue;
      if (std::max(at(i).x(), at(i + 1).x()) < std::min(at(j).x(), at(j + 1).x())) continue;
      if (std::max(at(j).x(), at(j + 1).x()) < std::min(at(i).x(), at(i + 1).x())) continue;
      if (segmentsMeet(at(i), at(i + 1), at(j), at(j + 1)))
        throw badProfile(fmt::format("crosses or touches itself: the edges after points {} and {}",
                                     std::min(i, j), std::max(i, j)))
            .hint("a vessel's wall may be too thick for its radii");
    }
}

}  // namespace

std::vector<Vec2> unitPolygon(int n) {
  std::vector<Vec2> points;
  points.reserve(static_cast<size_t>(n));
  for (int k = 0; k < n; ++k) points.emplace_back(std::cos(2 * kPi * k / n), std::sin(2 * kPi * k / n));
  return points;
}

geometry::TriMesh loftUnchecked(const Loft& loft) {
  const std::vector<Vec2>&profile = loft.profile, &outline = loft.outline;
  const size_t rings = profile.size();
  const uint32_t around = static_cast<uint32_t>(outline.size());
  auto onAxis = [&](size_t i) { return profile[i % rings].x() == 0; };
  std::vector<uint32_t> first(rings);  // vertex of the ring's first point
  uint64_t vertexCount = 0, triangleCount = 0;
  for (size_t i = 0; i < rings; ++i) {
    first[i] = static_cast<uint32_t>(vertexCount);
    const bool inside =
        onAxis(i) && onAxis(i + 1) && onAxis(i + rings - 1);  // a point along a bare stretch of axis
    vertexCount += onAxis(i) ? (inside ? 0 : 1) : around;
    triangleCount += uint64_t(around) * ((onAxis(i) ? 0 : 1) + (onAxis(i + 1) ? 0 : 1));
    if (vertexCount >= kNoIndex) throw Error(ErrorKind::Limit, "more vertices than 32-bit indices can count");
  }

  geometry::TriMesh mesh;
  mesh.positions.reserve(vertexCount);
  mesh.triangles.reserve(triangleCount);
  for (size_t i = 0; i < rings; ++i) {
    const double r = profile[i].x(), y = profile[i].y();
    if (!onAxis(i))
      for (const Vec2& o : outline) mesh.positions.emplace_back(r * o.x(), y, -r * o.y());
    else if (!(onAxis(i + 1) && onAxis(i + rings - 1)))
      mesh.positions.emplace_back(0, y, 0);
  }
  for (size_t i = 0; i < rings; ++i) {
    const size_t j = (i + 1) % rings;
    for (uint32_t k = 0; k < around; ++k) {
      const uint32_t next = (k + 1) % around;
      if (onAxis(i) && onAxis(j)) continue;
      if (onAxis(i))
        mesh.triangles.push_back({first[i], first[j] + next, first[j] + k});
      else if (onAxis(j))
        mesh.triangles.push_back({first[i] + k, first[i] + next, first[j]});
      else {
        mesh.triangles.push_back({first[i] + k, first[i] + next, first[j] + next});
        mesh.triangles.push_back({first[i] + k, first[j] + next, first[j] + k});
      }
    }
  }
  return mesh;
}

Loft makeLoft(std::span<const Vec2> profile, std::span<const Vec2> outline) {
  checkProfile(profile);
  if (outline.size() < 3)
    throw Error(ErrorKind::Geometry,
                fmt::format("loft outline has {} points, but needs at least 3", outline.size()));
  double turned = 0;  // one turn around the origin, always forwards: star-shaped and counter-clockwise
  for (size_t i = 0; i < outline.size(); ++i) {
    const Vec2 &p = outline[i], &q = outline[(i + 1) % outline.size()];
    if (!p.allFinite() || !(cross(p, q) > 0))
      throw Error(
          ErrorKind::Geometry,
          fmt::format("loft outline is not star-shaped and counter-clockwise around the origin at point {}",
                      i));
    turned += std::atan2(cross(p, q), p.dot(q));
  }
  if (turned > 3 * kPi)
    throw Error(ErrorKind::Geometry, "loft outline goes around the origin more than once");
  std::vector<Vec2> ordered(profile.begin(), profile.end());
  const double area = twiceArea(ordered);
  if (area == 0) throw badProfile("encloses nothing");
  if (area < 0) std::reverse(ordered.begin(), ordered.end());
  return {std::move(ordered), {outline.begin(), outline.end()}};
}

Loft makeLathe(std::span<const Vec2> profile, int segments) {
  if (segments < 3) throw Error(ErrorKind::Usage, fmt::format("a lathe needs 3 segments, not {}", segments));
  return makeLoft(profile, unitPolygon(segments));
}

geometry::TriMesh loft(std::span<const Vec2> profile, std::span<const Vec2> outline) {
  return loftUnchecked(makeLoft(profile, outline));
}

geometry::TriMesh lathe(std::span<const Vec2> profile, int segments) {
  return loftUnchecked(makeLathe(profile, segments));
}

}  // namespace sunder::shapes
