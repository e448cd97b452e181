#include "sunder/world/check/check.h"

#include "sunder/base/error.h"
#include "sunder/base/memory_limit.h"
#include "sunder/base/stopwatch.h"
#include "sunder/geometry/far_vertex.h"
#include "sunder/geometry/mesh_report.h"
#include "sunder/world/build/ready_scene.h"
#include "sunder/world/check/check_liquids.h"
#include "sunder/world/check/check_numbers.h"
#include "sunder/world/parts/rigid_part.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/core.h>

namespace sunder::world {

namespace {

constexpr size_t kMostListed = 20;
constexpr double kLargestMassRatio = 1e4;
// Impacts on a body and on its pieces that are analysed, as costly as one on the whole body: 3 to 10 in the
// scenes that come along.
constexpr double kImpactsABody = 6;
constexpr double kMostMadeTriangles = 1e6;  // of procedural shapes that are looked at
constexpr double kPaceSeconds = 0.3;        // that are spent on the first frames

void checkMeshes(const Scene& scene, std::span<const ShapeSize> sizes, CheckReport& report) {
  double made = 0;  // triangles of procedural shapes
  std::set<const CutSize*> cut;
  for (size_t i = 0; i < scene.shapes.size(); ++i) {
    const ShapeSpec& spec = scene.shapes[i];
    if (sizes[i].file.empty()) {  // procedural: closed
      if (std::max(sizes[i].triangles, sizes[i].cutTriangles) > kCheapTriangles || made > kMostMadeTriangles)
        continue;
      made += sizes[i].triangles;
    }
    if (spec.cut && !cut.insert(spec.cut.get()).second) continue;  // one report for all pieces of a mesh
    const auto* shape = std::get_if<MeshShape>(&spec.value);
    if (!shape) continue;
    const geometry::TriMesh mesh = sourceMeshAt(scene, spec, *shape);
    report.triangles += mesh.triangles.size();
    const geometry::MeshReport found = geometry::meshReport(mesh);
    const std::string where =
        "shape " + shapeTitle(spec) + (shape->file.empty() ? "" : " (" + shape->file + ")");
    if (const auto far = geometry::farVertex(mesh.positions))
      report.findings.push_back({false, where, far->text()});
    if (found.boundaryEdges > 0)
      report.findings.push_back({true, where,
                                 fmt::format("the surface is open: {} edges have one face only; close it "
                                             "with 'sunder clean --fill-holes'",
                                             found.boundaryEdges)});
    else if (found.insideOut)
      report.findings.push_back({true, where, "the surface is inside out; 'sunder clean' turns it"});
    if (found.flippedEdges > 0)
      report.findings.push_back({true, where,
                                 fmt::format("faces point both ways along {} edges; 'sunder clean' turns "
                                             "them",
                                             found.flippedEdges)});
    if (found.nonManifoldEdges > 0)
      report.findings.push_back(
          {false, where, fmt::format("{} edges have more than two faces", found.nonManifoldEdges)});
  }
}

void checkOverlaps(const World& world, CheckReport& report) {
  const rigid::Simulation& simulation = world.find<RigidPart>()->simulation();
  const std::vector<rigid::Simulation::Overlap> overlaps = simulation.overlaps();
  for (size_t i = 0; i < overlaps.size(); ++i) {
    if (i == kMostListed) {
      report.findings.push_back(
          {false, "", fmt::format("{} more pairs of bodies overlap at the start", overlaps.size() - i)});
      return;
    }
    const auto& o = overlaps[i];
    const double size = std::min(simulation.shape(o.a)->outerRadius(), simulation.shape(o.b)->outerRadius());
    report.findings.push_back({o.depth > 0.1 * size, simulation.name(o.a) + " and " + simulation.name(o.b),
                               fmt::format("overlap by {:.3g} m at the start, near ({:.4g}, {:.4g}, {:.4g})",
                                           o.depth, o.point.x(), o.point.y(), o.point.z())});
  }
}

void checkBodies(const World& world, CheckReport& report) {
  const rigid::Simulation& simulation = world.find<RigidPart>()->simulation();
  const double dt = world.scene().world.simulation.timeStep;
  double lightest = INFINITY, heaviest = 0;
  std::string lightName, heavyName;
  size_t listed = 0;
  for (uint32_t i = 0; i < world.scene().bodies.size(); ++i) {
    const rigid::BodyIndex body(i);
    if (simulation.kind(body) != rigid::BodyKind::Dynamic) continue;
    const rigid::Shape& shape = *simulation.shape(body);
    const double mass = simulation.mass(body);
    if (mass < lightest) lightest = mass, lightName = simulation.name(body);
    if (mass > heaviest) heaviest = mass, heavyName = simulation.name(body);
    const double way = simulation.velocity(body).norm() * dt, size = 2 * shape.outerRadius();
    if (way > size && listed++ < kMostListed)
      report.findings.push_back(
          {false, simulation.name(body),
           fmt::format("moves {:.3g} m in a step, more than its size of {:.3g} m; it is stopped at "
                       "what it meets, a time step of {:.2g} s would follow it better",
                       way, size, dt * size / way)});
    const double turn =
        simulation.angularVelocity(body).norm() * dt / world.scene().world.simulation.substeps;
    if (turn > 1 && listed++ < kMostListed)
      report.findings.push_back(
          {false, simulation.name(body),
           fmt::format("turns by {:.2g} rad in a substep; more substeps follow it better", turn)});
  }
  if (heaviest > kLargestMassRatio * lightest)
    report.findings.push_back(
        {false, lightName + " and " + heavyName,
         fmt::format("masses of {:.3g} kg and {:.3g} kg: a ratio of {:.1g} is hard on the solver "
                     "where they touch",
                     lightest, heaviest, heaviest / lightest)});
}

}  // namespace

bool CheckReport::failed() const {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.error; });
}

