#include "surface_fluid.h"

#include "sunder/base/error.h"
#include "sunder/base/log.h"
#include "sunder/base/profiler.h"
#include "sunder/base/work.h"
#include "sunder/geometry/mesh_report.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/record/run_reader.h"
#include "sunder/show/export/export_files.h"
#include "sunder/show/liquid.h"
#include "sunder/show/readable.h"

#include "run_input.h"
#include "stop_signal.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

namespace fs = std::filesystem;

std::vector<size_t> chosenFrames(const FluidSurfaceOptions& options, const record::RunReader& run) {
  const size_t count = run.frameCount();
  if (count == 0)
    throw Error(ErrorKind::Usage, "the run has no frames yet")
        .inFile(run.path().string())
        .hint("wait until the first one is recorded, or run the scene again");
  size_t first = 0, last = count - 1;
  if (!options.frames.empty()) std::tie(first, last) = parseFrameRange(options.frames, count);
  std::vector<size_t> frames;
  for (size_t f = first; f <= last; f += options.every) frames.push_back(f);
  return frames;
}

// The file of a frame: in a folder, numbered beside a file's name, or that name where there is one frame.
class FrameNames {
 public:
  FrameNames(const FluidSurfaceOptions& options, const record::RunReader& run, size_t count)
      : output_(options.output.empty() ? run.path().parent_path() / "export" / "surface"
                                       : fs::path(options.output)),
        folder_(options.output.empty() || !output_.has_extension()),
        one_(count == 1) {
    if (!folder_) meshio::formatOf(output_);  // refuses an ending that nothing is written as
  }
  void makeFolder() const {
    std::error_code failed;
    if (folder_) fs::create_directories(output_, failed);
    if (failed)
      throw Error(ErrorKind::Write, "the folder cannot be made: " + failed.message())
          .inFile(output_.string());
  }
  fs::path of(size_t frame) const {
    if (folder_) return output_ / show::frameFileName(frame, ".ply");
    if (one_) return output_;
    fs::path path = output_;
    return path.replace_filename(
        fmt::format("{}-{:04}{}", output_.stem().string(), frame, output_.extension().string()));
  }

 private:
  fs::path output_;
  bool folder_, one_;
};

struct FrameSurface {
  geometry::PolygonSoup soup;  // a group for each liquid where there are several
  size_t particles = 0;
};

void append(FrameSurface& all, const fluid::LiquidSurface& surface, const record::BodyState& state,
            const std::string& name) {
  const auto base = uint32_t(all.soup.positions.size());
  const auto group = uint32_t(all.soup.groupNames.size());
  all.soup.groupNames.push_back(name);
  const Quat turn = state.rotation.cast<double>().normalized();
  const Vec3 place = state.position.cast<double>();
  for (const Vec3& p : surface.mesh.positions) all.soup.positions.push_back(place + turn * p);
  for (const geometry::Triangle& t : surface.mesh.triangles) {
    const geometry::Triangle moved = {base + t[0], base + t[1], base + t[2]};
    all.soup.addFace(moved);
    all.soup.faceGroup.push_back(group);
    for (const uint32_t v : t) all.soup.cornerNormals.push_back(turn * surface.normals[v].cast<double>());
  }
}

FrameSurface surfaceOfFrame(const record::RunReader& run, size_t number,
                            const fluid::SurfaceSettings& settings) {
  const ProfileScope scope("surface");
  FrameSurface all;
  record::Frame frame;
  run.readFrame(number, frame);
  for (record::BodyPoints& points : frame.points) {
    const record::BodyEntry& body = run.bodies()[points.body];
    const record::BodyState& state = frame.bodies[points.body];
    if (!state.present || !show::isLiquid(body, points)) continue;
    points.fields.clear();  // mesh files have no velocities
    all.particles += points.positions.size();
    append(all, show::surfaceOf(points, settings), state, body.name);
  }
  if (all.soup.groupNames.size() == 1) {
    all.soup.groupNames.clear();
    all.soup.faceGroup.clear();
  }
  return all;
}

}  // namespace

int runFluidSurface(const FluidSurfaceOptions& options, const Settings& settings) {
  Profiler profiler;
  const Profiler::Activation active(profiler);
  fluid::SurfaceSettings choice = options.settings;
  choice.method = fluid::surfaceMethodNamed(options.method);
  const record::RunReader run(runPath(options.input));
  if (std::none_of(run.bodies().begin(), run.bodies().end(),
                   [](const record::BodyEntry& b) { return b.kind == record::BodyKind::Fluid; }))
    throw Error(ErrorKind::Usage, "the run has no liquid").inFile(run.path().string());
  const show::Readable readable = show::readableOf(run, chosenFrames(options, run));
  for (const std::string& sentence : readable.lost) logError("{}: {}", run.path().string(), sentence);
  const std::vector<size_t>& frames = readable.frames;
  if (frames.empty()) {
    logError("{}: none of the frames can be read: nothing is written", run.path().string());
    if (settings.json) printJson({{"input", options.input}, {"files", 0}, {"lost", readable.lost}});
    return 1;
  }
  const FrameNames names(options, run, frames.size());
  names.makeFolder();

  Work work("making surfaces", frames.size(), "frames");
  Json surfaces = Json::array();
  std::vector<std::string> notes;
  size_t files = 0;
  uint64_t vertices = 0, faces = 0;
  bool whole = true;
  for (const size_t f : frames) {
    if (stopAsked()) {
      WorkWatch::erase();
      logWarn("stopped after {} of {} frames", files, frames.size());
      return interruptedCode();
    }
    meshio::MeshFile file;
    FrameSurface surface = surfaceOfFrame(run, f, choice);
    file.surface = std::move(surface.soup);
    if (file.surface.faceCount() == 0) {
      WorkWatch::erase();
      logWarn("frame {} has no liquid: nothing is written of it", f);
      continue;
    }
    const geometry::MeshReport report = geometry::meshReport(file.surface);
    whole = whole && report.watertight && report.manifold();
    const std::string path = names.of(f).string();
    {
      const ProfileScope scope("write");
      notes = meshio::writeMesh(path, file, {.ascii = options.ascii});
    }
    surfaces.push_back({{"frame", f},
                        {"file", path},
                        {"particles", surface.particles},
                        {"vertices", report.vertices},
                        {"faces", report.faces},
                        {"parts", report.components},
                        {"volume", report.volume}});
    ++files;
    vertices += report.vertices;
    faces += report.faces;
    work.step();
  }
  const std::string first = files ? surfaces.front()["file"].string() : names.of(frames[0]).string();
  reportNotes(settings, first, notes);
  if (settings.json)
    printJson({{"input", options.input},
               {"files", files},
               {"vertices", vertices},
               {"faces", faces},
               {"watertight", whole},
               {"surfaces", surfaces},
               {"lost", readable.lost},
               {"seconds", stagesJson(profiler)}});
  say(settings, fmt::format("{} -> {}{}: {} surface{}, {} vertices, {} faces, {}", options.input, first,
                            files > 1 ? " ..." : "", files, files == 1 ? "" : "s", vertices, faces,
                            whole ? "watertight manifolds" : "not watertight"));
  return readable.lost.empty() ? 0 : 1;
}

}  // namespace sunder::cli
