// Steps of fluids. `dam/118k`: a dam break of 117,649 particles in a tank by a density map, milliseconds a
// step with two density and one divergence iterations, after thirty steps of a start; its stages, and bytes
// of state a particle. `dam/50k` to `dam/1M`: nanoseconds a particle and step, for how cost grows, and the
// same in processor time, which other programs disturb less.
// `dam/second`: a second of a dam break of 125,000 particles in steps of 4 ms, by the strict mean: seconds in
// all, milliseconds an iteration and a search for neighbours (specification 10, check 30). `neighbours/1M`:
// their lists alone, as the fluid asks for them. Peer: SPlisHSPlasH 2.16, single precision, AVX and density
// maps, figures of the same class of machine.
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/base/stopwatch.h"
#include "sunder/fluid/solver/fluid.h"
#include "sunder/spatial/points/point_grid.h"

#include "bench.h"
#include "fluid_dam.h"

#include <algorithm>
#include <ctime>
#include <optional>
#include <string>

namespace sunder::bench {
namespace {

using namespace fluid;

// Seconds of the fastest of some steps, and of their stages.
double timeSteps(Fluid& fluid, int steps, Profiler& profiler) {
  double best = 1e30;
  const Profiler::Activation active(profiler);
  for (int k = 0; k < steps; ++k) {
    const Stopwatch watch;
    fluid.step(2e-3);
    best = std::min(best, watch.seconds());
  }
  return best;
}

FluidSettings twoAndOne() {
  FluidSettings settings;
  settings.density.least = settings.density.most = 2;
  settings.divergence.least = settings.divergence.most = 1;
  return settings;
}

void addState(Report& report, const std::string& name, const Fluid& fluid, unsigned threads) {
  report.add({.name = name + "/state",
              .size = fluid.size(),
              .threads = threads,
              .metric = "memory",
              .value = double(fluid.bytes()) / double(fluid.size()),
              .unit = "bytes/particle",
              .bar = 200});
}

SUNDER_BENCH("fluid", fluidDam) {
  if (!options.wants("dam/118k")) return;
  for (const unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    Fluid fluid = dam(49, twoAndOne());
    for (int k = 0; k < 30; ++k) fluid.step(2e-3);
    Profiler profiler;
    const int steps = 20;
    const double seconds = timeSteps(fluid, steps, profiler);
    report.add({.name = "dam/118k",
                .size = fluid.size(),
                .threads = threads,
                .metric = "time",
                .value = 1e3 * seconds,
                .unit = "ms",
                .peer = "SPlisHSPlasH, stated",
                .peerValue = threads == 1 ? 230 : 120,
                .bar = threads == 1 ? 110 : 55});
    for (const Profiler::Stage& stage : profiler.stages())
      if (stage.calls > 0)
        report.add({.name = "dam/118k/" + stage.name,
                    .size = fluid.size(),
                    .threads = threads,
                    .metric = "time",
                    .value = 1e3 * stage.total / steps,
                    .unit = "ms"});
    addState(report, "dam/118k", fluid, threads);
  }
}

SUNDER_BENCH("fluid", fluidGrowth) {
  for (const auto& [name, side] : {std::pair{"dam/50k", 37u}, std::pair{"dam/250k", 63u},
                                   std::pair{"dam/500k", 79u}, std::pair{"dam/1M", 100u}}) {
    if (!options.wants(name)) continue;
    for (const unsigned threads : options.threadCounts()) {
      const ThreadLimit limit(threads);
      Fluid fluid = dam(side, twoAndOne());
      for (int k = 0; k < 5; ++k) fluid.step(2e-3);
      Profiler profiler;
      const int steps = 5;
      const std::clock_t start = std::clock();
      const double seconds = timeSteps(fluid, steps, profiler);
      const double used = double(std::clock() - start) / CLOCKS_PER_SEC / steps;
      for (const auto& [metric, value] : {std::pair{"", seconds}, std::pair{"/processor", used}})
        report.add({.name = std::string(name) + metric,
                    .size = fluid.size(),
                    .threads = threads,
                    .metric = "time",
                    .value = 1e9 * value / double(fluid.size()),
                    .unit = "ns/particle"});
      addState(report, name, fluid, threads);
    }
  }
}

SUNDER_BENCH("fluid", fluidSecond) {
  for (const auto& [name, warm] : {std::pair{"dam/second/half", WarmStart::Half},
                                   std::pair{"dam/second/increments", WarmStart::Increments}}) {
    if (!options.wants(name)) continue;
    FluidSettings settings;
    settings.warmStart = warm;
    Fluid fluid = dam(50, settings);
    Profiler profiler;
    const int steps = 250;
    uint64_t iterations = 0;
    const Stopwatch watch;
    {
      const Profiler::Activation active(profiler);
      for (int k = 0; k < steps; ++k) {
        const FluidStep step = fluid.step(4e-3);
        iterations += step.densityIterations + step.divergenceIterations;
      }
    }
    const double all = watch.seconds();
    double solving = 0, search = 0;
    for (const Profiler::Stage& stage : profiler.stages()) {
      if (stage.name == "constant density" || stage.name == "divergence") solving += stage.total;
      if (stage.name == "neighbours") search += stage.total / double(stage.calls);
    }
    const auto add = [&](const char* what, double value, const char* unit, const char* metric,
                         std::optional<double> bar) {
      report.add({.name = std::string(name) + what,
                  .size = fluid.size(),
                  .threads = options.threadCounts().back(),
                  .metric = metric,
                  .value = value,
                  .unit = unit,
                  .bar = bar});
    };
    add("", all, "s", "time", 140);
    add("/iterations", double(iterations) / steps, "iterations", "count", std::nullopt);
    add("/iteration", 1e3 * solving / double(iterations), "ms", "time", 25);
    add("/search", 1e3 * search, "ms", "time", 30);
  }
}

SUNDER_BENCH("fluid", fluidNeighbours) {
  if (!options.wants("neighbours/1M")) return;
  for (const unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    Fluid fluid = dam(100, twoAndOne());
    fluid.step(2e-3);
    spatial::PointGrid grid;
    spatial::NeighbourRows rows;
    const double seconds = bestSeconds(options, [&] {
      grid.build(fluid.positions(), fluid.support());
      grid.neighbours(rows);
    });
    report.add({.name = "neighbours/1M",
                .size = fluid.size(),
                .threads = threads,
                .metric = "time",
                .value = 1e9 * seconds / double(fluid.size()),
                .unit = "ns/particle",
                .bar = threads == 2 ? std::optional(120.0) : std::nullopt});
  }
}

}  // namespace
}  // namespace sunder::bench
