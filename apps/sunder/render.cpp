// sunder render RUN|MESH ... -o PICTURE.png|MOVIE.mp4
#include "sunder/base/error.h"
#include "sunder/base/image.h"
#include "sunder/base/log.h"
#include "sunder/base/profiler.h"
#include "sunder/base/work.h"
#include "sunder/material/material.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/show/picture/run_pictures.h"
#include "sunder/show/readable.h"

#include "command.h"
#include "movie.h"
#include "run_input.h"

#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

struct RenderOptions {
  std::vector<std::string> inputs;
  std::string output, size = "1280x720", camera, material, colourBy = "material";
  std::optional<size_t> frame;
  std::string frames;
  size_t every = 1;
  unsigned samples = 32;
  double crease = 35, exposure = 1;
  bool noGround = false, inPlace = false, particles = false, fronts = false;
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

show::Look presetLook(const std::string& name) {
  if (const material::Material* preset = material::preset(name)) return show::lookOf(*preset);
  std::string known;
  for (const material::Material& m : material::presets()) known += (known.empty() ? "" : ", ") + m.name;
  throw Error(ErrorKind::Usage, fmt::format("there is no material '{}'", name)).hint("there are " + known);
}

// Side by side on the ground, in the order given, with a third of each one's width between them.
show::Shot shotOfMeshes(const RenderOptions& options, const Settings& settings, show::PathTracer& tracer,
                        double aspect) {
  show::Shot shot;
  Box3 all;
  double edge = 0;
  for (size_t i = 0; i < options.inputs.size(); ++i) {
    const geometry::TriMesh mesh = geometry::toTriMesh(readSurface(options.inputs[i], settings));
    const Box3 box = geometry::bounds(mesh.positions);
    show::PlacedMesh placed;
    try {
      placed.mesh = tracer.addMesh(mesh, options.crease);
    } catch (Error& e) {
      throw std::move(e.inFile(options.inputs[i]));
    }
    if (!options.material.empty())
      placed.look = presetLook(options.material);
    else if (options.inputs.size() > 1)
      placed.look.colour = show::distinctColour(uint32_t(i));
    if (!options.inPlace && options.inputs.size() > 1) {
      const Vec3 middle = box.center();
      placed.position = Vec3(edge + box.extent().x() / 2 - middle.x(), -box.lower.y(), -middle.z());
      edge += box.extent().x() * 4 / 3;
    }
    all.grow(Box3{box.lower + placed.position, box.upper + placed.position});
    shot.meshes.push_back(placed);
  }
  shot.camera = show::frameBox(all, aspect);
  shot.ground = !options.noGround;
  shot.groundHeight = all.lower.y();
  return shot;
}

show::RunShotSettings shotSettings(const RenderOptions& options, double aspect) {
  show::RunShotSettings settings;
  settings.aspect = aspect;
  settings.particles = options.particles;
  settings.fronts = options.fronts;
  if (options.colourBy == "material")
    settings.colourBy = show::ColourBy::Material;
  else if (options.colourBy == "body")
    settings.colourBy = show::ColourBy::Body;
  else if (options.colourBy == "speed")
    settings.colourBy = show::ColourBy::Speed;
  else {
    settings.colourBy = show::ColourBy::Field;
    settings.field = options.colourBy;
  }
  return settings;
}

// The frames to draw: one (the last without --frame), or A:B:every, or all for a movie.
std::vector<size_t> chosenFrames(const RenderOptions& options, size_t count, bool movie) {
  if (options.frame) return {*options.frame};
  size_t first = 0, last = count ? count - 1 : 0;
  if (!options.frames.empty())
    std::tie(first, last) = parseFrameRange(options.frames, count);
  else if (!movie)
    return {last};
  std::vector<size_t> frames;
  for (size_t f = first; f <= last; f += options.every) frames.push_back(f);
  return frames;
}

int runRender(const RenderOptions& options, const Settings& settings) {
  const std::filesystem::path output = options.output;
  const bool movie = output.extension() == ".mp4";
  if (!movie && output.extension() != ".png")
    throw Error(ErrorKind::Unsupported, "pictures are written as PNG, movies as MP4")
        .inFile(options.output)
        .hint("give a name that ends in .png or .mp4");
  const auto [width, height] = parseSize(options.size);
  if (movie && (width % 2 || height % 2))
    throw Error(ErrorKind::Usage, "a movie's width and height must be even");
  const double aspect = double(width) / double(height);
  show::PictureSettings picture;
  picture.width = width;
  picture.height = height;
  picture.samples = options.samples;
  picture.exposure = options.exposure;
  Profiler profiler;
  const Profiler::Activation active(profiler);

  std::optional<record::RunReader> run;
  std::optional<show::RunPictures> pictures;
  std::optional<show::PathTracer> tracer;
  show::Shot still;
  std::vector<size_t> frames{0};
  show::Readable readable;
  {
    const ProfileScope scope("read");
    if (options.inputs.size() == 1 && isRun(options.inputs[0])) {
      run.emplace(runPath(options.inputs[0]));
      pictures.emplace(*run);
      frames = chosenFrames(options, run->frameCount(), movie);
      if (frames.back() < run->frameCount()) readable = show::readableOf(*run, frames);
      for (const std::string& sentence : readable.lost) logError("{}: {}", run->path().string(), sentence);
      if (const std::string note = show::damageNote(*run); !note.empty()) logWarn("{}", note);
      if (frames.back() < run->frameCount()) frames = readable.frames;
      if (frames.empty()) {
        logError("{}: none of the frames can be read: nothing is written", run->path().string());
        if (settings.json) printJson({{"frames", 0}, {"lost", readable.lost}});
        return 1;
      }
    } else {
      if (movie || options.frame || !options.frames.empty())
        throw Error(ErrorKind::Usage, "meshes have no frames")
            .inFile(options.inputs[0])
            .hint("movies are made of runs");
      still = shotOfMeshes(options, settings, tracer.emplace(), aspect);
    }
  }
  const auto shotOf = [&](size_t frame) {
    show::Shot shot = run ? pictures->shot(frame, shotSettings(options, aspect)) : still;
    if (!options.camera.empty()) shot.camera = show::parseCamera(options.camera, shot.camera);
    if (options.noGround) shot.ground = false;
    return shot;
  };
  PictureSink sink(output, width, height, run ? run->info().frameRate / double(options.every) : 1,
                   frames.size());
  {
    const ProfileScope scope("render");
    Work work("rendering", frames.size() > 1 ? frames.size() : 1000,
              frames.size() > 1 ? "frames" : "permille");
    if (frames.size() == 1) picture.progress = [&](double done) { work.set(uint64_t(done * 1000)); };
    for (const size_t f : frames) {
      const show::Shot shot = shotOf(f);
      sink.add(run ? pictures->render(shot, picture) : tracer->render(shot, picture));
      if (frames.size() > 1) work.step();
    }
  }
  sink.finish();
  if (settings.json)
    printJson({{"output", sink.result()},
               {"width", width},
               {"height", height},
               {"samples", options.samples},
               {"frames", frames.size()},
               {"lost", readable.lost},
               {"seconds", stagesJson(profiler)}});
  say(settings, fmt::format("{}: {} picture{} of {} x {}, {} samples a pixel", sink.result(), frames.size(),
                            frames.size() == 1 ? "" : "s", width, height, options.samples));
  return readable.lost.empty() ? 0 : 1;
}

}  // namespace