namespace {

// Builds the world, takes a few steps and strikes a copy of each body that may break.
void checkWorld(Scene scene, const World::Progress& progress, CheckReport& report) {
  Stopwatch watch;
  std::optional<World> built;
  try {
    built.emplace(std::move(scene), progress);
  } catch (const Error& error) {
    if (!report.failed()) throw;
    report.findings.push_back({true, "", error.what()});  // most likely for what was found above
    return;
  }
  report.built = true;
  const double building = watch.seconds();
  World& world = *built;
  const Scene& s = world.scene();
  for (size_t i = 0; i < world.shapes().size(); ++i)
    for (const std::string& problem : world.shapes()[i].problems)
      report.findings.push_back({false, "shape " + shapeTitle(s.shapes[i]), problem});
  checkOverlaps(world, report);
  checkBodies(world, report);
  checkLiquids(world, report);

  watch = {};
  uint64_t frames = 0;
  double seconds = 0;
  while (frames < std::min<uint64_t>(s.world.frames, 20) && seconds < kPaceSeconds) {
    world.advance();
    ++frames;
    seconds = watch.seconds();
  }
  report.contacts = world.mostContacts();
  // Breaks in these frames are no pace that goes on.
  seconds = std::max(0.0, seconds - world.find<RigidPart>()->breakage().report().seconds.total());
  report.seconds = building;
  if (frames > 0)
    report.seconds += seconds / static_cast<double>(frames) * static_cast<double>(s.world.frames);
  report.breakingSeconds = kImpactsABody * world.find<RigidPart>()->breakage().cost().secondsOnce;
  report.seconds += report.breakingSeconds;
}

}  // namespace

CheckReport checkScene(Scene scene, const CheckOptions& options) {
  const MemoryBudget budget(options.memory);
  const uint64_t memory = memoryLimit();
  CheckReport report;
  report.frames = scene.world.frames;
  Scene whole = options.depth == CheckDepth::Numbers || scene.sampled ? Scene{} : scene;
  scene = options.depth == CheckDepth::Built ? readyScene(std::move(scene), memory)
                                             : estimatedScene(std::move(scene), memory);
  report.shapes = scene.shapes.size();
  std::vector<ShapeSize> sizes;
  try {
    sizes = sizesOfShapes(scene, memory);
    report.cost = estimateCost(scene, sizes, memory);
    requireAffordable(scene, report.cost, memory);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Limit) throw;
    report.findings.push_back({true, "", error.what()});
    report.refusal = error;
  }
  const Cost& cost = report.cost;
  report.bodies = cost.bodies;
  report.dynamicBodies = cost.dynamicBodies;
  report.joints = cost.joints;
  report.breakable = cost.breakable;
  report.particles = cost.particles;
  if (report.refusal) return report;
  checkMeshes(scene, sizes, report);
  checkNumbers(scene, sizes, report);
  // Building, and an impact on each body that may break.
  const bool cheap =
      cost.buildSeconds + cost.strikeSeconds <= kCheapSeconds && cost.memoryBroken <= kCheapBytes;
  if (scene.sampled) return report;
  if (options.depth != CheckDepth::Built && !(options.depth == CheckDepth::WhereCheap && cheap))
    return report;
  checkWorld(scene.uncut ? std::move(whole) : std::move(scene), options.progress, report);
  return report;
}

}  // namespace sunder::world
