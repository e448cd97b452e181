#include "sunder/shapes/lathe.h"

#include "sunder/base/error.h"
#include "sunder/shapes/fields.h"
#include "sunder/shapes/lathe_core.h"

#include <cmath>

#include <fmt/format.h>

namespace sunder::shapes {

namespace {

// Appends `parts` - 1 points between and then `to`; nothing is appended for a part of no length.
void lineTo(std::vector<Vec2>& profile, const Vec2& to, int parts) {
  const Vec2 from = profile.back();
  if (from == to) return;
  for (int k = 1; k < parts; ++k) profile.push_back(from + (to - from) * (static_cast<double>(k) / parts));
  profile.push_back(to);
}

// Cap, side, cap: what cylinder and cone have in common.
Loft stack(double bottom, double top, double height, int segments, int layers, int capRings) {
  const double y = 0.5 * height;
  std::vector<Vec2> profile{{0, -y}};
  lineTo(profile, {bottom, -y}, capRings);
  lineTo(profile, {top, y}, layers);
  lineTo(profile, {0, y}, capRings);
  return {std::move(profile), unitPolygon(segments)};
}

}  // namespace

Loft loftOf(const UvSphereShape& shape) {
  checkFields("uv-sphere", shape);
  std::vector<Vec2> profile;
  for (int k = 0; k <= shape.rings; ++k) {
    const double angle = kPi * k / shape.rings;
    const bool pole = k == 0 || k == shape.rings;
    profile.emplace_back(pole ? 0.0 : shape.radius * std::sin(angle), -shape.radius * std::cos(angle));
  }
  return {std::move(profile), unitPolygon(shape.segments)};
}

Loft loftOf(const CylinderShape& s) {
  checkFields("cylinder", s);
  return stack(s.radius, s.radius, s.height, s.segments, s.layers, s.capRings);
}

Loft loftOf(const ConeShape& s) {
  checkFields("cone", s);
  if (s.radius == 0 && s.topRadius == 0)
    throw Error(ErrorKind::Usage, "cone: radius and topRadius are both 0")
        .hint("one of them may be 0, not both");
  return stack(s.radius, s.topRadius, s.height, s.segments, s.layers, s.capRings);
}

Loft loftOf(const CapsuleShape& shape) {
  checkFields("capsule", shape);
  const double half = 0.5 * shape.length;
  std::vector<Vec2> profile{{0, -half - shape.radius}};
  for (int k = 1; k <= shape.rings; ++k) {
    const double angle = 0.5 * kPi * k / shape.rings;
    profile.emplace_back(shape.radius * std::sin(angle), -half - shape.radius * std::cos(angle));
  }
  profile.back() = {shape.radius, -half};
  lineTo(profile, {shape.radius, half}, shape.layers);
  for (int k = shape.rings - 1; k > 0; --k) {
    const double angle = 0.5 * kPi * k / shape.rings;
    profile.emplace_back(shape.radius * std::sin(angle), half + shape.radius * std::cos(angle));
  }
  profile.emplace_back(0, half + shape.radius);
  return {std::move(profile), unitPolygon(shape.segments)};
}

Loft loftOf(const TorusShape& shape) {
  checkFields("torus", shape);
  if (!(shape.tube < shape.radius))
    throw Error(ErrorKind::Usage,
                fmt::format("torus: tube is {}, but must be less than radius, {}", shape.tube, shape.radius));
  std::vector<Vec2> profile;
  for (const Vec2& p : unitPolygon(shape.sides))
    profile.emplace_back(shape.radius + shape.tube * p.x(), shape.tube * p.y());
  return {std::move(profile), unitPolygon(shape.segments)};
}

Loft loftOf(const PlateShape& shape) {
  checkFields("plate", shape);
  const double halfX = 0.5 * shape.width, halfZ = 0.5 * shape.depth, corner = shape.corner;
  const double slack = 1e-9 * (shape.width + shape.depth);
  if (corner > std::min(halfX, halfZ) + slack)
    throw Error(ErrorKind::Usage,
                fmt::format("plate: corner is {}, but must not exceed half of width and depth, {}", corner,
                            std::min(halfX, halfZ)));
  std::vector<Vec2> outline;
  const Vec2 inner(halfX - corner, halfZ - corner);
  const Vec2 centres[4] = {
      {inner.x(), inner.y()}, {-inner.x(), inner.y()}, {-inner.x(), -inner.y()}, {inner.x(), -inner.y()}};
  const int arcParts = corner > 0 ? shape.cornerSegments : 0;
  auto arcPoint = [&](int quarter, int k) -> Vec2 {
    const double angle = 0.5 * kPi * (quarter + (arcParts > 0 ? static_cast<double>(k) / arcParts : 0.0));
    return centres[quarter] + corner * Vec2(std::cos(angle), std::sin(angle));
  };
  for (int quarter = 0; quarter < 4; ++quarter) {
    for (int k = 0; k <= arcParts; ++k) outline.push_back(arcPoint(quarter, k));
    const Vec2 from = outline.back(), to = arcPoint((quarter + 1) % 4, 0);
    if ((to - from).norm() <= slack)
      outline.pop_back();  // arcs that meet share the point
    else
      for (int k = 1; k < shape.edgeSegments; ++k)
        outline.push_back(from + (to - from) * (static_cast<double>(k) / shape.edgeSegments));
  }
  const double y = 0.5 * shape.thickness;
  std::vector<Vec2> profile{{0, -y}};
  lineTo(profile, {1, -y}, shape.rings);
  lineTo(profile, {1, y}, 1);
  lineTo(profile, {0, y}, shape.rings);
  return {std::move(profile), outline};
}

geometry::TriMesh makeUvSphere(const UvSphereShape& s) { return loftUnchecked(loftOf(s)); }
geometry::TriMesh makeCylinder(const CylinderShape& s) { return loftUnchecked(loftOf(s)); }
geometry::TriMesh makeCone(const ConeShape& s) { return loftUnchecked(loftOf(s)); }
geometry::TriMesh makeCapsule(const CapsuleShape& s) { return loftUnchecked(loftOf(s)); }
geometry::TriMesh makeTorus(const TorusShape& s) { return loftUnchecked(loftOf(s)); }
geometry::TriMesh makePlate(const PlateShape& s) { return loftUnchecked(loftOf(s)); }

void describe(ShapeFields& fields, UvSphereShape& s) {
  fields.length("radius", s.radius, "radius");
  fields.integer("segments", s.segments, 3, kMostSegments, "segments around the axis");
  fields.integer("rings", s.rings, 2, kMostSegments, "segments from pole to pole");
}

void describe(ShapeFields& fields, CylinderShape& s) {
  fields.length("radius", s.radius, "radius");
  fields.length("height", s.height, "height, along y");
  fields.integer("segments", s.segments, 3, kMostSegments, "segments around the axis");
  fields.integer("layers", s.layers, 1, kMostSegments, "segments along the height");
  fields.integer("capRings", s.capRings, 1, kMostSegments, "rings of each cap");
}

void describe(ShapeFields& fields, ConeShape& s) {
  fields.number("radius", s.radius, 0, kLongest, "m", "radius at the bottom");
  fields.number("topRadius", s.topRadius, 0, kLongest, "m", "radius at the top; 0 for a tip");
  fields.length("height", s.height, "height, along y");
  fields.integer("segments", s.segments, 3, kMostSegments, "segments around the axis");
  fields.integer("layers", s.layers, 1, kMostSegments, "segments along the height");
  fields.integer("capRings", s.capRings, 1, kMostSegments, "rings of each cap");
}

void describe(ShapeFields& fields, CapsuleShape& s) {
  fields.length("radius", s.radius, "radius");
  fields.length("length", s.length, "between the centres of the half balls");
  fields.integer("segments", s.segments, 3, kMostSegments, "segments around the axis");
  fields.integer("rings", s.rings, 1, kMostSegments, "rings of each half ball");
  fields.integer("layers", s.layers, 1, kMostSegments, "segments along the straight part");
}

void describe(ShapeFields& fields, TorusShape& s) {
  fields.length("radius", s.radius, "radius of the middle line");
  fields.length("tube", s.tube, "radius of the tube, less than radius");
  fields.integer("segments", s.segments, 3, kMostSegments, "segments around the axis");
  fields.integer("sides", s.sides, 3, kMostSegments, "segments around the tube");
}

void describe(ShapeFields& fields, PlateShape& s) {
  fields.length("width", s.width, "size along x");
  fields.length("depth", s.depth, "size along z");
  fields.length("thickness", s.thickness, "size along y");
  fields.number("corner", s.corner, 0, kLongest, "m",
                "radius of the corners; half of width = depth gives a disc");
  fields.integer("cornerSegments", s.cornerSegments, 1, kMostSegments, "segments of each rounded corner");
  fields.integer("edgeSegments", s.edgeSegments, 1, kMostSegments, "segments of each straight edge");
  fields.integer("rings", s.rings, 1, kMostSegments, "rings from the rim to the middle");
}

}  // namespace sunder::shapes
