// sunder info FILE
#include "sunder/base/work.h"
#include "sunder/geometry/mesh_report.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/meshio/mesh_file.h"

#include "command.h"
#include "info_run.h"

#include <filesystem>
#include <memory>

#include <fmt/core.h>

namespace sunder::cli {

namespace {

using geometry::MeshReport;

struct InfoOptions {
  std::string input;
  bool brief = false;
};

Json vector(const Vec3& v) { return Json::array({v.x(), v.y(), v.z()}); }

Json boundsJson(const Box3& box) {
  if (box.empty()) return nullptr;
  return {{"min", vector(box.lower)}, {"max", vector(box.upper)}};
}

Json surfaceJson(const MeshReport& r) {
  Json json = {{"vertices", r.vertices},
               {"faces", r.faces},
               {"triangles", r.triangles},
               {"quads", r.quads},
               {"polygons", r.polygons},
               {"edges", r.edges},
               {"boundary_edges", r.boundaryEdges},
               {"boundary_loops", r.boundaryLoops},
               {"nonmanifold_edges", r.nonManifoldEdges},
               {"nonmanifold_vertices", r.nonManifoldVertices},
               {"flipped_edges", r.flippedEdges},
               {"duplicate_faces", r.duplicateFaces},
               {"degenerate_faces", r.degenerateFaces},
               {"isolated_vertices", r.isolatedVertices},
               {"duplicate_vertices", r.duplicateVertices},
               {"components", r.components},
               {"euler_characteristic", r.eulerCharacteristic},
               {"genus", nullptr},
               {"watertight", r.watertight},
               {"consistently_oriented", r.consistentlyOriented},
               {"inside_out", r.insideOut},
               {"area", r.area},
               {"volume", r.volume},
               {"centre", vector(r.centre)},
               {"bounds", boundsJson(r.bounds)},
               {"edge_length", {{"min", r.minEdge}, {"mean", r.meanEdge}, {"max", r.maxEdge}}}};
  if (r.genus) json["genus"] = *r.genus;
  return json;
}

std::string boundsText(const Box3& box) {
  if (box.empty()) return "none";
  return fmt::format("({:.6g}, {:.6g}, {:.6g}) to ({:.6g}, {:.6g}, {:.6g})", box.lower.x(), box.lower.y(),
                     box.lower.z(), box.upper.x(), box.upper.y(), box.upper.z());
}

std::string verdict(const MeshReport& r) {
  if (r.watertight && r.insideOut) return "watertight, but inside out";
  if (r.watertight) return "watertight";
  return "not watertight";
}

std::string surfaceText(const MeshReport& r) {
  std::string text =
      fmt::format("  surface    {} vertices, {} faces ({} triangles, {} quads, {} larger), {} edges\n",
                  r.vertices, r.faces, r.triangles, r.quads, r.polygons, r.edges);
  text +=
      fmt::format("  verdict    {}; {} component{}", verdict(r), r.components, r.components == 1 ? "" : "s");
  if (r.genus) text += fmt::format(", genus {}", *r.genus);
  text += fmt::format("\n  area       {:.6g} m2\n", r.area);
  if (r.watertight) text += fmt::format("  volume     {:.6g} m3\n", r.volume);
  text += fmt::format("  bounds     {}\n", boundsText(r.bounds));
  text += fmt::format("  edges      {:.4g} to {:.4g}, mean {:.4g} m\n", r.minEdge, r.maxEdge, r.meanEdge);
  const auto found = geometry::problems(r);
  if (!found.empty()) text += "  found:\n";
  for (const std::string& problem : found) text += "    " + problem + "\n";
  return text;
}

Json volumeJson(const geometry::TetMesh& mesh, const geometry::TetReport& r) {
  return {{"vertices", mesh.positions.size()},
          {"tets", mesh.tets.size()},
          {"boundary_faces", r.boundaryFaces},
          {"nonmanifold_faces", r.nonManifoldFaces},
          {"inverted_tets", r.inverted},
          {"degenerate_tets", r.degenerate},
          {"components", r.components},
          {"regions", r.regions},
          {"volume", r.volume},
          {"bounds", boundsJson(geometry::bounds(mesh.positions))}};
}

int showInfo(const InfoOptions& options, const Settings& settings) {
  if (isRunFile(options.input)) return showRun(options.input, options.brief, settings);
  const meshio::MeshFile file = meshio::readMesh(options.input);
  const bool tets = !file.volume.tets.empty();
  const bool surface = !tets || file.surface.faceCount() > 0;
  const Work work("measuring");
  const MeshReport report = surface ? geometry::meshReport(file.surface) : MeshReport{};
  const geometry::TetReport tetReport = tets ? geometry::tetReport(file.volume) : geometry::TetReport{};
  const char* format = info(file.format).name;

  if (settings.json) {
    std::error_code ignored;
    Json json = {{"file", options.input},
                 {"format", format},
                 {"bytes", std::filesystem::file_size(options.input, ignored)}};
    if (surface) json.update(surfaceJson(report));
    if (tets) json["volume_mesh"] = volumeJson(file.volume, tetReport);
    json["groups"] = file.surface.groupNames;
    json["notes"] = file.notes;
    printJson(json);
    return 0;
  }
  if (options.brief) {
    say(settings, fmt::format("{}: {} vertices, {} {}, {}", options.input,
                              tets ? file.volume.positions.size() : report.vertices,
                              tets ? file.volume.tets.size() : report.faces, tets ? "tetrahedra" : "faces",
                              surface ? verdict(report) : "tetrahedra only") +
                      (surface && report.watertight ? fmt::format(", volume {:.4g} m3", report.volume)
                       : tets                       ? fmt::format(", volume {:.4g} m3", tetReport.volume)
                                                    : ""));
    return 0;
  }
  reportNotes(settings, options.input, file.notes);
  std::string text = fmt::format("{} ({})\n", options.input, format);
  if (tets)
    text += fmt::format(
        "  tetrahedra {} vertices, {} tetrahedra, {} components, {} regions, {} boundary faces\n"
        "  volume     {:.6g} m3; {} inverted, {} degenerate tetrahedra, {} non-manifold faces\n",
        file.volume.positions.size(), file.volume.tets.size(), tetReport.components, tetReport.regions,
        tetReport.boundaryFaces, tetReport.volume, tetReport.inverted, tetReport.degenerate,
        tetReport.nonManifoldFaces);
  if (surface) text += surfaceText(report);
  if (!file.surface.groupNames.empty())
    text += fmt::format("  groups     {}\n", file.surface.groupNames.size());
  text.pop_back();
  say(settings, text);
  return 0;
}

}  // namespace

Verb addInfo(App& root) {
  auto options = std::make_shared<InfoOptions>();
  App* app = root.addVerb("info", "Measure a mesh file or a recording and say what is wrong with it");
  app->addOption("FILE", options->input, "The mesh file, the recording or its folder")->required();
  app->addFlag("--brief", options->brief, "One line");
  app->footer(
      "Examples:\n"
      "  sunder info bunny.obj\n"
      "  sunder info bunny.obj --json\n"
      "  sunder info out/pile");
  return {app, [options](const Settings& settings) { return showInfo(*options, settings); }};
}

}  // namespace sunder::cli
