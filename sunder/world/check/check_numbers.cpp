#include "sunder/world/check/check_numbers.h"

#include "sunder/base/text.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/world/build/cost_parts.h"
#include "sunder/world/build/shape_library.h"
#include "sunder/world/check/check_shapes.h"
#include "sunder/world/check/check_soft.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/core.h>

namespace sunder::world {

namespace {

using rigid::BodyIndex;
using rigid::BodyKind;

constexpr double kHill = 100, kGrain = 2e-4;  // m: sizes at which the unit of a number is in doubt
constexpr double kFarAnchor = 2;              // sizes of the body between it and its joint
constexpr double kCoarse = 0.95,
                 kFine = 0.75;     // walls of less than this many tetrahedra come apart; and hold
constexpr int kDepthSamples = 28;  // along each side of a shape
constexpr size_t kFewDepths = 50, kMostDepthTriangles = 50'000;
constexpr double kSecondsOfFall = 1;  // how far what moves may land from where it starts
constexpr size_t kMostNamed = 5;
constexpr double kMostBoxTests =
    5e7;  // of bodies that fall and floors; beyond that every n-th body is looked at

// "a", "a, b", "a, b, c and 7 more" of `count`
std::string listed(const std::vector<std::string>& names, double count) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) text += (i > 0 ? ", " : "") + names[i];
  if (count > double(names.size())) text += fmt::format(" and {:.0f} more", count - double(names.size()));
  return text;
}

void findOddSizes(const Scene& scene, std::span<const ShapeSize> sizes, CheckReport& report) {
  std::set<uint32_t> seen;
  const auto look = [&](const auto& body, bool moves) {
    const ShapeSize& size = sizes[body.shape];
    if (size.bounds.empty() || !seen.insert(body.shape).second) return;
    const Vec3 extent = startBox(body.pose, size).extent();
    int axis = 0;
    const double longest = extent.maxCoeff(&axis);
    const char* way = axis == 1 ? "tall" : "wide";
    if (longest > kHill && moves)
      report.findings.push_back(
          {false, "body " + body.id,
           fmt::format("is {:.3g} m {}: plain numbers are metres; is the mesh in another unit? \"scale\" of "
                       "the shape makes it smaller",
                       longest, way)});
    else if (longest < kGrain)
      report.findings.push_back(
          {false, "body " + body.id,
           fmt::format("is {:.3g} m {}: plain numbers are metres; is that meant?", longest, way)});
  };
  for (const BodySpec& body : scene.bodies) look(body, body.kind == BodyKind::Dynamic);
  for (const SoftBodySpec& body : scene.softBodies) look(body, true);
}

double distanceTo(const Box3& box, const Vec3& point) {
  return (point - point.cwiseMax(box.lower).cwiseMin(box.upper)).norm();
}

void findFarJoints(const Scene& scene, std::span<const ShapeSize> sizes, CheckReport& report) {
  for (const JointSpec& joint : scene.joints) {
    const bool rope = joint.settings.kind == rigid::JointKind::Distance;
    const auto look = [&](BodyIndex index, const Vec3& anchor) {
      if (!index.valid()) return;
      const BodySpec& body = scene.bodies[index.value];
      if (sizes[body.shape].bounds.empty()) return;
      const Box3 box = startBox(body, sizes[body.shape]);
      const double away = distanceTo(box, anchor);
      if (away > kFarAnchor * box.diagonal())
        report.findings.push_back(
            {false, "joint " + joint.id,
             fmt::format(
                 "is anchored at ({:.4g}, {:.4g}, {:.4g}), {:.3g} m away from body {}, which is {:.3g} m "
                 "large; \"relative\" counts anchors from the body",
                 anchor.x(), anchor.y(), anchor.z(), away, body.id, box.extent().maxCoeff())});
    };
    if (rope) {
      look(joint.settings.a, joint.settings.anchorA);
      look(joint.settings.b, joint.settings.anchorB);
    } else {
      look(joint.settings.b, joint.settings.anchorA);
    }
  }
}

