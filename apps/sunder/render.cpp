// sunder render MESH ... -o PICTURE.png
#include "sunder/base/error.h"
#include "sunder/base/image.h"
#include "sunder/base/profiler.h"
#include "sunder/base/progress.h"
#include "sunder/geometry/mesh_io.h"
#include "sunder/show/path_tracer.h"

#include "command.h"

#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

struct RenderOptions {
  std::vector<std::string> inputs;
  std::string output, size = "1280x720", camera, material;
  unsigned samples = 32;
  double crease = 35, exposure = 1;
  bool noGround = false, inPlace = false;
};

std::pair<size_t, size_t> parseSize(const std::string& text) {
  size_t width = 0, height = 0;
  int used = 0;
  if (std::sscanf(text.c_str(), "%zux%zu%n", &width, &height, &used) != 2 || size_t(used) != text.size() ||
      width == 0 || height == 0 || width > 32768 || height > 32768)
    throw Error(ErrorKind::Usage, fmt::format("'{}' is not the size of a picture", text))
        .hint("write it as 1280x720, each side at most 32768");
  return {width, height};
}

// Side by side on the ground, in the order given, with a third of the larger neighbour between them.
show::Shot shotOfMeshes(const RenderOptions& options, const Settings& settings, show::PathTracer& tracer,
                        double aspect) {
  show::Shot shot;
  Box3 all;
  double edge = 0;
  for (size_t i = 0; i < options.inputs.size(); ++i) {
    const geometry::TriMesh mesh = geometry::toTriMesh(readSurface(options.inputs[i], settings));
    const Box3 box = geometry::bounds(mesh.positions);
    show::PlacedMesh placed;
    placed.mesh = tracer.addMesh(mesh, options.crease);
    if (!options.material.empty())
      placed.look = show::lookOf(options.material);
    else if (options.inputs.size() > 1)
      placed.look.colour = show::distinctColour(uint32_t(i));
    if (!options.inPlace && options.inputs.size() > 1) {
      const Vec3 side = box.upper - box.lower;
      const Vec3 middle = (box.lower + box.upper) / 2;
      placed.position = Vec3(edge + side.x() / 2 - middle.x(), -box.lower.y(), -middle.z());
      edge += side.x() * 4 / 3;
    }
    all.grow(Box3{box.lower + placed.position, box.upper + placed.position});
    shot.meshes.push_back(placed);
  }
  shot.camera = show::frameBox(all, aspect);
  shot.ground = !options.noGround;
  shot.groundHeight = all.lower.y();
  return shot;
}

int runRender(const RenderOptions& options, const Settings& settings) {
  if (std::filesystem::path(options.output).extension() != ".png")
    throw Error(ErrorKind::Unsupported, "pictures are written as PNG only")
        .inFile(options.output)
        .hint("give a name that ends in .png");
  const auto [width, height] = parseSize(options.size);
  Profiler profiler;
  const Profiler::Activation active(profiler);
  show::PathTracer tracer;
  show::Shot shot;
  {
    const ProfileScope scope("read");
    shot = shotOfMeshes(options, settings, tracer, double(width) / double(height));
  }
  if (!options.camera.empty()) shot.camera = show::parseCamera(options.camera, shot.camera);
  show::PictureSettings picture;
  picture.width = width;
  picture.height = height;
  picture.samples = options.samples;
  picture.exposure = options.exposure;
  Image image;
  {
    const ProfileScope scope("render");
    std::optional<Progress> progress;
    if (!settings.quiet) progress.emplace("render", 1000, "permille");
    picture.progress = [&](double done) {
      if (progress) progress->set(uint64_t(done * 1000));
    };
    image = tracer.render(shot, picture);
    if (progress) progress->erase();
  }
  writePng(options.output, image);
  if (settings.json)
    printJson({{"output", options.output},
               {"width", width},
               {"height", height},
               {"samples", options.samples},
               {"meshes", shot.meshes.size()},
               {"seconds", stagesJson(profiler)}});
  say(settings,
      fmt::format("{}: {} x {}, {} samples a pixel", options.output, width, height, options.samples));
  return 0;
}

}  // namespace

Verb addRender(CLI::App& root) {
  auto options = std::make_shared<RenderOptions>();
  CLI::App* app = root.add_subcommand("render", "Make a ray-traced picture of meshes");
  app->add_option("INPUT", options->inputs, "Mesh files; several stand side by side")->required();
  app->add_option("-o,--output", options->output, "The picture to write, .png")->required();
  app->add_option("--size", options->size, "Width and height in pixels")->capture_default_str();
  app->add_option("--samples", options->samples, "Rays a pixel: more is cleaner and slower")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  app->add_option("--camera", options->camera,
                  "As in: eye 4 3 6 target 0 1 0 fov 40; else it frames what there is");
  app->add_option("--material", options->material, "Look of the meshes: glass, porcelain, steel, oak, ...");
  app->add_option("--crease", options->crease, "Edges sharper than this many degrees stay sharp; 0: all flat")
      ->check(CLI::Range(0, 180))
      ->capture_default_str();
  app->add_option("--exposure", options->exposure, "Factor of brightness")
      ->check(CLI::Range(0.001, 1000.0))
      ->capture_default_str();
  app->add_flag("--no-ground", options->noGround, "Nothing below but sky");
  app->add_flag("--in-place", options->inPlace, "Leave several meshes where their files have them");
  app->footer(
      "Examples:\n"
      "  sunder render bunny.obj -o bunny.png\n"
      "  sunder render glass.obj --material glass --samples 128 -o glass.png\n"
      "  sunder render a.obj b.obj --camera 'eye 0 2 5 target 0 0.5 0' -o both.png");
  return {app, [options](const Settings& settings) { return runRender(*options, settings); }};
}

}  // namespace sunder::cli
