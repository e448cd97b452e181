// The two solvers: pressures that keep the density, pressures that keep the velocity free of divergence.
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/base/work.h"
#include "sunder/fluid/solver/fluid.h"
#include "sunder/fluid/solver/pressure_iteration.h"
#include "sunder/fluid/solver/sph_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sunder::fluid {

namespace {
// Of (support / dt)^2, pressure over density: depth and impacts that steps can follow need a tenth of it.
// Where there is no room for a particle, nothing else would end it. Walls of particles have holes that only
// more than that keeps shut.
constexpr double kMostPressure = 0.5;
constexpr float kOverCompressed = 0.02f;  // beyond rest: up to here a step makes good
constexpr double kEarth = 9.81;           // m/s^2
constexpr double kAtBodies = 0.1;         // errors next to a body that moves may be ten times the mean
}  // namespace

void Fluid::applyPressure(double dt) {
  sumPressure(pairs(), stiffness_, gradient_);
  parallelFor(size(), [&](size_t i) {
    const Vec3f slope = gradient_[i].head<3>() + stiffness_[i] * boundary_[i].head<3>();
    motion_[i].head<3>() -= float(dt) * motion_[i].w() * slope;
    applied_[i] += stiffness_[i];
  });
  addImpulses(dt, stiffness_, true);
}

// `scale` takes the memory of the last step to stiffness. Only what presses now starts with it: pressure of a
// particle that has come free would throw it.
void Fluid::warmStart(std::vector<float>& kappa, double scale, double dt) {
  parallelFor(size(), [&](size_t i) { applied_[i] = 0; });
  if (settings_.warmStart == WarmStart::None) return;
  const double part = settings_.warmStart == WarmStart::Half ? 0.5 * scale : scale;
  parallelFor(size(), [&](size_t i) { stiffness_[i] = rate_[i] > 0 ? float(part) * kappa[i] : 0; });
  applyPressure(dt);
}

// Predicted density beyond rest. What is much denser than rest already becomes less so over the time that a
// fall over a support takes. To be rid of it in one step particles would become the faster the shorter the
// step is, and the step is the shorter the faster they are.
void Fluid::densityErrors(double dt) {
  sumRate(pairs(), rate_);
  const auto stays = held_ ? 0.0f : float(std::max(1 - dt / std::sqrt(support_ / kEarth), 0.0));
  parallelFor(size(), [&](size_t i) {
    const float now = density_[i].w() + boundary_[i].w() - 1;
    const float left = std::clamp(2 * (now - kOverCompressed), 0.0f, std::max(stays * now, 0.0f));
    rate_[i] = (density_[i].w() - 1) + float(dt) * rate_[i] - left;
  });
  addBoundary(dt);
}

template <class Errors>
Solved Fluid::solve(const SolverSettings& solver, std::vector<float>& kappa, double scale, double errorScale,
                    bool onlyAbove, double dt, const Errors& errors) {
  if (settings_.warmStart != WarmStart::None) errors();
  warmStart(kappa, 1 / scale, dt);
  const bool exact = std::all_of(bodies_.begin(), bodies_.end(),
                                 [](const BoundaryBody& body) { return !body.map || body.map->exact(); });
  const float most =
      exact ? float(kMostPressure * support_ * support_ / (dt * dt)) : std::numeric_limits<float>::infinity();
  const bool total = settings_.warmStart == WarmStart::Half;
  if (!total) std::fill(kappa.begin(), kappa.end(), 0.0f);
  const Solved solved = iterate(solver, [&] {
    errors();
    parallelFor(size(), [&](size_t i) {
      stiffness_[i] =
          std::clamp(rate_[i] * factor_[i] / float(scale), 0.0f, std::max(most - applied_[i], 0.0f));
    });
    applyPressure(dt);
    if (!total) parallelFor(size(), [&](size_t i) { kappa[i] += stiffness_[i] * float(scale); });
    return errorScale * std::max(meanError(rate_, onlyAbove), kAtBodies * errorAtBodies());
  });
  if (total) parallelFor(size(), [&](size_t i) { kappa[i] = applied_[i] * float(scale); });
  addImpulses(dt, applied_, false);
  return solved;
}

void Fluid::solveDensity(double dt, FluidStep& report) {
  const ProfileScope scope("constant density");
  solve(settings_.density, kappa_, dt * dt, 1, strict(), dt, [&] { densityErrors(dt); }).tell(report);
}

// Rates of the density, from zero up; predicted_ has what the motion of bodies takes off.
void Fluid::divergenceErrors() {
  if (anyMovable()) boundaryRates();
  sumRate(pairs(), rate_);
  parallelFor(size(), [&](size_t i) {
    const bool deficient = double(density_[i].w() + boundary_[i].w()) < settings_.deficient;
    const float rate = rate_[i] + boundary_[i].head<3>().dot(motion_[i].head<3>()) - predicted_[i];
    rate_[i] = deficient ? 0 : std::max(rate, 0.0f);
  });
}

void Fluid::solveDivergence(double dt, FluidStep& report) {
  const ProfileScope scope("divergence");
  boundaryRates();
  const Solved solved =
      solve(settings_.divergence, kappaRate_, dt, dt, true, dt, [&] { divergenceErrors(); });
  report.divergenceIterations = solved.iterations;
  report.divergenceError = solved.error;
  report.divergenceMissed = solved.missed;
}

double Fluid::largestDivergence() {
  if (!prepared_) prepare();
  boundaryRates();
  divergenceErrors();
  return size() > 0 ? double(*std::max_element(rate_.begin(), rate_.end())) : 0;
}

double Fluid::relax(double tolerance, uint32_t rounds) {
  constexpr double kFarthest = 0.1;  // diameters in a round
  // Iterations of a round, which starts from the pressures of the one before. With a hundred from nothing,
  // nine times as many are needed in all. Where there is no room, pressures would grow forever.
  constexpr uint32_t kMost = 8;
  const double dt = 1e-3;  // cancels
  std::vector<Vec4f> motion = motion_;
  std::vector<uint32_t> ids = ids_;
  const SolverSettings given = settings_.density;
  settings_.density.most = std::min(given.most, kMost);
  held_ = true;
  std::fill(kappa_.begin(), kappa_.end(), 0.0f);
  double worst = 0;
  Work work("settling", 0, "rounds");
  for (uint32_t round = 0;; ++round) {
    work.set(round);
    prepare();
    worst = 0;
    for (size_t i = 0; i < size(); ++i) worst = std::max(worst, density(i) - 1);
    if (worst <= tolerance || round >= rounds) break;
    parallelFor(size(), [&](size_t i) { motion_[i].head<3>().setZero(); });
    FluidStep ignored;
    impulses_.assign(bodies_.size(), {});
    solveDensity(dt, ignored);
    parallelFor(size(), [&](size_t i) {
      Vec3 way = dt * velocity(i);
      const double length = way.norm(), most = kFarthest * diameter_;
      if (length > most) way *= most / length;
      positions_[i] += way;
    });
  }
  settings_.density = given;
  held_ = false;
  // Particles may have changed places.
  std::vector<uint32_t> place(nextId_, 0);
  for (size_t i = 0; i < size(); ++i) place[ids[i]] = uint32_t(i);
  parallelFor(size(), [&](size_t i) {
    motion_[i] = motion[place[ids_[i]]];
    kappa_[i] = 0;
  });
  prepare();  // with bodies that give way again
  impulses_.assign(bodies_.size(), {});
  return worst;
}

}  // namespace sunder::fluid
