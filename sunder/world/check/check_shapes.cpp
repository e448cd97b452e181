#include "sunder/world/check/check_shapes.h"

#include "sunder/fluid/fill.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/world/build/cost_parts.h"
#include "sunder/world/build/shape_library.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/core.h>

namespace sunder::world {

namespace {

constexpr double kScattered = 0.75;  // of a side of the box: so much of it without a part is suspicious
constexpr double kMostPlaces = 30'000;
constexpr size_t kMostTriangles = 50'000;  // of a mesh whose distances are asked
// Distances between places: a place so near to a wall counts as in it. Above one half, so that no two
// neighbours have a wall between them.
constexpr double kClearance = 0.6;
constexpr double kAboveRim = 3;  // of these distances: so far above a body liquid surely runs over

// Nothing for shapes that are convex or cut, and for meshes whose inside takes long to tell.
sdf::FieldPtr fieldOf(const Scene& scene, const ShapeSpec& spec, const ShapeSize& size) {
  if (const auto* formula = std::get_if<FieldShape>(&spec.value)) return formula->field;
  const auto* shape = std::get_if<MeshShape>(&spec.value);
  if (!shape || shape->hull || !shape->cut.empty() || size.crossed) return nullptr;
  const geometry::TriMesh mesh = sourceMeshAt(scene, spec, *shape);
  if (mesh.triangles.size() > kMostTriangles) return nullptr;
  return std::make_shared<const sdf::MeshField>(mesh);
}

// Marks what is in the container or near it, below planes, in the box of another body, or outside of the
// tank.
class Solids {
 public:
  Solids(const Scene& scene, std::span<const ShapeSize> sizes, uint32_t container, const sdf::Field& field,
         double clearance)
      : pose_(scene.bodies[container].pose), field_(field), clearance_(clearance) {
    steepness_ = sizes[scene.bodies[container].shape].steepness;
    if (scene.fluid->tank) tank_ = *scene.fluid->tank;
    for (uint32_t b = 0; b < scene.bodies.size(); ++b) {
      const BodySpec& body = scene.bodies[b];
      if (b == container) continue;
      if (sizes[body.shape].bounds.empty())
        planes_.push_back(body.pose);
      else
        boxes_.push_back(startBox(body, sizes[body.shape]));
    }
  }

  void mark(std::span<const Vec3> points, std::span<uint8_t> solid) const {
    std::vector<Vec3> local;
    for (const Vec3& p : points) local.push_back(pose_.localPoint(p));
    std::vector<double> distances(points.size());
    sdf::valuesOf(field_, local, distances);
    const Vec3 around = Vec3::Constant(clearance_);
    for (size_t i = 0; i < points.size(); ++i) {
      const Vec3& p = points[i];
      solid[i] =
          distances[i] < clearance_ * steepness_ || (tank_ && !tank_->contains(p)) ||
          std::any_of(planes_.begin(), planes_.end(),
                      [&](const rigid::Pose& plane) { return plane.localPoint(p).y() < clearance_; }) ||
          std::any_of(boxes_.begin(), boxes_.end(), [&](const Box3& box) {
            return Box3{box.lower - around, box.upper + around}.contains(p);
          });
    }
  }

 private:
  rigid::Pose pose_;
  const sdf::Field& field_;
  double clearance_, steepness_ = 1;
  std::optional<Box3> tank_;
  std::vector<rigid::Pose> planes_;
  std::vector<Box3> boxes_;
};

}  // namespace

void findScatteredParts(const Scene& scene, std::span<const ShapeSize> sizes, CheckReport& report) {
  for (size_t i = 0; i < scene.shapes.size(); ++i) {
    const ShapeSize& size = sizes[i];
    if (size.bounds.empty() || size.emptyLength == 0) continue;
    const double length = size.bounds.extent()[size.emptyAxis];
    if (size.emptyLength < kScattered * length) continue;
    report.findings.push_back({false, "shape " + shapeTitle(scene.shapes[i]),
                               fmt::format("there is nothing in {:.3g} m of its {:.3g} m along {}: is a part "
                                           "of the field misplaced? The cells "
                                           "of its surface follow from the whole length",
                                           size.emptyLength, length, "xyz"[size.emptyAxis])});
  }
}

void findLeaks(const Scene& scene, std::span<const ShapeSize> sizes, CheckReport& report) {
  if (!scene.fluid || scene.sampled) return;
  std::set<std::pair<uint32_t, double>> seen;
  for (const LiquidSpec& liquid : scene.fluid->liquids)
    for (const BlockSpec& block : liquid.blocks) {
      if (!block.container || !seen.insert({*block.container, block.level.value_or(Box3::kInfinity)}).second)
        continue;
      const BodySpec& body = scene.bodies[*block.container];
      const sdf::FieldPtr field = fieldOf(scene, scene.shapes[body.shape], sizes[body.shape]);
      Box3 box = startBox(body, sizes[body.shape]);
      if (!field || !box.extent().allFinite()) continue;
      const double top = box.upper.y();
      const double spacing =
          std::max(2 * scene.fluid->settings.radius, std::cbrt(box.extent().prod() / kMostPlaces));
      if (block.level) box.upper.y() = std::min(*block.level, top + kAboveRim * spacing);
      if (box.empty()) continue;  // building it says so
      const Solids solids(scene, sizes, *block.container, *field, kClearance * spacing);
      const auto findSolid = [&](std::span<const Vec3> points, std::span<uint8_t> solid) {
        solids.mark(points, solid);
      };
      Vec3 from = box.center();
      if (block.from) {
        from = *block.from;
      } else {  // down from the middle of the top, as far as it goes
        std::vector<Vec3> way;
        for (double y = top; y > box.lower.y(); y -= 0.5 * spacing) way.emplace_back(from.x(), y, from.z());
        std::vector<uint8_t> solid(way.size());
        findSolid(way, solid);
        size_t end = 0;
        while (end < way.size() && solid[end] == 0) ++end;
        if (end == 0) continue;
        from = way[end - 1];
      }
      if (const auto leak = fluid::findLeak(box, spacing, from, findSolid))
        report.findings.push_back(
            {true, "liquid " + liquid.id,
             fmt::format("runs out of body {} near ({:.3g}, {:.3g}, {:.3g}): the container is open "
                         "below the level",
                         body.id, leak->x(), leak->y(), leak->z())});
    }
}

}  // namespace sunder::world
