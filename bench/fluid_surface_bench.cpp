// Surfaces of liquids. `surface/118k`: a shaken cube of 117,649 particles, milliseconds for the whole mesh
// with cells of one radius, its stages; `surface/118k/half`: cells of half a radius; `surface/118k/averaged`:
// balls instead of ellipsoids.
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/base/random.h"
#include "sunder/fluid/fill.h"
#include "sunder/fluid/surface/surface.h"

#include "bench.h"

#include <string>

namespace sunder::bench {
namespace {

using namespace fluid;

constexpr double kRadius = 0.02;

std::vector<Vec3> shakenCube(uint32_t side) {
  std::vector<Vec3> points = fillBox({Vec3::Zero(), Vec3::Constant(2 * kRadius * side)}, 2 * kRadius);
  RandomStream random(1);
  for (Vec3& p : points)
    for (int k = 0; k < 3; ++k) p[k] += random.uniform(-0.3, 0.3) * kRadius;
  return points;
}

void measure(Report& report, const Options& options, const std::string& name, const SurfaceSettings& settings,
             std::optional<double> bar) {
  if (!options.wants(name)) return;
  const std::vector<Vec3> points = shakenCube(49);
  for (const unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    Profiler profiler;
    const Profiler::Activation active(profiler);
    int runs = 0;
    const double seconds = bestSeconds(options, [&] {
      keep(liquidSurface(points, {}, settings).mesh.triangles.size());
      ++runs;
    });
    report.add({.name = name,
                .size = points.size(),
                .threads = threads,
                .metric = "time",
                .value = 1e3 * seconds,
                .unit = "ms",
                .bar = threads == 1 ? std::nullopt : bar});
    for (const Profiler::Stage& stage : profiler.stages())
      if (stage.calls > 0)
        report.add({.name = name + "/" + stage.name,
                    .size = points.size(),
                    .threads = threads,
                    .metric = "time",
                    .value = 1e3 * stage.total / runs,
                    .unit = "ms"});
  }
}

SUNDER_BENCH("fluid", fluidSurface) {
  measure(report, options, "surface/118k", {.radius = kRadius}, 1000);
  measure(report, options, "surface/118k/half", {.radius = kRadius, .cell = kRadius / 2}, {});
  measure(report, options, "surface/118k/averaged", {.radius = kRadius, .method = SurfaceMethod::Averaged},
          {});
}

}  // namespace
}  // namespace sunder::bench
