// Pressure solvers against each other (specification 10, table 6.1). `dam/iterations`: 0.4 s of a dam break
// of 27,000 particles at steps of 4, 2, 1 and 0.5 ms. `dam/solvers`: the same of 117,649 at 4 ms.
//
// All stop where the mean of what is too dense is below 0.01 % ("strict"; "signed": the mean of all, which
// lets the surface hide compression), and the divergence-free one besides where the density changes by less
// than 0.1 % a step. Rows: mean iterations a step, of the density and of the divergence; the largest
// divergence of a particle, mean over steps and worst of all; processor time of all steps.
#include "sunder/fluid/solver/fluid.h"

#include "bench.h"
#include "fluid_dam.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <string>

#include <fmt/core.h>

namespace sunder::bench {
namespace {

using namespace fluid;

struct Variant {
  const char* name;
  PressureSolver solver;
  MeanError mean;
  WarmStart warm;
};
constexpr Variant kVariants[] = {
    {"dfsph/strict/half", PressureSolver::DivergenceFree, MeanError::Compressed, WarmStart::Half},
    {"dfsph/strict/increments", PressureSolver::DivergenceFree, MeanError::Compressed, WarmStart::Increments},
    {"dfsph/signed/half", PressureSolver::DivergenceFree, MeanError::Signed, WarmStart::Half},
    {"dfsph/signed/increments", PressureSolver::DivergenceFree, MeanError::Signed, WarmStart::Increments},
    {"iisph/strict", PressureSolver::Implicit, MeanError::Compressed, WarmStart::None},
    {"pbf/strict", PressureSolver::PositionBased, MeanError::Compressed, WarmStart::None},
    {"pcisph/strict", PressureSolver::PredictiveCorrective, MeanError::Compressed, WarmStart::None}};

void measure(Report& report, const std::string& name, const Variant& variant, uint32_t side, double dt) {
  constexpr double kTime = 0.4;
  FluidSettings settings;
  settings.solver = variant.solver;
  settings.mean = variant.mean;
  settings.warmStart = variant.warm;
  settings.density.most = settings.divergence.most = 2000;
  Fluid fluid = dam(side, settings);
  const int steps = int(std::lround(kTime / dt));
  double density = 0, divergence = 0, largest = 0, worst = 0;
  std::clock_t used = 0;
  for (int k = 0; k < steps; ++k) {
    const std::clock_t start = std::clock();
    const FluidStep step = fluid.step(dt);
    used += std::clock() - start;
    density += double(step.densityIterations) / steps;
    divergence += double(step.divergenceIterations) / steps;
    const double now = fluid.largestDivergence();
    largest += now / steps;
    worst = std::max(worst, now);
  }
  const auto add = [&](const char* what, double value, const char* unit, const char* metric) {
    report.add({.name = fmt::format("{}/{}", name, what),
                .size = fluid.size(),
                .metric = metric,
                .value = value,
                .unit = unit});
  };
  add("density", density, "iterations", "count");
  if (variant.solver == PressureSolver::DivergenceFree) add("divergence", divergence, "iterations", "count");
  add("largest", largest, "1/s", "count");
  add("worst", worst, "1/s", "count");
  add("processor", double(used) / CLOCKS_PER_SEC, "s", "time");
}

SUNDER_BENCH("fluid", fluidIterations) {
  for (const Variant& variant : kVariants)
    for (const double milliseconds : {4.0, 2.0, 1.0, 0.5}) {
      const std::string name = fmt::format("dam/iterations/{}/{}ms", variant.name, milliseconds);
      if (options.wants(name)) measure(report, name, variant, 30, 1e-3 * milliseconds);
    }
}

SUNDER_BENCH("fluid", fluidSolvers) {
  for (const Variant& variant : kVariants) {
    const std::string name = fmt::format("dam/solvers/{}/4ms", variant.name);
    if (options.wants(name)) measure(report, name, variant, 49, 4e-3);
  }
}

}  // namespace
}  // namespace sunder::bench
