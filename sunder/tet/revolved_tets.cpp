#include "sunder/tet/revolved_tets.h"

#include "sunder/base/error.h"
#include "sunder/geometry/predicates.h"
#include "sunder/tet/plane_triangles.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::tet {

namespace {

using geometry::Triangle;
using shapes::Loft;

uint32_t partsOf(double length, double edge) {
  return uint32_t(std::clamp(std::round(length / edge), 1.0, 1e6));
}

void appendLine(std::vector<Vec2>& line, const Vec2& from, const Vec2& to, uint32_t parts) {
  line.push_back(from);
  for (uint32_t k = 1; k < parts; ++k) line.push_back(from + (to - from) * (double(k) / parts));
}

// Begins behind an edge on the axis, if there is one: then only edges on the axis lead back to lower numbers.
std::vector<Vec2> dividedProfile(std::span<const Vec2> profile, double edge) {
  const size_t n = profile.size();
  const auto onAxis = [&](size_t i) { return profile[i % n].x() == 0 && profile[(i + 1) % n].x() == 0; };
  size_t first = 0;
  while (first < n && !onAxis(first)) ++first;
  first = first < n ? first + 1 : 0;
  std::vector<Vec2> line;
  for (size_t k = 0; k < n; ++k) {
    const Vec2 &from = profile[(first + k) % n], &to = profile[(first + k + 1) % n];
    // Floors are walls, too.
    const uint32_t least = onAxis(first + k) ? 2 : 1;
    appendLine(line, from, to, std::max(least, partsOf((to - from).norm(), edge)));
  }
  return line;
}

std::vector<Vec2> dividedOutline(const Loft& loft, double edge) {
  double widest = 0;
  for (const Vec2& p : loft.profile) widest = std::max(widest, p.x());
  std::vector<Vec2> line;
  for (size_t k = 0; k < loft.outline.size(); ++k) {
    const Vec2 &from = loft.outline[k], &to = loft.outline[(k + 1) % loft.outline.size()];
    appendLine(line, from, to, partsOf(widest * (to - from).norm(), edge));
  }
  return line;
}

// A profile that goes around without touching the axis has one edge, from its last corner to the first, that
// runs against the numbers. Its triangle must not have a third corner on the profile, or its edges would run
// in a circle.
void freeLastEdge(PlaneTriangles& plane, uint32_t corners) {
  for (size_t t = 0; t < plane.triangles.size(); ++t) {
    const Triangle old = plane.triangles[t];
    for (size_t i = 0; i < 3; ++i) {
      if (old[i] != corners - 1 || old[(i + 1) % 3] != 0 || old[(i + 2) % 3] >= corners) continue;
      const auto v = uint32_t(plane.points.size());
      plane.points.push_back((plane.points[old[0]] + plane.points[old[1]] + plane.points[old[2]]) / 3);
      plane.triangles[t] = {old[0], old[1], v};
      plane.triangles.push_back({old[1], old[2], v});
      plane.triangles.push_back({old[2], old[0], v});
      return;
    }
  }
}

}  // namespace

geometry::TetMesh revolvedTets(const Loft& given, double edge, size_t mostTets) {
  if (!(edge > 0)) throw Error(ErrorKind::Usage, "a body of revolution to fill needs an edge length above 0");
  const Loft loft = shapes::makeLoft(given.profile, given.outline);
  const std::vector<Vec2> profile = dividedProfile(loft.profile, edge);
  const std::vector<Vec2> outline = dividedOutline(loft, edge);
  const auto around = uint32_t(outline.size()), corners = uint32_t(profile.size());
  const auto tooMany = [&](double tets) {
    return Error(ErrorKind::Limit, fmt::format("{:.3g} tetrahedra are too many", tets))
        .hint("use a longer edge");
  };
  if (!(3.0 * corners * around <= double(mostTets))) throw tooMany(3.0 * corners * around);
  PlaneFillSettings settings{.edge = edge, .notWalls = {}, .mostTriangles = mostTets / (3 * size_t(around))};
  for (const Vec2& p : profile) settings.notWalls.push_back(p.x() == 0);
  PlaneTriangles plane = fillPolygon(profile, settings);
  const bool touchesAxis =
      std::any_of(profile.begin(), profile.end(), [](const Vec2& p) { return p.x() == 0; });
  if (!touchesAxis) freeLastEdge(plane, corners);
  if (!(3.0 * double(plane.triangles.size()) * around <= double(mostTets)))
    throw tooMany(3.0 * double(plane.triangles.size()) * around);

  geometry::TetMesh mesh;
  std::vector<uint32_t> first;  // vertex of a point in the first plane
  for (const Vec2& p : plane.points) {
    first.push_back(uint32_t(mesh.positions.size()));
    if (p.x() == 0)
      mesh.positions.emplace_back(0, p.y(), 0);
    else
      for (const Vec2& o : outline) mesh.positions.emplace_back(p.x() * o.x(), p.y(), -p.x() * o.y());
  }
  const auto vertex = [&](uint32_t point, uint32_t k) {
    return first[point] + (plane.points[point].x() == 0 ? 0 : k % around);
  };
  // Does the edge run from a to b?
  const auto runs = [&](uint32_t a, uint32_t b) {
    if (!touchesAxis && a + b == corners - 1 && (a == 0 || b == 0)) return b == 0;
    return a < b;
  };
  for (Triangle t : plane.triangles) {
    // Planes follow each other towards the back of the triangles: a turn that stays one makes negative parts.
    bool even = true;
    for (const auto& [i, j] : {std::pair<size_t, size_t>{0, 1}, {1, 2}, {0, 1}})
      if (runs(t[j], t[i])) {
        std::swap(t[i], t[j]);
        even = !even;
      }
    for (uint32_t k = 0; k < around; ++k) {
      const std::array<std::array<uint32_t, 2>, 3> v{{{vertex(t[0], k), vertex(t[0], k + 1)},
                                                      {vertex(t[1], k), vertex(t[1], k + 1)},
                                                      {vertex(t[2], k), vertex(t[2], k + 1)}}};
      // Each has both vertices of one corner: nothing where that is on the axis.
      const std::array<geometry::Tetrahedron, 3> parts{{{v[0][0], v[1][0], v[2][0], v[2][1]},
                                                        {v[0][0], v[1][1], v[1][0], v[2][1]},
                                                        {v[0][0], v[0][1], v[1][1], v[2][1]}}};
      for (size_t i = 0; i < 3; ++i) {
        if (plane.points[t[2 - i]].x() == 0) continue;
        geometry::Tetrahedron tet = parts[i];
        if (even) std::swap(tet[2], tet[3]);
        const auto& p = mesh.positions;
        if (!(geometry::orient3d(p[tet[0]], p[tet[1]], p[tet[2]], p[tet[3]]) > 0))
          throw Error(ErrorKind::Geometry,
                      fmt::format("the profile is too thin to be filled near r = {:.4g}, y = {:.4g}",
                                  plane.points[t[0]].x(), plane.points[t[0]].y()));
        mesh.tets.push_back(tet);
      }
    }
  }
  return mesh;
}

}  // namespace sunder::tet