// Bodies with nothing below that could stop them. Liquids carry what floats, so scenes with liquids are left
// to check_liquids.
void findNoFloor(const Scene& scene, std::span<const ShapeSize> sizes, CheckReport& report) {
  const Vec3 gravity = scene.world.simulation.gravity;
  if (scene.fluid || !(gravity.norm() > 0)) return;
  const Vec3 down = gravity.normalized();
  std::vector<Box3> floors;
  for (const BodySpec& body : scene.bodies) {
    if (body.kind == BodyKind::Dynamic) continue;
    if (sizes[body.shape].bounds.empty()) {
      // A plane stops what is above it, whichever way it leans, unless it stands upright.
      if (std::abs(body.pose.direction(Vec3::UnitY()).dot(down)) > 0.05) return;
      continue;
    }
    floors.push_back(startBox(body, sizes[body.shape]));
    for (const KeyFrame& key : body.keyFrames) {
      BodySpec moved = body;
      moved.pose = key.pose;
      floors.back().grow(startBox(moved, sizes[body.shape]));
    }
  }
  std::set<uint32_t> held, heldSoft;
  for (const JointSpec& joint : scene.joints) {
    if (joint.settings.a.valid()) held.insert(joint.settings.a.value);
    held.insert(joint.settings.b.value);
  }
  for (const ForceSpec& force : scene.forces)  // of another gravity, an attractor: who knows where they go
    if (force.kind == ForceKind::Gravity || force.kind == ForceKind::Attractor) {
      held.insert(force.bodies.begin(), force.bodies.end());
      heldSoft.insert(force.softBodies.begin(), force.softBodies.end());
    }
  std::vector<std::string> names;
  double count = 0;
  const auto look = [&](const auto& body, double standsFor) {
    const ShapeSize& size = sizes[body.shape];
    if (body.gravityScale == 0 || size.bounds.empty()) return;
    // The column below it, as wide as it may drift.
    Box3 way = startBox(body.pose, size);
    const double drift = way.diagonal() + kSecondsOfFall * body.velocity.norm();
    way.lower.array() -= drift;
    way.upper.array() += drift;
    for (int k = 0; k < 3; ++k) {
      if (down[k] < -0.1) way.lower[k] = -Box3::kInfinity;
      if (down[k] > 0.1) way.upper[k] = Box3::kInfinity;
    }
    if (std::any_of(floors.begin(), floors.end(), [&](const Box3& floor) { return overlap(floor, way); }))
      return;
    if (names.size() < kMostNamed) names.push_back(body.id);
    count += standsFor;
  };
  const double tests = double(scene.bodies.size() + scene.softBodies.size()) * double(floors.size());
  const size_t stride = 1 + size_t(tests / kMostBoxTests);
  for (size_t b = 0; b < scene.bodies.size(); b += stride) {
    const BodySpec& body = scene.bodies[b];
    if (body.kind == BodyKind::Dynamic && !held.contains(uint32_t(b)))
      look(body, body.standsFor * double(stride));
  }
  for (size_t b = 0; b < scene.softBodies.size(); b += stride) {
    const SoftBodySpec& body = scene.softBodies[b];
    if (body.soft.pins.empty() && body.soft.attach.empty() && !heldSoft.contains(uint32_t(b)))
      look(body, body.standsFor * double(stride));
  }
  if (names.empty()) return;
  report.findings.push_back(
      {false, count < 2 ? "body " + names[0] : "bodies " + listed(names, count),
       fmt::format("{} with nothing below: a static body of shape {{\"plane\": {{}}}} makes a floor",
                   count < 2 ? "falls" : "fall")});
}

