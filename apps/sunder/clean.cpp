// sunder clean IN -o OUT
#include "sunder/base/error.h"
#include "sunder/base/work.h"
#include "sunder/geometry/mesh_clean.h"
#include "sunder/geometry/mesh_report.h"
#include "sunder/meshio/mesh_file.h"

#include "command.h"

#include <memory>
#include <optional>

#include <fmt/core.h>

namespace sunder::cli {

namespace {

struct CleanArguments {
  std::string input, output;
  geometry::CleanOptions clean;
  bool ascii = false, keepOrientation = false;
};

Json changesJson(const geometry::CleanReport& r) {
  return {{"welded_vertices", r.weldedVertices},
          {"shortened_faces", r.shortenedFaces},
          {"degenerate_faces", r.degenerateFaces},
          {"flat_faces", r.flatFaces},
          {"duplicate_faces", r.duplicateFaces},
          {"flipped_faces", r.flippedFaces},
          {"split_vertices", r.splitVertices},
          {"filled_holes", r.filledHoles},
          {"added_faces", r.addedFaces},
          {"added_vertices", r.addedVertices},
          {"isolated_vertices", r.isolatedVertices},
          {"left",
           {{"pinched_faces", r.pinchedFaces},
            {"one_sided_patches", r.oneSidedPatches},
            {"holes", r.keptHoles}}}};
}

int cleanFile(CleanArguments arguments, const Settings& settings) {
  meshio::formatOf(arguments.output);
  arguments.clean.orient = !arguments.keepOrientation;
  meshio::MeshFile file = meshio::readMesh(arguments.input);
  reportNotes(settings, arguments.input, file.notes);
  if (file.surface.faceCount() == 0 && !file.volume.tets.empty())
    throw Error(ErrorKind::Unsupported, "holds tetrahedra only; clean works on surfaces")
        .inFile(arguments.input)
        .hint("'sunder convert' to a surface format takes the boundary");
  std::optional<Work> work(std::in_place, "cleaning");
  geometry::CleanResult result = geometry::cleanMesh(std::move(file.surface), arguments.clean);
  work.reset();
  file.surface = std::move(result.mesh);
  if (!file.volume.tets.empty()) {
    file.volume = {};
    file.notes.push_back("left the tetrahedra out: only the surface was cleaned");
    reportNotes(settings, arguments.output, {file.notes.back()});
  }
  const geometry::MeshReport report = geometry::meshReport(file.surface);
  const auto notes = meshio::writeMesh(arguments.output, file, {.ascii = arguments.ascii});
  reportNotes(settings, arguments.output, notes);
  if (settings.json) {
    printJson({{"input", arguments.input},
               {"output", arguments.output},
               {"vertices", report.vertices},
               {"faces", report.faces},
               {"watertight", report.watertight},
               {"changes", changesJson(result.report)},
               {"problems_left", geometry::problems(report)},
               {"read_notes", file.notes},
               {"write_notes", notes}});
    return 0;
  }
  std::string text =
      fmt::format("{} -> {}: {} vertices, {} faces, {}", arguments.input, arguments.output, report.vertices,
                  report.faces, report.watertight ? "watertight" : "not watertight");
  for (const std::string& line : result.report.lines()) text += "\n  " + line;
  if (!result.report.changed()) text += "\n  nothing to change";
  const auto left = geometry::problems(report);
  if (!left.empty()) text += "\n  left:";
  for (const std::string& line : left) text += "\n    " + line;
  say(settings, text);
  return 0;
}

}  // namespace

Verb addClean(App& root) {
  auto arguments = std::make_shared<CleanArguments>();
  App* app = root.addVerb("clean", "Mend a mesh and say what was changed");
  app->addOption("IN", arguments->input, "The file to read")->required();
  app->addOption("-o,--output", arguments->output, "The file to write")->required()->typeName("FILE");
  app->addOption("--weld", arguments->clean.weldDistance,
                 "Also weld vertices up to this far apart, in metres")
      ->check(notNegativeCheck())
      ->typeName("D");
  app->addOption("--fill-holes", arguments->clean.fillHolesUpTo, "Close holes of at most this many edges")
      ->typeName("N");
  app->addFlag("--split", arguments->clean.splitNonManifold, "Cut non-manifold edges and vertices apart");
  app->addFlag("--drop-flat", arguments->clean.dropFlatFaces, "Drop faces of zero area too; may leave slits");
  app->addFlag("--keep-orientation", arguments->keepOrientation, "Do not turn faces around");
  app->addFlag("--ascii", arguments->ascii, "Text instead of binary where the format has both");
  app->footer(
      "Welds vertices at the same place, drops broken and duplicate faces and unused vertices, and winds "
      "the\n"
      "faces consistently, outward where the mesh is closed.\n"
      "Examples:\n"
      "  sunder clean scan.stl -o scan.ply\n"
      "  sunder clean scan.ply -o closed.ply --weld 1e-5 --fill-holes 20");
  return {app, [arguments](const Settings& settings) { return cleanFile(*arguments, settings); }};
}

}  // namespace sunder::cli
