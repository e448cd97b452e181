// sunder convert IN OUT
#include "sunder/meshio/mesh_file.h"

#include "command.h"

#include <memory>

#include <fmt/core.h>

namespace sunder::cli {

namespace {

struct ConvertOptions {
  std::string input, output;
  bool ascii = false;
};

int convertFile(const ConvertOptions& options, const Settings& settings) {
  meshio::formatOf(options.output);
  const meshio::MeshFile mesh = meshio::readMesh(options.input);
  reportNotes(settings, options.input, mesh.notes);
  const auto notes = meshio::writeMesh(options.output, mesh, {.ascii = options.ascii});
  reportNotes(settings, options.output, notes);
  const bool tets = !mesh.volume.tets.empty();
  const size_t vertices = tets ? mesh.volume.positions.size() : mesh.surface.positions.size();
  if (settings.json)
    printJson({{"input", options.input},
               {"output", options.output},
               {"vertices", vertices},
               {"faces", mesh.surface.faceCount()},
               {"tets", mesh.volume.tets.size()},
               {"read_notes", mesh.notes},
               {"write_notes", notes}});
  say(settings,
      fmt::format("{} -> {}: {} vertices, {} {}", options.input, options.output, vertices,
                  tets ? mesh.volume.tets.size() : mesh.surface.faceCount(), tets ? "tetrahedra" : "faces"));
  return 0;
}

}  // namespace

Verb addConvert(App& root) {
  auto options = std::make_shared<ConvertOptions>();
  App* app = root.addVerb("convert", "Read a mesh file and write it in another format");
  app->addOption("IN", options->input, "The file to read")->required();
  app->addOption("OUT", options->output, "The file to write; its ending picks the format")->required();
  app->addFlag("--ascii", options->ascii, "Text instead of binary where the format has both");
  app->footer(
      "What a format cannot hold is left out, and said.\n"
      "Examples:\n"
      "  sunder convert scan.ply scan.obj\n"
      "  sunder convert part.stl part.glb\n"
      "  sunder convert mesh.msh mesh.vtu         tetrahedra for ParaView\n"
      "  sunder describe formats                  what is read and written");
  return {app, [options](const Settings& settings) { return convertFile(*options, settings); }};
}

}  // namespace sunder::cli