// How thick the walls and bars of a shape are: twice the depth that nine tenths of its inside stay below. For
// a plate that is its thickness.
double wallThickness(const Scene& scene, const ShapeSpec& spec, const ShapeSize& size) {
  const double plate = 2 * size.volume / size.area;
  sdf::FieldPtr field;
  if (const auto* formula = std::get_if<FieldShape>(&spec.value))
    field = formula->field;
  else if (const auto* shape = std::get_if<MeshShape>(&spec.value))
    if (const auto mesh = sourceMeshAt(scene, spec, *shape); mesh.triangles.size() < kMostDepthTriangles)
      field = std::make_shared<const sdf::MeshField>(mesh);
  if (!field) return plate;
  std::vector<double> depths;
  for (const double v : latticeValues(*field, size.bounds, kDepthSamples))
    if (v < 0) depths.push_back(-v);
  if (depths.size() < kFewDepths) return plate;
  const auto ninth = depths.begin() + std::ptrdiff_t(0.9 * double(depths.size()));
  std::nth_element(depths.begin(), ninth, depths.end());
  return std::max(plate, 2 * *ninth / 0.9);
}

void findCoarseEdges(const Scene& scene, std::span<const ShapeSize> sizes, CheckReport& report) {
  std::set<std::pair<uint32_t, double>> seen;
  for (const BodySpec& body : scene.bodies) {
    if (!body.fracture || !(body.fracture->edge > 0)) continue;
    const ShapeSize& size = sizes[body.shape];
    const double edge = body.fracture->edge;
    if (size.bounds.empty() || !(size.area > 0) || !seen.insert({body.shape, edge}).second) continue;
    const double thickness = 2 * size.volume / size.area;
    const bool exact = size.kind == ShapeSize::Kind::Box ||
                       (size.loft && 1.2 * thickness < size.bounds.extent().maxCoeff() / 12);
    if (exact || edge <= kCoarse * thickness) continue;
    const double wall = wallThickness(scene, scene.shapes[body.shape], size);
    if (edge <= kCoarse * wall) continue;
    report.findings.push_back(
        {false, "body " + body.id,
         fmt::format(
             "its tetrahedra have an \"edge\" of {:.3g} m, too coarse to hold walls of about {:.2g} m "
             "together; {} would do",
             edge, wall, twoDigitsDown(kFine * wall))});
  }
}

void findBlocksBeyondTank(const Scene& scene, CheckReport& report) {
  if (!scene.fluid || !scene.fluid->tank) return;
  const Box3& tank = *scene.fluid->tank;
  const double slack = 2 * scene.fluid->settings.radius;
  for (const LiquidSpec& liquid : scene.fluid->liquids)
    for (const BlockSpec& block : liquid.blocks) {
      if (block.container || block.box.empty()) continue;
      const double beyond =
          std::max((block.box.upper - tank.upper).maxCoeff(), (tank.lower - block.box.lower).maxCoeff());
      if (beyond > slack)
        report.findings.push_back(
            {false, "liquid " + liquid.id,
             fmt::format("a block reaches {:.3g} m beyond the tank; particles there start in its walls",
                         beyond)});
    }
}

void findLongRun(const Scene& scene, CheckReport& report) {
  const double days = report.cost.stepSecondsLow / 86400;
  if (days > 1)
    report.findings.push_back(
        {false, "",
         fmt::format(
             "{} frames of {} steps take at least {:.2g} days; is the duration, the frame rate or the time "
             "step meant?",
             scene.world.frames, scene.world.stepsPerFrame, days)});
}

}  // namespace

void checkNumbers(const Scene& scene, std::span<const ShapeSize> sizes, CheckReport& report) {
  if (scene.bodies.empty() && scene.softBodies.empty() && !scene.fluid && scene.parts.empty())
    report.findings.push_back({false, "", "there are no bodies"});
  findOddSizes(scene, sizes, report);
  findFarJoints(scene, sizes, report);
  findNoFloor(scene, sizes, report);
  findCoarseEdges(scene, sizes, report);
  findBlocksBeyondTank(scene, report);
  findScatteredParts(scene, sizes, report);
  findLeaks(scene, sizes, report);
  checkSoftBodies(scene, sizes, report);
  findLongRun(scene, report);
}

}  // namespace sunder::world
