// Steps of fluids. `dam/118k`: a dam break of 117,649 particles in a tank by a density map, milliseconds a
// step with two density and one divergence iterations, after thirty steps of a start; its stages, and bytes
// of state a particle. `dam/50k` to `dam/1M`: nanoseconds a particle and step, for how cost grows.
// `dam/iterations`: mean iterations of a dam break of 27,000 particles at steps of 4, 2, 1 and 0.5 ms, with
// the mean of what is too dense and with the signed mean (specification 10, table 6.1). Peer:
// SPlisHSPlasH 2.16, single precision, AVX and density maps, figures of the same class of machine.
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/fluid/density_map.h"
#include "sunder/fluid/fill.h"
#include "sunder/fluid/fluid.h"
#include "sunder/sdf/analytic_field.h"

#include "bench.h"

#include <algorithm>
#include <chrono>
#include <string>

namespace sunder::bench {
namespace {

using namespace fluid;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Fluid dam(uint32_t side, FluidSettings settings) {
  settings.radius = 0.02;
  Fluid fluid(settings);
  fluid.addPhase({});
  const double spacing = 0.04, edge = side * spacing;
  const Box3 tank{Vec3::Zero(), Vec3(3 * edge, 2 * edge, edge)};
  Box3 domain = tank;
  domain.lower.array() -= 0.3;
  domain.upper.array() += 0.3;
  BoundaryBody body;
  body.map = std::make_shared<const DensityMap>(
      *sdf::makeBoxField(tank), domain,
      DensityMapSettings{.support = 0.08, .cell = 0, .offset = 0.5, .outside = true});
  fluid.addBody(body);
  fluid.add(fillBox({Vec3::Zero(), Vec3::Constant(edge)}, spacing), Vec3::Zero());
  fluid.relax();
  return fluid;
}

// Seconds of the fastest of some steps, and of their stages.
double timeSteps(Fluid& fluid, int steps, Profiler& profiler) {
  double best = 1e30;
  const Profiler::Activation active(profiler);
  for (int k = 0; k < steps; ++k) {
    const double start = now();
    fluid.step(2e-3);
    best = std::min(best, now() - start);
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
  for (const auto& [name, side] :
       {std::pair{"dam/50k", 37u}, std::pair{"dam/200k", 58u}, std::pair{"dam/1M", 100u}}) {
    if (!options.wants(name)) continue;
    for (const unsigned threads : options.threadCounts()) {
      const ThreadLimit limit(threads);
      Fluid fluid = dam(side, twoAndOne());
      for (int k = 0; k < 5; ++k) fluid.step(2e-3);
      Profiler profiler;
      const double seconds = timeSteps(fluid, 5, profiler);
      report.add({.name = name,
                  .size = fluid.size(),
                  .threads = threads,
                  .metric = "time",
                  .value = 1e9 * seconds / double(fluid.size()),
                  .unit = "ns/particle"});
      addState(report, name, fluid, threads);
    }
  }
}

SUNDER_BENCH("fluid", fluidIterations) {
  if (!options.wants("dam/iterations")) return;
  for (const MeanError mean : {MeanError::Compressed, MeanError::Signed})
    for (const WarmStart warm : {WarmStart::Half, WarmStart::Increments})
      for (const double milliseconds : {4.0, 2.0, 1.0, 0.5}) {
        FluidSettings settings;
        settings.mean = mean;
        settings.warmStart = warm;
        Fluid fluid = dam(30, settings);
        const int steps = int(400 / milliseconds);
        double density = 0, divergence = 0;
        for (int k = 0; k < steps; ++k) {
          const FluidStep step = fluid.step(1e-3 * milliseconds);
          density += double(step.densityIterations) / steps;
          divergence += double(step.divergenceIterations) / steps;
        }
        const std::string name = std::string("dam/iterations/") +
                                 (mean == MeanError::Compressed ? "strict/" : "signed/") +
                                 (warm == WarmStart::Half ? "half/" : "increments/") +
                                 std::to_string(milliseconds).substr(0, 3) + "ms";
        report.add({.name = name + "/density",
                    .size = fluid.size(),
                    .metric = "count",
                    .value = density,
                    .unit = "iterations"});
        report.add({.name = name + "/divergence",
                    .size = fluid.size(),
                    .metric = "count",
                    .value = divergence,
                    .unit = "iterations"});
      }
}

}  // namespace
}  // namespace sunder::bench
