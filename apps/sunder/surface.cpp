// sunder surface FIELD.sdf -o MESH, and of the liquids of a run
#include "sunder/base/error.h"
#include "sunder/base/log.h"
#include "sunder/base/profiler.h"
#include "sunder/geometry/mesh_report.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/sdf/isosurface.h"

#include "command.h"
#include "read_field.h"
#include "run_input.h"
#include "surface_fluid.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

struct SurfaceOptions {
  std::string input, output;
  sdf::IsosurfaceSettings settings;
  bool ascii = false;
  bool fluid = false;
  FluidSurfaceOptions liquids;
  double budget = 1e9;  // samples
};

constexpr double kBytesPerSample = 40;  // measured 34 on a ball

int runSurface(const SurfaceOptions& options, const Settings& settings) {
  if (isRun(options.input))
    throw Error(ErrorKind::Usage, "a run has many surfaces")
        .inFile(options.input)
        .hint("--fluid makes those of its liquids");
  if (options.output.empty())
    throw Error(ErrorKind::Usage, "nowhere to write the surface to").hint("give a mesh file with -o");
  meshio::formatOf(options.output);
  Profiler profiler;
  const Profiler::Activation active(profiler);
  FieldInput source;
  {
    const ProfileScope scope("read");
    source = readField(options.input, settings);
  }
  sdf::IsosurfaceReport report;
  meshio::MeshFile file;
  {
    const ProfileScope scope("surface");
    sdf::IsosurfaceSettings how = options.settings;
    how.mostSamples = affordable(options.budget, kBytesPerSample);
    try {
      file.surface = geometry::toSoup(sdf::isosurface(*source.field, how, report));
    } catch (Error& error) {
      throw std::move(error.inFile(options.input));
    }
  }
  if (file.surface.faceCount() == 0)
    throw Error(ErrorKind::Geometry,
                fmt::format("the field has the value {} nowhere", options.settings.value))
        .inFile(options.input)
        .hint("a solid thinner than the lattice is lost: take a shorter --edge");
  if (report.cutOff)
    logWarn("{}: the solid reaches beyond the field's box and was cut off there", options.input);
  const geometry::MeshReport mesh = geometry::meshReport(file.surface);
  const auto notes = meshio::writeMesh(options.output, file, {.ascii = options.ascii});
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

Verb addSurface(App& root) {
  auto options = std::make_shared<SurfaceOptions>();
  App* app =
      root.addVerb("surface", "Make a mesh of a field's surface, of an offset of a mesh, or of liquids");
  app->addOption("INPUT", options->input, "A field (.sdf), a mesh file, or with --fluid a run")->required();
  app->addOption("-o,--output", options->output,
                 "The mesh to write; with --fluid also a folder, else 'export/surface' beside the run")
      ->typeName("FILE");
  app->addOption("--edge", options->settings.edge,
                 "Edge of the lattice in metres [a hundredth of the longest side]")
      ->check(positiveCheck())
      ->typeName("D");
  app->addOption("--budget", options->budget,
                 "Most samples of the field; what needs more is refused, with an edge that would do [1e9]")
      ->check(positiveCheck())
      ->typeName("N");
  app->addOption("--value", options->settings.value,
                 "Distance of the surface: positive swells, negative shrinks [0]")
      ->typeName("D");
  app->addFlag("--ascii", options->ascii, "Text instead of binary where the format has both");
  Option* fluid = app->addFlag("--fluid", options->fluid, "The liquids of a run, a mesh a frame");
  FluidSurfaceOptions& liquids = options->liquids;
  app->addOption("--frames", liquids.frames, "Frames A:B of the run, from 0; else all")->needs(fluid);
  app->addOption("--every", liquids.every, "Only every so many of the frames")
      ->check(inRange(1, 1000000))
      ->needs(fluid);
  app->addOption("--cell", liquids.settings.cell, "Size of the grid's cells in metres [a particle's radius]")
      ->check(positiveCheck())
      ->typeName("D")
      ->needs(fluid);
  app->addOption("--method", liquids.method, "anisotropic: flat and thin; averaged: quicker, bumpier")
      ->showDefault()
      ->needs(fluid);
  app->addOption("--smoothing", liquids.settings.smoothing, "Steps of smoothing the mesh [0]")
      ->check(inRange(0, 1000))
      ->typeName("N")
      ->needs(fluid);
  app->footer(
      "The result is always a closed manifold.\n"
      "Examples:\n"
      "  sunder surface cup.sdf -o cup.obj\n"
      "  sunder surface scan.ply --edge 0.002 -o closed.ply      also closes holes\n"
      "  sunder surface cup.obj --value 0.01 -o padded.obj\n"
      "  sunder surface out/dam-break --fluid --frames 20:40 -o water.ply");
  return {app, [options](const Settings& settings) {
            if (!options->fluid) return runSurface(*options, settings);
            options->liquids.input = options->input;
            options->liquids.output = options->output;
            options->liquids.ascii = options->ascii;
            return runFluidSurface(options->liquids, settings);
          }};
}

}  // namespace sunder::cli
