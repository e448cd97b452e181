// sunder tet MESH|FIELD.sdf -o TETS; sunder tet TETS
#include "sunder/base/error.h"
#include "sunder/base/log.h"
#include "sunder/base/profiler.h"
#include "sunder/base/work.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/tet/solid_fill.h"
#include "sunder/tet/stuffing.h"
#include "sunder/tet/tet_report.h"

#include "command.h"
#include "read_field.h"

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

struct TetOptions {
  std::string input, output;
  tet::FillSettings fill;
  bool ascii = false;
  double budget = 1e8;  // tetrahedra
};

constexpr double kBytesPerTet = 110;  // measured 95 on a ball

Json qualityJson(const tet::TetQuality& q) {
  return {{"vertices", q.vertices},
          {"tets", q.tets},
          {"inverted", q.inverted},
          {"flat", q.flat},
          {"smallest_angle", q.smallestAngle},
          {"largest_angle", q.largestAngle},
          {"worst_radius_edge", q.worstRadiusEdge},
          {"mean_radius_edge", q.meanRadiusEdge},
          {"shortest_edge", q.shortestEdge},
          {"longest_edge", q.longestEdge},
          {"volume", q.volume}};
}

std::string qualityText(const tet::TetQuality& q) {
  return fmt::format(
      "  {} vertices, {} tetrahedra, volume {:.6g} m^3\n  dihedral angles {:.4g} to {:.4g} degrees, "
      "radius-edge ratio "
      "{:.3g} at most, {:.3g} on average",
      q.vertices, q.tets, q.volume, q.smallestAngle, q.largestAngle, q.worstRadiusEdge, q.meanRadiusEdge);
}

int fillFile(const TetOptions& options, const Settings& settings) {
  meshio::formatOf(options.output);
  Profiler profiler;
  const Profiler::Activation active(profiler);
  FieldInput source;
  {
    const ProfileScope scope("read");
    source = readField(options.input, settings);
  }
  const std::optional<geometry::TriMesh>& surface = source.surface;
  tet::FillReport report;
  meshio::MeshFile file;
  {
    const ProfileScope scope("fill");
    tet::FillSettings how = options.fill;
    how.mostTets = affordable(options.budget, kBytesPerTet);
    try {
      file.volume = tet::fill(*source.field, how, report);
    } catch (Error& error) {
      throw std::move(error.inFile(options.input));
    }
  }
  if (file.volume.tets.empty())
    throw Error(ErrorKind::Geometry, "has no inside to fill")
        .inFile(options.input)
        .hint("the mesh may be open, or thinner than --edge");
  if (report.cutOff)
    logWarn("{}: the solid reaches beyond the field's box and was cut off there", options.input);
  tet::TetQuality quality;
  std::optional<tet::SurfaceDistance> distance;
  {
    const ProfileScope scope("report");
    const Work work("measuring");
    quality = tet::tetQuality(file.volume);
    if (surface) distance = tet::boundaryDistance(file.volume, *surface);
  }
  const auto* exact = dynamic_cast<const sdf::MeshField*>(source.field.get());
  if (exact) {
    const double whole = tet::solidSize(*exact, *surface, options.fill.edge).volume;
    const double off = whole > 0 ? quality.volume / whole - 1 : 0;
    if (std::abs(off) > tet::kMostVolumeOff)
      logWarn("{}: the tetrahedra {} {:.0f} % of the volume (a smaller --edge keeps thin parts)",
              options.output, off < 0 ? "lose" : "add", 100 * std::abs(off));
  }
  const auto notes = meshio::writeMesh(options.output, file, {.ascii = options.ascii});
  reportNotes(settings, options.output, notes);
  if (settings.json) {
    Json json = {{"input", options.input}, {"output", options.output}};
    json.update(qualityJson(quality));
    if (distance) {
      json["hausdorff"] = distance->hausdorff();
      json["volume_error"] = tet::compareVolumes(file.volume, *surface).relative();
    }
    json["sharp_moved"] = report.sharpMoved;
    json["samples"] = report.samples;
    json["cut_off"] = report.cutOff;
    json["seconds"] = stagesJson(profiler);
    printJson(json);
  }
  std::string text = fmt::format("{} -> {}:\n{}", options.input, options.output, qualityText(quality));
  if (distance)
    text += fmt::format("\n  distance to the input's surface {:.3g} m at most, volume off by {:.3g} %",
                        distance->hausdorff(), 100 * tet::compareVolumes(file.volume, *surface).relative());
  say(settings, text);
  return 0;
}

int reportFile(const TetOptions& options, const Settings& settings) {
  tet::TetFileReport report;
  const geometry::TetMesh mesh = tet::readTetMesh(options.input, tet::InvertedTets::Turn, report);
  reportNotes(settings, options.input, report.notes);
  const tet::TetQuality quality = tet::tetQuality(mesh);
  const tet::TetAdjacency adjacency = tet::tetAdjacency(mesh);
  const std::vector<std::string> problems = report.defects.problems();
  if (settings.json) {
    Json json = {{"input", options.input}};
    json.update(qualityJson(quality));
    json["boundary_faces"] = adjacency.boundary.size();
    json["components"] = adjacency.components;
    json["turned"] = report.turned;
    json["problems"] = problems;
    printJson(json);
  }
  std::string text =
      fmt::format("{}:\n{}\n  {} boundary faces, {} connected part{}", options.input, qualityText(quality),
                  adjacency.boundary.size(), adjacency.components, adjacency.components == 1 ? "" : "s");
  for (const std::string& problem : problems) text += "\n  " + problem;
  say(settings, text);
  return 0;
}

}  // namespace

Verb addTet(App& root) {
  auto options = std::make_shared<TetOptions>();
  App* app = root.addVerb("tet", "Fill a closed mesh or a field with tetrahedra; check tetrahedra");
  app->addOption("INPUT", options->input, "A mesh or field (.sdf) to fill; without -o, tetrahedra to check")
      ->required();
  app->addOption("-o,--output", options->output, "The tetrahedra to write (.msh, .vtu)")->typeName("FILE");
  app->addOption("--edge", options->fill.edge,
                 "Edge of the lattice in metres [a fiftieth of the longest side]")
      ->check(positiveCheck())
      ->typeName("D");
  app->addOption("--budget", options->budget,
                 "Most tetrahedra; what needs more is refused, with an edge that would do [1e8]")
      ->check(positiveCheck())
      ->typeName("N");
  app->addOption("--levels", options->fill.levels, "Coarser inside: how often the edge may double [0]")
      ->check(inRange(0, tet::kMostLevels))
      ->typeName("N");
  app->addFlag("--sharp", options->fill.sharp, "Move vertices to creases and corners where angles allow it");
  app->addFlag("--ascii", options->ascii, "Text instead of binary where the format has both");
  app->footer(
      "Tetrahedra have dihedral angles between 9.3 and 161.7 degrees, with --sharp between 8 and 166.\n"
      "Examples:\n"
      "  sunder tet cup.obj --edge 0.005 -o cup.msh\n"
      "  sunder tet cup.sdf --edge 0.002 --levels 3 -o cup.vtu\n"
      "  sunder tet cup.msh --json");
  return {app, [options](const Settings& settings) {
            return options->output.empty() ? reportFile(*options, settings) : fillFile(*options, settings);
          }};
}

}  // namespace sunder::cli
