// The solvers that keep the density, against each other (specification 10, sections F and K 13, 14).
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/fluid/fill.h"
#include "sunder/fluid/fluid.h"

#include "wall_map.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

constexpr double kDiameter = 0.04, kSupport = 0.08;

constexpr PressureSolver kAll[] = {PressureSolver::DivergenceFree, PressureSolver::Implicit,
                                   PressureSolver::PositionBased, PressureSolver::PredictiveCorrective};

FluidSettings with(PressureSolver solver) {
  FluidSettings settings;
  settings.radius = 0.5 * kDiameter;
  settings.solver = solver;
  settings.density.most = settings.divergence.most = 1000;
  return settings;
}

Fluid dam(uint32_t side, const FluidSettings& settings) {
  Fluid fluid(settings);
  fluid.addPhase({});
  const double edge = side * kDiameter, gap = 0.5 * kDiameter;
  fluid.add(fillBox({Vec3::Constant(gap), Vec3::Constant(gap + edge + 1e-9)}, kDiameter), Vec3::Zero());
  BoundaryBody tank;
  tank.map = tankMap({Vec3::Zero(), Vec3(3 * edge, 2 * edge, edge + 2 * gap)}, kSupport);
  fluid.addBody(tank);
  return fluid;
}

double energyOf(const Fluid& fluid) {
  double sum = 0;
  for (size_t i = 0; i < fluid.size(); ++i)
    sum += 0.5 * fluid.velocity(i).squaredNorm() + 9.81 * fluid.positions()[i].y();
  return sum / double(fluid.size());
}

struct DamRun {
  double iterations = 0;         // of both solvers, a step
  double divergence = 0;         // mean over steps of the largest, 1/s
  double worst = 0, before = 0, after = 0;
};
DamRun runDam(uint32_t side, const FluidSettings& settings, double dt, double time) {
  Fluid fluid = dam(side, settings);
  DamRun run;
  run.before = energyOf(fluid);
  const int steps = int(std::lround(time / dt));
  for (int k = 0; k < steps; ++k) {
    const FluidStep step = fluid.step(dt);
    EXPECT_LE(step.densityError, 1e-4);
    run.iterations += double(step.densityIterations + step.divergenceIterations) / steps;
    const double now = fluid.largestDivergence();
    run.divergence += now / steps;
    run.worst = std::max(run.worst, now);
  }
  run.after = energyOf(fluid);
  for (const Vec3& p : fluid.positions()) EXPECT_GT(p.minCoeff(), -0.5 * kDiameter);
  return run;
}

TEST(PressureSolvers, KeepMomentum) {
  for (const PressureSolver solver : kAll) {
    FluidSettings settings = with(solver);
    settings.gravity = Vec3::Zero();
    settings.density.most = 20;
    Fluid fluid(settings);
    fluid.addPhase({1000, 0, 0, 0});
    fluid.addPhase({300, 0, 0, 0});
    RandomStream random(11);
    for (uint32_t i = 0; i < 6000; ++i) {
      const Vec3 p = random.pointIn({Vec3::Zero(), Vec3::Constant(0.7)});
      fluid.add({&p, 1}, Vec3(std::sin(double(i)), std::cos(3.0 * i), 0.3), i % 3 == 0);
    }
    const auto momentum = [&] {
      std::pair<Vec3, double> sum{Vec3::Zero(), 0.0};
      for (size_t i = 0; i < fluid.size(); ++i) {
        sum.first += fluid.mass(i) * fluid.velocity(i);
        sum.second += fluid.mass(i) * fluid.velocity(i).norm();
      }
      return sum;
    };
    const Vec3 before = momentum().first;
    fluid.step(1e-4);
    EXPECT_LT((momentum().first - before).norm() / momentum().second, 1e-6) << int(solver);
  }
}

TEST(PressureSolvers, Scan) {
  for (const double dt : {4e-3, 2e-3, 1e-3})
    for (const PressureSolver solver : kAll) {
      const DamRun run = runDam(12, with(solver), dt, 0.3);
      printf("dt %g solver %d: it %.1f div %.2f worst %.1f energy %.3f -> %.3f\n", dt, int(solver), run.iterations,
             run.divergence, run.worst, run.before, run.after);
      fflush(stdout);
    }
}

}  // namespace
}  // namespace sunder::fluid
