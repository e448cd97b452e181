#include "sunder/world/check/check_liquids.h"

#include "sunder/base/error.h"
#include "sunder/fluid/boundary/density_map.h"
#include "sunder/geometry/mesh_view.h"
#include "sunder/world/parts/liquids.h"
#include "sunder/world/parts/rigid_part.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/core.h>

namespace sunder::world {

namespace {

constexpr double kMostParticles = 2e7;

// Tanks hold liquids only.
void findBodiesWithoutFloor(const World& world, CheckReport& report) {
  const Scene& scene = world.scene();
  if (!scene.fluid->tank || scene.fluid->settings.gravity.isZero(0)) return;
  const auto boundsOfBody = [&](uint32_t b) {
    return world.find<RigidPart>()->simulation().bounds(rigid::BodyIndex(b));
  };
  Box3 footprint = *scene.fluid->tank;
  footprint.lower.y() = -Box3::kInfinity;
  const auto isFloor = [&](uint32_t b) {
    return scene.bodies[b].kind != rigid::BodyKind::Dynamic && overlap(boundsOfBody(b), footprint);
  };
  for (uint32_t b = 0; b < scene.bodies.size(); ++b)
    if (isFloor(b)) return;
  for (uint32_t b = 0; b < scene.bodies.size(); ++b) {
    const BodySpec& body = scene.bodies[b];
    const auto holds = [&](const JointSpec& joint) {
      return joint.settings.a == rigid::BodyIndex(b) || joint.settings.b == rigid::BodyIndex(b);
    };
    if (std::any_of(scene.joints.begin(), scene.joints.end(), holds)) continue;
    if (body.kind != rigid::BodyKind::Dynamic || !overlap(boundsOfBody(b), *scene.fluid->tank)) continue;
    report.findings.push_back(
        {false, "body " + body.id,
         "falls through the tank if it sinks: tanks hold liquids only; a static plane makes a floor"});
  }
}

}  // namespace

void checkLiquids(const World& world, CheckReport& report) {
  const Liquids* found = world.find<Liquids>();
  if (!found) return;
  const Liquids& liquids = *found;
  const Scene& scene = world.scene();
  const fluid::Fluid& fluid = *liquids.fluid();
  const double support = fluid.support(), diameter = 0.5 * support;
  const auto particles = double(fluid.size()), later = report.cost.particlesLater;
  if (particles + later == 0) report.findings.push_back({false, "fluid", "there are no particles"});
  if (particles + later > kMostParticles)
    report.findings.push_back(
        {false, "fluid", fmt::format("{:.2g} particles; larger ones are fewer", particles + later)});
  if (liquids.report().buried > 0)
    report.findings.push_back(
        {false, "fluid",
         fmt::format("{} particles of blocks would be in bodies and are left out", liquids.report().buried)});
  if (liquids.report().crowding > 0.5)
    report.findings.push_back(
        {false, "fluid",
         fmt::format("blocks overlap, or do not fit: at the start a place is {:.0f} % too dense",
                     100 * liquids.report().crowding)});
  std::set<const rigid::Shape*> seen;
  for (const BodySpec& body : scene.bodies) {
    const rigid::Shape& shape = *world.shapes()[body.shape].shape;
    if (shape.kind() == rigid::ShapeKind::Plane || !seen.insert(&shape).second) continue;
    const auto* map = dynamic_cast<const fluid::DensityMap*>(liquids.mapOf(body).get());
    if (!map) continue;
    const std::string where = "body " + body.id;
    if (map->settings().offset < scene.fluid->offset)
      report.findings.push_back(
          {false, where,
           fmt::format(
               "has walls of {:.2g} m, thin for particles of {:.2g} m: liquids keep {:.2g} m away from it; "
               "smaller particles come closer",
               map->report().thinnest, diameter, (scene.fluid->offset - map->settings().offset) * support)});
    const double gap = liquids.narrowestGap(body);
    if (gap < diameter)
      report.findings.push_back(
          {false, where,
           fmt::format("has gaps of {:.2g} m, where no particle of {:.2g} m fits", gap, diameter)});
  }
  // Liquids meet soft bodies as points that fill them; of thin ones there are too few to keep particles out.
  std::set<const rigid::Shape*> soft;
  for (const SoftBodySpec& body : scene.softBodies) {
    const rigid::Shape& shape = *world.shapes()[body.shape].shape;
    const double area = geometry::surfaceArea(shape.surface());
    const double thickness = area > 0 ? 2 * shape.mass().volume / area : 0;
    if (soft.insert(&shape).second && thickness < diameter)
      report.findings.push_back(
          {false, "body " + body.id,
           fmt::format("is about {:.2g} m thick, thin for particles of {:.2g} m: liquids may leak through it",
                       thickness, diameter)});
  }
  findBodiesWithoutFloor(world, report);
  report.particles = fluid.size();
}

}  // namespace sunder::world
