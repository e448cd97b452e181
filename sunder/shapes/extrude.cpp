#include "sunder/shapes/extrude.h"

#include "sunder/base/error.h"
#include "sunder/geometry/triangulate.h"
#include "sunder/shapes/fields.h"
#include "sunder/shapes/lathe_core.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include <fmt/format.h>

namespace sunder::shapes {

namespace {

double twiceOutlineArea(std::span<const Vec2> polygon) {
  double sum = 0;
  for (size_t i = 0; i < polygon.size(); ++i) {
    const Vec2 a = polygon[i] - polygon[0], b = polygon[(i + 1) % polygon.size()] - polygon[0];
    sum += a.x() * b.y() - a.y() * b.x();
  }
  return sum;
}

std::vector<Vec2> turnedTo(std::vector<Vec2> polygon, bool counterClockwise) {
  if ((twiceOutlineArea(polygon) > 0) != counterClockwise) std::reverse(polygon.begin(), polygon.end());
  return polygon;
}

double distanceToOrigin(std::span<const Vec2> polygon) {
  double nearest = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < polygon.size(); ++i) {
    const Vec2 a = polygon[i], d = polygon[(i + 1) % polygon.size()] - a;
    nearest = std::min(nearest, (a + d * std::clamp(-a.dot(d) / d.squaredNorm(), 0.0, 1.0)).norm());
  }
  return nearest;
}

// A corner at `radius`, `turns` around from the top, counter-clockwise.
Vec2 around(double radius, double turns) {
  const double angle = 2 * kPi * turns;
  return {-radius * std::sin(angle), radius * std::cos(angle)};
}

}  // namespace

geometry::TriMesh extrude(const Outline& outline, double depth, int layers) {
  if (!(depth > 0) || !std::isfinite(depth))
    throw Error(ErrorKind::Usage, fmt::format("extrude: depth is {}, but must be positive", depth));
  if (layers < 1)
    throw Error(ErrorKind::Usage, fmt::format("extrude: {} layers, but must be at least 1", layers));
  Outline turned;
  turned.outer = turnedTo(outline.outer, true);
  for (const auto& hole : outline.holes) turned.holes.push_back(turnedTo(hole, false));
  std::vector<std::span<const Vec2>> contours{turned.outer};
  contours.insert(contours.end(), turned.holes.begin(), turned.holes.end());
  for (const auto& contour : contours)
    for (const Vec2& p : contour)
      if (!p.allFinite())
        throw Error(ErrorKind::Geometry, "extrude: a coordinate of the outline is not finite");
  const geometry::Triangulation face = geometry::triangulate(turned.outer, turned.holes);
  if (!face.clean)
    throw Error(ErrorKind::Geometry, "extrude: the outline is not simple")
        .hint("contours may not cross, touch or repeat a point, and holes must lie inside");
  const std::vector<geometry::Triangle>& cap = face.triangles;

  uint32_t perLevel = 0;
  for (const auto& contour : contours) perLevel += static_cast<uint32_t>(contour.size());
  const uint32_t levels = static_cast<uint32_t>(layers) + 1;
  if (uint64_t(perLevel) * levels >= kNoIndex)
    throw Error(ErrorKind::Limit, "extrude: more vertices than 32-bit indices can count");

  geometry::TriMesh mesh;
  mesh.positions.reserve(size_t(perLevel) * levels);
  for (uint32_t level = 0; level < levels; ++level) {
    const double z = 0.5 * depth * ((2.0 * level - layers) / layers);
    for (const auto& contour : contours)
      for (const Vec2& p : contour) mesh.positions.emplace_back(p.x(), p.y(), z);
  }
  const uint32_t top = (levels - 1) * perLevel;
  mesh.triangles.reserve(2 * cap.size() + 2 * size_t(perLevel) * static_cast<size_t>(layers));
  for (const geometry::Triangle& t : cap) mesh.triangles.push_back({t[0], t[2], t[1]});
  for (const geometry::Triangle& t : cap) mesh.triangles.push_back({t[0] + top, t[1] + top, t[2] + top});
  uint32_t first = 0;
  for (const auto& contour : contours) {
    const uint32_t n = static_cast<uint32_t>(contour.size());
    for (uint32_t level = 0; level + 1 < levels; ++level)
      for (uint32_t i = 0; i < n; ++i) {
        const uint32_t a = level * perLevel + first + i, b = level * perLevel + first + (i + 1) % n;
        mesh.triangles.push_back({a, b, b + perLevel});
        mesh.triangles.push_back({a, b + perLevel, a + perLevel});
      }
    first += n;
  }
  return mesh;
}

