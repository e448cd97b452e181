// sunder surface FIELD.sdf -o MESH
#include "sunder/base/error.h"
#include "sunder/base/log.h"
#include "sunder/base/profiler.h"
#include "sunder/geometry/mesh_io.h"
#include "sunder/geometry/mesh_report.h"
#include "sunder/sdf/isosurface.h"

#include "command.h"
#include "read_field.h"

#include <memory>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

struct SurfaceOptions {
  std::string input, output;
  sdf::IsosurfaceSettings settings;
  bool ascii = false;
};

int runSurface(const SurfaceOptions& options, const Settings& settings) {
  geometry::formatOf(options.output);
  Profiler profiler;
  const Profiler::Activation active(profiler);
  FieldInput source;
  {
    const ProfileScope scope("read");
    source = readField(options.input, settings);
  }
  sdf::IsosurfaceReport report;
  geometry::MeshFile file;
  {
    const ProfileScope scope("surface");
    file.surface = geometry::toSoup(sdf::isosurface(*source.field, options.settings, report));
  }
  if (file.surface.faceCount() == 0)
    throw Error(ErrorKind::Geometry,
                fmt::format("the field has the value {} nowhere", options.settings.value))
        .inFile(options.input)
        .hint("a solid thinner than the lattice is lost: take a shorter --edge");
  if (report.cutOff)
    logWarn("{}: the solid reaches beyond the field's box and was cut off there", options.input);
  const geometry::MeshReport mesh = geometry::meshReport(file.surface);
  const auto notes = geometry::writeMesh(options.output, file, {.ascii = options.ascii});
  reportNotes(settings, options.output, notes);
  if (settings.json)
    printJson({{"input", options.input},
               {"output", options.output},
               {"value", options.settings.value},
               {"vertices", mesh.vertices},
               {"faces", mesh.faces},
               {"watertight", mesh.watertight},
               {"manifold", mesh.manifold()},
               {"volume", mesh.volume},
               {"error_rms", report.rms},
               {"error_max", report.largest},
               {"cut_off", report.cutOff},
               {"samples", report.samples},
               {"seconds", stagesJson(profiler)}});
  say(settings,
      fmt::format(
          "{} -> {}: {} vertices, {} faces, {}; distance to the field's surface {:.3g} rms, {:.3g} at most",
          options.input, options.output, mesh.vertices, mesh.faces,
          mesh.watertight && mesh.manifold() ? "a watertight manifold" : "not watertight", report.rms,
          report.largest));
  return 0;
}

}  // namespace

Verb addSurface(CLI::App& root) {
  auto options = std::make_shared<SurfaceOptions>();
  CLI::App* app =
      root.add_subcommand("surface", "Make a mesh of a field's surface, or of an offset of a mesh");
  app->add_option("INPUT", options->input, "A field (.sdf), or a mesh file")->required();
  app->add_option("-o,--output", options->output, "The mesh to write")->required()->type_name("FILE");
  app->add_option("--edge", options->settings.edge,
                  "Edge of the lattice in metres [a hundredth of the longest side]")
      ->check(positiveCheck())
      ->type_name("D");
  app->add_option("--value", options->settings.value,
                  "Distance of the surface: positive swells, negative shrinks [0]")
      ->type_name("D");
  app->add_flag("--ascii", options->ascii, "Text instead of binary where the format has both");
  app->footer(
      "The result is always a closed manifold.\n"
      "Examples:\n"
      "  sunder surface cup.sdf -o cup.obj\n"
      "  sunder surface scan.ply --edge 0.002 -o closed.ply      also closes holes\n"
      "  sunder surface cup.obj --value 0.01 -o padded.obj");
  return {app, [options](const Settings& settings) { return runSurface(*options, settings); }};
}

}  // namespace sunder::cli