Verb addRender(App& root) {
  auto options = std::make_shared<RenderOptions>();
  App* app = root.addVerb("render", "Make ray-traced pictures or a movie of a run, or a picture of meshes");
  app->addOption("INPUT", options->inputs,
                 "A run (run.sunder or its folder), or mesh files, which stand side by side")
      ->required();
  app->addOption("-o,--output", options->output, "The picture (.png) or movie (.mp4) to write")->required();
  app->addOption("--frame", options->frame, "Which frame of the run, from 0; else the last");
  app->addOption("--frames", options->frames, "Frames A:B of the run; pictures are numbered")
      ->excludes("--frame");
  app->addOption("--every", options->every, "Only every so many of the frames")->check(inRange(1, 1000000));
  app->addOption("--size", options->size, "Width and height in pixels")->showDefault();
  app->addOption("--samples", options->samples, "Rays a pixel: more is cleaner and slower")
      ->check(inRange(1, 65536))
      ->showDefault();
  app->addOption("--camera", options->camera,
                 "As in: eye 4 3 6 target 0 1 0 fov 40; else it frames the action");
  app->addOption("--colour-by", options->colourBy, "material, body, speed, or a field that was recorded")
      ->showDefault();
  app->addOption("--material", options->material, "Look of meshes: glass, porcelain, steel, oak, ...");
  app->addOption("--crease", options->crease,
                 "Edges of meshes sharper than this many degrees stay sharp; 0: all flat")
      ->check(inRange(0, 180))
      ->showDefault();
  app->addOption("--exposure", options->exposure, "Factor of brightness")
      ->check(inRange(0.001, 1000.0))
      ->showDefault();
  app->addFlag("--particles", options->particles, "Liquids as particles, not as smooth surfaces");
  app->addFlag("--fronts", options->fronts, "Of runs: draw the fronts of cracks");
  app->addFlag("--no-ground", options->noGround, "Nothing below but sky");
  app->addFlag("--in-place", options->inPlace, "Leave several meshes where their files have them");
  app->footer(
      "Examples:\n"
      "  sunder render out/pile --frame 200 -o pile.png\n"
      "  sunder render out/pile --samples 8 -o pile.mp4\n"
      "  sunder render glass.obj --material glass --samples 128 -o glass.png");
  return {app, [options](const Settings& settings) { return runRender(*options, settings); }};
}

}  // namespace sunder::cli