Outline namedOutline(const ExtrusionShape& shape) {
  checkFields("extrusion", shape);
  const double r = shape.radius, inner = shape.inner;
  const int n = shape.points;
  Outline result;
  std::vector<Vec2>& outer = result.outer;
  bool takesHole = true;
  if (shape.outline == "polygon") {
    for (int k = 0; k < n; ++k) outer.push_back(around(r, static_cast<double>(k) / n));
  } else if (shape.outline == "star") {
    for (int k = 0; k < n; ++k) {
      outer.push_back(around(r, static_cast<double>(k) / n));
      outer.push_back(around(inner * r, (k + 0.5) / n));
    }
  } else if (shape.outline == "gear") {
    for (int k = 0; k < n; ++k) {  // a tooth: 28 % of the pitch at its tip, 52 % at its root
      outer.push_back(around(inner * r, (k - 0.26) / n));
      outer.push_back(around(r, (k - 0.14) / n));
      outer.push_back(around(r, (k + 0.14) / n));
      outer.push_back(around(inner * r, (k + 0.26) / n));
    }
  } else if (shape.outline == "l") {
    const double arm = 2 * r * (1 - inner);
    outer = {{-r, -r}, {r, -r}, {r, arm - r}, {arm - r, arm - r}, {arm - r, r}, {-r, r}};
    takesHole = false;
  } else {  // an arrow along x
    const double shaft = 0.55 * r * (1 - inner), head = 0.6 * r, neck = 0.1 * r;
    outer = {{-r, -shaft}, {neck, -shaft}, {neck, -head}, {r, 0}, {neck, head}, {neck, shaft}, {-r, shaft}};
    takesHole = false;
  }
  if (shape.hole > 0 && takesHole) {
    const double limit = distanceToOrigin(outer) / r;
    if (!(shape.hole < limit))
      throw Error(ErrorKind::Usage,
                  fmt::format("extrusion: hole is {}, but must be less than {:.4g} to fit this {}",
                              shape.hole, limit, shape.outline));
    std::vector<Vec2> hole = unitPolygon(32);
    for (Vec2& p : hole) p *= shape.hole * r;
    result.holes.push_back(std::move(hole));
  }
  return result;
}

geometry::TriMesh makeExtrusion(const ExtrusionShape& shape) {
  return extrude(namedOutline(shape), shape.depth, shape.layers);
}

void describe(ShapeFields& fields, ExtrusionShape& s) {
  fields.choice("outline", s.outline, "polygon star gear l arrow", "what is extruded");
  fields.integer("points", s.points, 3, 1000, "corners, tips or teeth; not for l and arrow");
  fields.length("radius", s.radius, "of the circle around it; half the larger side of l and arrow");
  fields.number("inner", s.inner, 0.05, 0.95, "",
                "dents, tooth roots or slenderness, as a fraction of radius");
  fields.number("hole", s.hole, 0, 0.95, "",
                "radius of a round hole, as a fraction of radius; not for l and arrow");
  fields.length("depth", s.depth, "thickness, along z");
  fields.integer("layers", s.layers, 1, kMostSegments, "segments along the depth");
}

}  // namespace sunder::shapes
