// The solvers that keep the density, against each other (specification 10, sections F and K 13, 14).
#include "sunder/base/bytes.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/fluid/fill.h"
#include "sunder/fluid/solver/fluid.h"

#include "same_bits.h"
#include "wall_map.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

constexpr double kSolverDiameter = 0.04, kSolverSupport = 0.08;

constexpr PressureSolver kAll[] = {PressureSolver::DivergenceFree, PressureSolver::Implicit,
                                   PressureSolver::PositionBased, PressureSolver::PredictiveCorrective};

FluidSettings with(PressureSolver solver) {
  FluidSettings settings;
  settings.radius = 0.5 * kSolverDiameter;
  settings.solver = solver;
  settings.density.most = settings.divergence.most = 1000;
  return settings;
}

Fluid solverDam(uint32_t side, const FluidSettings& settings) {
  Fluid fluid(settings);
  fluid.addPhase({});
  const double edge = side * kSolverDiameter, gap = 0.5 * kSolverDiameter;
  fluid.add(fillBox({Vec3::Constant(gap), Vec3::Constant(gap + edge + 1e-9)}, kSolverDiameter), Vec3::Zero());
  BoundaryBody tank;
  tank.map = tankMap({Vec3::Zero(), Vec3(3 * edge, 2 * edge, edge + 2 * gap)}, kSolverSupport);
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
  double iterations = 0;             // a step, of the divergence too
  double divergence = 0, worst = 0;  // largest of a particle, 1/s: mean over the steps, and of all
  double before = 0, after = 0;      // energy
};
DamRun runDam(uint32_t side, const FluidSettings& settings, double dt, double time) {
  Fluid fluid = solverDam(side, settings);
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
  for (const Vec3& p : fluid.positions()) EXPECT_GT(p.minCoeff(), -0.5 * kSolverDiameter);
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

// Checks 13 and 14, as far as a dam of 1,728 particles shows them: see the full one, and docs/fluids.md for
// where published counts are not met.
TEST(PressureSolvers, ADamBreaksWithAllOfThem) {
  std::map<PressureSolver, DamRun> runs;
  for (const PressureSolver solver : kAll) {
    runs[solver] = runDam(12, with(solver), 4e-3, 0.3);
    EXPECT_LT(runs[solver].after, runs[solver].before);
  }
  const DamRun &free = runs[PressureSolver::DivergenceFree], &implicit = runs[PressureSolver::Implicit],
               &positions = runs[PressureSolver::PositionBased],
               &predictive = runs[PressureSolver::PredictiveCorrective];
  EXPECT_LT(1.5 * free.iterations, implicit.iterations);
  EXPECT_LT(1.5 * free.iterations, positions.iterations);
  EXPECT_LT(1.5 * implicit.iterations, predictive.iterations);
  EXPECT_LT(1.5 * positions.iterations, predictive.iterations);
  EXPECT_LT(free.worst, 5);
  EXPECT_GT(implicit.divergence, 4 * free.divergence);
}

// Separate walls add up in corners, so divergences are above those of the one map in docs/fluids.md.
TEST(PressureSolversFull, DivergenceFallsWithTheStep) {
  const DamRun coarse = runDam(24, with(PressureSolver::DivergenceFree), 4e-3, 0.3),
               middle = runDam(24, with(PressureSolver::DivergenceFree), 2e-3, 0.3),
               fine = runDam(24, with(PressureSolver::DivergenceFree), 1e-3, 0.3),
               implicit = runDam(24, with(PressureSolver::Implicit), 1e-3, 0.3);
  RecordProperty("coarse", std::to_string(coarse.divergence));
  RecordProperty("middle", std::to_string(middle.divergence));
  RecordProperty("fine", std::to_string(fine.divergence));
  RecordProperty("implicit", std::to_string(implicit.divergence));
  EXPECT_LT(coarse.worst, 10);
  EXPECT_LT(middle.divergence, coarse.divergence);
  EXPECT_LT(fine.divergence, middle.divergence);
  EXPECT_GT(implicit.divergence, 5 * fine.divergence);
}

// The published counts at small steps, where solvers do not depend on the size of the dam.
TEST(PressureSolvers, SmallStepsNeedFewIterations) {
  for (const PressureSolver solver : kAll) {
    const double most = solver == PressureSolver::PredictiveCorrective ? 7 : 3.5;
    EXPECT_LT(runDam(8, with(solver), 5e-4, 0.1).iterations, most) << int(solver);
  }
}

TEST(PressureSolvers, SameBitsForAnyNumberOfThreadsAndAfterResuming) {
  for (const PressureSolver solver : kAll) expectSameBits([&] { return solverDam(9, with(solver)); }, 12, 5);
}

}  // namespace
}  // namespace sunder::fluid
