// sunder shape NAME [--set k=v ...] -o FILE
#include "sunder/base/error.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/shapes/catalogue.h"

#include "command.h"

#include <memory>

#include <fmt/core.h>

namespace sunder::cli {

namespace {

struct ShapeOptions {
  std::string name, output;
  std::vector<std::string> set;
  bool ascii = false;
};

shapes::ShapeValues parseSet(const std::vector<std::string>& assignments) {
  shapes::ShapeValues values;
  for (const std::string& text : assignments) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(ErrorKind::Usage, fmt::format("--set {} is not of the form name=value", text))
          .hint("for example --set radius=0.2");
    if (!values.emplace(text.substr(0, equals), text.substr(equals + 1)).second)
      throw Error(ErrorKind::Usage, fmt::format("--set names '{}' twice", text.substr(0, equals)));
  }
  return values;
}

int makeShapeFile(const ShapeOptions& options, const Settings& settings) {
  meshio::formatOf(options.output);  // a bad ending is told before any work
  const geometry::TriMesh mesh = shapes::makeShape(options.name, parseSet(options.set));
  meshio::MeshFile file;
  file.surface = geometry::toSoup(mesh);
  const auto notes = meshio::writeMesh(options.output, file, {.ascii = options.ascii});
  reportNotes(settings, options.output, notes);
  if (settings.json)
    printJson({{"shape", options.name},
               {"file", options.output},
               {"vertices", mesh.positions.size()},
               {"faces", mesh.triangles.size()},
               {"notes", notes}});
  say(settings, fmt::format("{}: {}, {} vertices, {} triangles", options.output, options.name,
                            mesh.positions.size(), mesh.triangles.size()));
  return 0;
}

}  // namespace

Verb addShape(App& root) {
  auto options = std::make_shared<ShapeOptions>();
  App* app = root.addVerb("shape", "Make a procedural shape and write it to a mesh file");
  app->addOption("NAME", options->name, "The shape; 'sunder describe shapes' lists them")->required();
  app->addOption("--set", options->set, "A parameter, as name=value; may be repeated")
      ->typeName("K=V")
      ->oneValueEach();
  app->addOption("-o,--output", options->output, "The file to write; its ending picks the format")
      ->required()
      ->typeName("FILE");
  app->addFlag("--ascii", options->ascii, "Text instead of binary where the format has both");
  app->footer(
      "Examples:\n"
      "  sunder shape icosphere -o ball.obj\n"
      "  sunder shape wine-glass --set height=0.2 --set segments=96 -o glass.glb\n"
      "  sunder shape letters --set text=SUNDER -o name.stl\n"
      "  sunder describe shapes wine-glass      the parameters of one shape");
  return {app, [options](const Settings& settings) { return makeShapeFile(*options, settings); }};
}

}  // namespace sunder::cli
