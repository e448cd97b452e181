// How liquids see bodies and tanks: by density maps, or by particles on their surfaces.
#include "sunder/fluid/boundary/density_map.h"
#include "sunder/fluid/boundary/poisson_disk.h"
#include "sunder/fluid/boundary/sampled_map.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/shapes/wall.h"
#include "sunder/world/parts/liquids.h"

#include <algorithm>
#include <cmath>

namespace sunder::world {

namespace {

constexpr double kBoundarySpacing = 1;  // radii: a diameter apart, boundary particles let fluid through
constexpr double kTankMargin = 4;  // supports that particles may have left a tank by and still be pushed back

}  // namespace

fluid::BoundaryMapPtr Liquids::particlesOf(const geometry::TriMesh& surface) const {
  return std::make_shared<const fluid::SampledMap>(
      fluid::poissonDisk(surface, kBoundarySpacing * scene_.fluid->settings.radius), fluid_->support());
}

// Films matter where several particles would fit under a body.
fluid::SurfaceSamplesPtr Liquids::surfaceSamplesOf(const rigid::Shape& shape) const {
  if (shape.localBounds().extent().maxCoeff() < 2 * fluid_->support()) return nullptr;
  return fluid::makeSurfaceSamples(shape.surface(), 2 * scene_.fluid->settings.radius);
}

fluid::BoundaryMapPtr Liquids::tankMap(Box3 box) const {
  const double support = fluid_->support();
  // Where liquids repeat themselves there are no walls: they are out of reach.
  const fluid::PeriodicSides& sides = scene_.fluid->settings.periodic;
  for (int k = 0; k < 3; ++k) {
    if (!(sides.lengths[k] > 0)) continue;
    box.lower[k] = sides.from[k] - kTankMargin * support;
    box.upper[k] = sides.from[k] + sides.lengths[k] + kTankMargin * support;
  }
  if (scene_.fluid->boundaryParticles) {
    geometry::TriMesh walls = shapes::makeBox({.size = box.extent()});
    for (Vec3& p : walls.positions) p += box.center();
    return particlesOf(walls);
  }
  Box3 domain = box;
  domain.lower.array() -= kTankMargin * support;
  domain.upper.array() += kTankMargin * support;
  return std::make_shared<const fluid::DensityMap>(
      *sdf::makeBoxField(box), domain,
      fluid::DensityMapSettings{
          .support = support, .cell = 0, .offset = scene_.fluid->offset, .outside = true});
}

fluid::BoundaryMapPtr Liquids::mapOf(const rigid::Shape& shape, std::optional<double> given) const {
  const double support = fluid_->support();
  fluid::DensityMapSettings settings{
      .support = support, .cell = 0, .offset = given.value_or(scene_.fluid->offset), .outside = false};
  if (shape.kind() == rigid::ShapeKind::Plane)
    return std::make_shared<const fluid::PlaneMap>(Vec3::UnitY(), 0.0, settings);
  if (scene_.fluid->boundaryParticles) return particlesOf(shape.surface());
  Box3 domain = shape.localBounds();
  domain.lower.array() -= 3 * support;
  domain.upper.array() += 3 * support;
  const auto make = [&](const sdf::Field& field) {
    auto map = std::make_shared<const fluid::DensityMap>(field, domain, settings);
    // Walls that are thin for particles of this size would let them through: they keep farther away.
    if (!given && map->report().thinPlaces > 0) {
      const double offset = fluid::thinWallOffset(map->report().thinnest, support);
      if (offset < settings.offset) {
        settings.offset = offset;
        map = std::make_shared<const fluid::DensityMap>(field, domain, settings);
      }
    }
    return map;
  };
  // Pieces too small to have a shape, for particles of this size.
  if (shape.localBounds().extent().maxCoeff() < support)
    return make(*sdf::makeSphereField(shape.mass().centre, std::cbrt(0.75 / kPi * shape.mass().volume)));
  if (shape.kind() == rigid::ShapeKind::Solid || shape.kind() == rigid::ShapeKind::Hull)
    return make(sdf::MeshField(shape.surface()));
  return make(shape.field());
}

fluid::BoundaryMapPtr Liquids::mapOf(const BodySpec& body) const {
  const auto found = maps_.find(shapes_[body.shape].shape.get());
  return found != maps_.end() ? found->second : nullptr;
}

// What is a thin wall of the space around the body is a gap.
double Liquids::narrowestGap(const BodySpec& body) const {
  const rigid::Shape& shape = *shapes_[body.shape].shape;
  const double support = fluid_->support();
  const fluid::DensityMapSettings settings{
      .support = support, .cell = 0, .offset = scene_.fluid->offset, .outside = true};
  const bool mesh = shape.kind() == rigid::ShapeKind::Solid || shape.kind() == rigid::ShapeKind::Hull;
  const fluid::DensityMap around =
      mesh ? fluid::DensityMap(sdf::MeshField(shape.surface()), shape.localBounds(), settings)
           : fluid::DensityMap(shape.field(), shape.localBounds(), settings);
  return around.report().thinPlaces > 0 ? around.report().thinnest : Box3::kInfinity;
}

// Particles on a surface do not know what is inside of it, fields do.
void Liquids::findBuried(std::span<const Vec3> points, double most, std::span<uint8_t> buried) const {
  fluid_->findBuried(points, most, buried);
  if (!scene_.fluid->boundaryParticles) return;
  for (const Boundary& boundary : boundaries_) {
    if (!boundary.ofScene) continue;
    const fluid::BoundaryBody& body = fluid_->body(boundary.fluidBody);
    const rigid::Shape& shape = *shapes_[scene_.bodies[boundary.body].shape].shape;
    if (!body.map || shape.kind() == rigid::ShapeKind::Plane) continue;
    for (size_t i = 0; i < points.size(); ++i) {
      const Vec3 local = body.rotation.transpose() * (points[i] - body.position);
      if (shape.localBounds().contains(local) && shape.field().value(local) < 0) buried[i] = 1;
    }
  }
}

}  // namespace sunder::world
