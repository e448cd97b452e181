#include "sunder/world/check.h"

#include "sunder/base/error.h"
#include "sunder/geometry/mesh_report.h"
#include "sunder/world/check_liquids.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include <fmt/core.h>

namespace sunder::world {

namespace {

constexpr size_t kMostListed = 20;
constexpr double kLargestMassRatio = 1e4;
// Blows on a body and on its pieces that are analysed, as costly as one on the whole body: 3 to 10 in the
// scenes that come along.
constexpr double kBlowsABody = 6;
constexpr double kBytesATet = 600;

void checkMeshes(const Scene& scene, CheckReport& report) {
  for (const ShapeSpec& spec : scene.shapes) {
    std::string file;
    const auto mesh = sourceMesh(scene, spec, &file);
    if (!mesh) continue;
    report.triangles += mesh->triangles.size();
    const geometry::MeshReport found = geometry::meshReport(*mesh);
    const std::string where = "shape " + shapeTitle(scene, spec) + (file.empty() ? "" : " (" + file + ")");
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

void checkOverlaps(const World& world, const std::vector<rigid::Simulation::Overlap>& overlaps,
                   CheckReport& report) {
  const rigid::Simulation& simulation = world.simulation();
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
  const rigid::Simulation& simulation = world.simulation();
  const double dt = world.scene().world.simulation.timeStep;
  double lightest = INFINITY, heaviest = 0;
  std::string lightName, heavyName;
  size_t listed = 0;
  for (uint32_t i = 0; i < world.scene().bodies.size(); ++i) {
    const rigid::BodyIndex body(i);
    if (simulation.kind(body) != rigid::BodyKind::Dynamic) continue;
    ++report.dynamicBodies;
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

CheckReport checkScene(Scene scene, const World::Progress& progress) {
  CheckReport report;
  checkMeshes(scene, report);
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point time) {
    return std::chrono::duration<double>(Clock::now() - time).count();
  };
  const auto begin = Clock::now();
  std::optional<World> built;
  try {
    built.emplace(std::move(scene), progress);
  } catch (const Error& error) {
    if (!report.failed()) throw;
    report.findings.push_back({true, "", error.what()});  // most likely for what was found above
    return report;
  }
  const double building = since(begin);
  World& world = *built;
  const Scene& s = world.scene();
  report.bodies = s.bodies.size();
  report.shapes = s.shapes.size();
  report.joints = s.joints.size();
  report.frames = s.world.frames;
  if (s.bodies.empty()) report.findings.push_back({false, "", "there are no bodies"});
  for (size_t i = 0; i < world.shapes().size(); ++i)
    for (const std::string& problem : world.shapes()[i].problems)
      report.findings.push_back({false, "shape " + shapeTitle(s, s.shapes[i]), problem});
  checkOverlaps(world, world.noteOverlaps(), report);
  checkBodies(world, report);
  checkLiquids(world, report);

  const auto start = Clock::now();
  uint64_t frames = 0;
  double seconds = 0;
  while (frames < std::min<uint64_t>(s.world.frames, 20) && seconds < 1) {
    world.advance();
    ++frames;
    seconds = since(start);
  }
  report.contacts = world.mostContacts();
  // Breaks in these frames are no pace that goes on.
  seconds = std::max(0.0, seconds - world.breakage().report().seconds.total());
  report.seconds = building;
  if (frames > 0)
    report.seconds += seconds / static_cast<double>(frames) * static_cast<double>(s.world.frames);
  const BreakageCost breaking = world.breakage().cost();
  report.breakable = breaking.bodies;
  report.breakingSeconds = kBlowsABody * breaking.secondsOnce;
  report.seconds += report.breakingSeconds;
  double memory =
      600.0 * static_cast<double>(report.bodies) +
      200.0 * std::max(static_cast<double>(report.contacts), 8.0 * static_cast<double>(report.dynamicBodies));
  double meshes = 0;
  for (const BuiltShape& shape : world.shapes()) {
    const auto& surface = shape.shape->surface();
    meshes += 24.0 * static_cast<double>(surface.positions.size()) +
              12.0 * static_cast<double>(surface.triangles.size());
  }
  report.memoryBytes += memory + 4 * meshes + kBytesATet * static_cast<double>(breaking.tets);
  report.recordingBytes +=
      meshes + 28.0 * static_cast<double>(report.dynamicBodies) * static_cast<double>(s.world.frames);
  return report;
}

}  // namespace sunder::world
