// sunder voxelize MESH [-o PARTICLES]
#include "sunder/sdf/voxel/voxelize.h"

#include "sunder/base/error.h"
#include "sunder/base/log.h"
#include "sunder/base/profiler.h"
#include "sunder/base/work.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/sdf/voxel/distance_transform.h"
#include "sunder/sdf/voxel/voxel_merge.h"
#include "sunder/sdf/voxel/voxel_refine.h"
#include "sunder/spatial/query/mesh_queries.h"

#include "answer_rows.h"
#include "command.h"

#include <filesystem>
#include <limits>
#include <memory>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

struct VoxelizeOptions {
  std::string input, output;
  unsigned resolution = 64, padding = 2;
  bool vote = false, exact = false, uniform = false;
  double budget = 5e8;  // voxels
};

// Bytes at most, measured: the distance and the nearest voxel's place; a particle and its row.
constexpr double kBytesPerVoxel = 14, kBytesPerParticle = 72;

void requireVoxels(const Box3& box, double bytesEach, const VoxelizeOptions& options) {
  const auto voxels = [&](unsigned n) {
    return double(sdf::frameAround(box, n, options.padding).voxelCount());
  };
  const auto most = static_cast<double>(affordable(options.budget, bytesEach));
  unsigned n = options.resolution;
  if (voxels(n) <= most) return;
  while (n > 1 && voxels(n) > most) n = n * 63 / 64;
  throw Error(ErrorKind::Limit,
              fmt::format("there would be {:.3g} voxels, {:.3g} are allowed by the budget and the "
                          "memory there is",
                          voxels(options.resolution), most))
      .inFile(options.input)
      .hint(fmt::format("-n {} would do", n));
}

int runVoxelize(const VoxelizeOptions& options, const Settings& settings) {
  if (!options.output.empty() && std::filesystem::path(options.output).extension() != ".csv")
    throw Error(ErrorKind::Unsupported, "particles are written as CSV only")
        .inFile(options.output)
        .hint("give a name that ends in .csv");
  Profiler profiler;
  const Profiler::Activation active(profiler);
  geometry::TriMesh mesh;
  {
    const ProfileScope scope("read");
    mesh = geometry::toTriMesh(readSurface(options.input, settings));
  }
  const Box3 box = geometry::bounds(mesh.positions);
  if (box.diagonal() == 0)
    throw Error(ErrorKind::Geometry, "all vertices are in one place").inFile(options.input);
  const sdf::VoxelFrame frame = sdf::frameAround(box, options.resolution, options.padding);
  requireVoxels(box, kBytesPerVoxel, options);
  sdf::VoxelGrid grid;
  size_t differing = 0;
  {
    const ProfileScope scope("voxelize");
    const Work work("voxelizing");
    if (options.vote) {
      sdf::VotedVoxels voted = sdf::voxelizeByVote(mesh, frame);
      grid = std::move(voted.grid);
      differing = voted.differing;
    } else {
      grid = sdf::voxelize(mesh, frame);
    }
  }
  const size_t inside = grid.count();
  if (options.uniform)
    requireVoxels(box, kBytesPerVoxel + kBytesPerParticle * double(inside) / double(frame.voxelCount()),
                  options);
  if (inside == 0)
    throw Error(ErrorKind::Geometry, "no voxel lies inside")
        .inFile(options.input)
        .hint("the mesh may be open, or thinner than a voxel: try a larger --resolution");
  if (differing > 0)
    logWarn("{}: the three axes differ at {} voxels: the mesh is open or crosses itself", options.input,
            differing);
  sdf::DistanceVolume volume;
  {
    const ProfileScope scope("distance");
    const Work work("computing distances");
    volume = sdf::distanceTransform(grid);
    if (options.exact) sdf::refineDistances(volume, spatial::MeshQuery(mesh));
  }
  sdf::MergedVoxels merged;
  {
    const ProfileScope scope("merge");
    const Work work("merging voxels");
    sdf::MergeSettings merge;
    if (options.uniform) merge.deeperThan = -std::numeric_limits<double>::infinity();
    merged = sdf::mergeVoxels(grid, volume, merge);
  }
  if (!options.output.empty()) {
    AnswerRows rows(AnswerRows::Kind::Csv,
                    "x,y,z,radius,distance,gradient_x,gradient_y,gradient_z,level,boundary", options.output,
                    0);
    for (const sdf::VoxelParticle& p : merged.particles)
      rows.add({p.centre.x(), p.centre.y(), p.centre.z(), p.radius, p.phi, p.gradient.x(), p.gradient.y(),
                p.gradient.z(), uint64_t(p.level), p.boundary});
    rows.finish();
  }
  const double volumeInside = double(inside) * frame.edge * frame.edge * frame.edge;
  if (settings.json) {
    Json json = {{"input", options.input},
                 {"triangles", mesh.triangles.size()},
                 {"edge", frame.edge},
                 {"voxels", {frame.dims[0], frame.dims[1], frame.dims[2]}},
                 {"inside", inside},
                 {"volume", volumeInside},
                 {"differing", differing},
                 {"particles", merged.particles.size()},
                 {"particles_by_level", merged.perLevel},
                 {"seconds", stagesJson(profiler)}};
    if (!options.output.empty()) json["output"] = options.output;
    printJson(json);
  }
  std::string levels;
  for (size_t l = 0; l < merged.perLevel.size(); ++l)
    levels += fmt::format("{}{}", l == 0 ? "" : " + ", merged.perLevel[l]);
  say(settings,
      fmt::format("{}: {} x {} x {} voxels of {:.4g} m, {} inside ({:.6g} m^3), {} particles ({} by level){}",
                  options.input, frame.dims[0], frame.dims[1], frame.dims[2], frame.edge, inside,
                  volumeInside, merged.particles.size(), levels,
                  options.output.empty() ? "" : "; wrote " + options.output));
  return 0;
}

}  // namespace

Verb addVoxelize(App& root) {
  auto options = std::make_shared<VoxelizeOptions>();
  App* app = root.addVerb("voxelize", "Fill a closed mesh with voxels and particles");
  app->addOption("INPUT", options->input, "A mesh file")->required();
  app->addOption("-o,--output", options->output, "Write the particles as CSV")->typeName("FILE.csv");
  app->addOption("-n,--resolution", options->resolution, "Voxels along the longest side [64]")
      ->check(inRange(1u, 4096u))
      ->typeName("N");
  app->addOption("--budget", options->budget,
                 "Most voxels; what needs more is refused, with a resolution that would do [5e8]")
      ->check(positiveCheck())
      ->typeName("N");
  app->addOption("--padding", options->padding, "Empty layers around the solid [2]")
      ->check(inRange(1u, 64u))
      ->typeName("N");
  app->addFlag("--vote", options->vote,
               "Sweep along all three axes and take the majority: for meshes with holes");
  app->addFlag("--exact", options->exact, "Distances to the mesh itself near its surface");
  app->addFlag("--uniform", options->uniform, "Particles of one size: do not merge voxels inside");
  app->footer(
      "A voxel is inside when its centre is. Particles are balls in the middle of voxels; deep inside, eight "
      "make\n"
      "one of twice the radius.\n"
      "Examples:\n"
      "  sunder voxelize cup.obj -n 96\n"
      "  sunder voxelize cup.obj -n 64 --uniform -o particles.csv\n"
      "  sunder voxelize scan.ply --vote --json");
  return {app, [options](const Settings& settings) { return runVoxelize(*options, settings); }};
}

}  // namespace sunder::cli
