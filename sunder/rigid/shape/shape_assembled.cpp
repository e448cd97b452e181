#include "sunder/base/error.h"
#include "sunder/geometry/vector_area.h"
#include "sunder/rigid/shape/shape_parts.h"

#include <cmath>

namespace sunder::rigid {

namespace {

constexpr double kSameVolume = 0.01;

// None where the corners are too close to a plane, or are not those of the solid: its field will do.
std::unique_ptr<const HullTopology> hullOf(std::span<const Vec3> corners, double volume) {
  if (corners.size() < 4) return nullptr;
  try {
    auto hull = std::make_unique<const HullTopology>(hullTopology(corners));
    const double other = geometry::massProperties(hullSurface(*hull)).volume;
    return std::abs(other - volume) < kSameVolume * volume ? std::move(hull) : nullptr;
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

ShapePtr makeSolid(SolidParts parts) {
  if (!parts.field) throw Error(ErrorKind::Usage, "a solid needs a field");
  if (parts.points.pointCount() == 0 || parts.pointNormals.size() != parts.points.pointCount())
    throw Error(ErrorKind::Usage, "a solid needs points with one normal each");
  const Box3 box = geometry::bounds(parts.surface.positions);
  const double diagonal = box.diagonal();
  if (!(parts.mass.volume > 1e-15 * diagonal * diagonal * diagonal))
    throw Error(ErrorKind::Geometry, "the surface encloses nothing, so it makes no solid");
  auto shape = std::make_shared<ShapeParts>(ShapeKind::Solid);
  shape->surface_ = std::move(parts.surface);
  shape->mass_ = parts.mass;
  shape->localBounds_ = box;
  shape->setMassFrame();
  shape->setOuterRadius();
  shape->field_ = std::move(parts.field);
  shape->fieldError_ = parts.fieldError;
  shape->fieldErrorFar_ = parts.fieldErrorFar;
  shape->fieldAbove_ = parts.fieldAbove;
  shape->fieldBand_ = parts.fieldBand;
  shape->fieldDomain_ = parts.fieldDomain;
  shape->setTree(std::move(parts.points), parts.insidePoints);
  shape->pointNormals_ = std::move(parts.pointNormals);
  shape->flatSides_ = std::move(parts.flatSides);
  shape->hull_ = hullOf(parts.corners, parts.mass.volume);
  // Thin pieces have no vertex inside: a ball that a plate of that volume has room for.
  shape->innerRadius_ = parts.innerRadius;
  if (!(shape->innerRadius_ > 0)) {
    double area = 0;
    for (const geometry::Triangle& t : shape->surface_.triangles)
      area += geometry::triangleArea(shape->surface_.positions, t);
    shape->innerRadius_ = shape->mass_.volume / area;
  }
  shape->setCores(parts.inside);
  return shape;
}

}  // namespace sunder::rigid
