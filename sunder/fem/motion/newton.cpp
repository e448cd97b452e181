#include "sunder/fem/motion/newton.h"

#include "sunder/base/error.h"
#include "sunder/base/stop.h"
#include "sunder/fem/motion/vector_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace sunder::fem {

namespace {

constexpr double kArmijo = 1e-4;
constexpr double kContraction = 0.9;  // of the residual, for steps that are taken without a look at J
constexpr uint32_t kMostHalvings = 30;
constexpr double kShortestStep = 1e-10;
constexpr double kRounding = 1e-12;  // of J's parts: a change below it tells nothing
// What a search that gets stuck still passes as converged, relative: rounding lets it go no further.
constexpr double kAcceptedResidual = 1e-8;
// m/s^2: forces that give less are not what a residual is measured against.
constexpr double kLeastAcceleration = 1e-3;
// Of the linear residual: at the start of a step, later at most, and how far below what is asked for.
constexpr double kFirstForcing = 1e-3, kMostForcing = 1e-2, kBelowTarget = 0.3;

}  // namespace

double longestStep(std::span<StepTerm* const> terms, std::span<const Vec3> x, std::span<const Vec3> dx) {
  double most = 1;
  for (const StepTerm* term : terms) most = std::min(most, term->longestStep(x, dx));
  return most;
}

double Newton::freeNorm(const Task& task, std::span<const Vec3> g) const {
  const std::span<const Vec3> free = task.free;
  if (free.empty()) return std::sqrt(innerProduct(g, g));
  return std::sqrt(blockSum(g.size(), [&](size_t i) {
    return i < free.size() ? g[i].cwiseProduct(free[i]).squaredNorm() : g[i].squaredNorm();
  }));
}

// What rounding of positions does to the gradient.
double Newton::roundingOf(const Task& task, std::span<const Vec3> x) const {
  const BlockMatrix& matrix = task.system.matrix();
  const SparsePattern& pattern = matrix.pattern();
  constexpr double kUnit = std::numeric_limits<double>::epsilon();
  return 2 * kUnit * std::sqrt(blockSum(pattern.rows(), [&](size_t i) {
           const double stiffness = matrix.block(pattern.diagonal(i)).trace() / 3;
           return stiffness * stiffness * x[i].squaredNorm();
         }));
}

// False where the system is not positive definite, or what it gives does not lead down.
bool Newton::findDirection(Task& task, Tangent kind, double tolerance, std::span<const Vec3> x,
                           StepReport& report) {
  task.potential.curvature(x, kind, task.system);
  ++report.factors;
  if (!task.system.prepare(task.settings.solver, task.free, task.potential.massScale(), task.masses))
    return false;
  const StepSystem::Outcome outcome =
      task.system.solve(right_, tolerance, task.settings.mostSolverIterations, direction_);
  report.solverIterations += outcome.iterations;
  if (task.rounding == 0) task.rounding = roundingOf(task, x);
  // What was found before a direction of negative curvature still leads down, unless there is nothing.
  if (outcome.indefinite && (kind == Tangent::Exact || outcome.iterations == 0)) return false;
  return innerProduct(right_, direction_) > 0;
}

bool Newton::search(const Task& task, double norm, std::vector<Vec3>& x, StepReport& report) {
  const double slope = -innerProduct(right_, direction_);
  double t = longestStep(task.potential.terms(), x, direction_);
  StepPotential::Value before;
  bool valued = false;
  for (uint32_t k = 0; k < kMostHalvings && t > kShortestStep; ++k, t *= 0.5) {
    parallelFor(
        x.size(), [&](size_t i) { trial_[i] = x[i] + t * direction_[i]; }, kSumGrain);
    task.potential.gradient(trial_, next_);
    nextNorm_ = freeNorm(task, next_);
    const double nextSlope = innerProduct(next_, direction_);
    const bool falls = nextSlope <= (2 * kArmijo - 1) * slope;
    if (falls && nextNorm_ <= kContraction * leastNorm_) return true;
    if (!std::isfinite(nextNorm_)) continue;
    if (!valued) {
      before = task.potential.value(x);
      ++report.evaluations;
      valued = true;
    }
    const StepPotential::Value now = task.potential.value(trial_);
    ++report.evaluations;
    if (now.sum <= before.sum + kArmijo * t * slope) return true;
    if (falls && nextNorm_ < norm && -t * slope <= kRounding * before.size) return true;
  }
  return false;
}

Newton::End Newton::minimise(Task& task, bool first, std::vector<Vec3>& x, StepReport& report) {
  for (std::vector<Vec3>* v : {&gradient_, &next_, &right_, &direction_, &trial_}) v->resize(x.size());
  const MotionSettings& settings = task.settings;
  task.potential.gradient(x, gradient_);
  double norm = freeNorm(task, gradient_);
  if (!std::isfinite(norm)) {
    uint32_t row = 0;
    while (row + 1 < x.size() && gradient_[row].allFinite()) ++row;
    throw Error(ErrorKind::Numerical, row < task.masses.size()
                                          ? fmt::format("the force at vertex {} is not finite", row)
                                          : fmt::format("the force at unknown {} of a term is not finite",
                                                        row - task.masses.size()))
        .hint("shorten the step, or look at forces and stiffness there");
  }
  if (first) {
    const std::span<const Vec3> forces = task.potential.elasticForces();
    const double masses =
        std::sqrt(blockSum(task.masses.size(), [&](size_t i) { return task.masses[i] * task.masses[i]; }));
    task.scale =
        std::max({task.scale, norm, std::sqrt(innerProduct(forces, forces)), kLeastAcceleration * masses});
    task.rounding = 0;
  }
  const double firstNorm = norm;
  leastNorm_ = norm;
  for (;;) {
    checkStop();
    const double target = settings.tolerance * task.scale;
    report.residual = task.scale > 0 ? norm / task.scale : 0;
    if (!(norm > std::max(target, task.rounding))) return End::Converged;
    if (report.iterations >= settings.mostIterations) return End::Spent;
    ++report.iterations;
    parallelFor(
        x.size(),
        [&](size_t i) {
          right_[i] = -gradient_[i];
          if (i < task.free.size()) right_[i] = right_[i].cwiseProduct(task.free[i]);
        },
        kSumGrain);
    const double forcing =
        std::max(kBelowTarget * target / norm,
                 norm == firstNorm ? kFirstForcing : std::min(kMostForcing, norm / firstNorm));
    bool found = false;
    if (settings.tangent == Tangent::Exact) {
      found = findDirection(task, Tangent::Exact, forcing, x, report);
      if (found && norm <= task.rounding) return End::Converged;
      found = found && search(task, norm, x, report);
      if (!found) ++report.projected;
    }
    if (!found) {
      const Tangent kind = settings.tangent == Tangent::Exact ? Tangent::Positive : settings.tangent;
      if (!findDirection(task, kind, forcing, x, report) || !search(task, norm, x, report)) {
        task.potential.gradient(x, gradient_);  // what trials have left is of elsewhere
        return report.residual <= kAcceptedResidual || norm <= task.rounding ? End::Converged : End::Stuck;
      }
    }
    x.swap(trial_);
    gradient_.swap(next_);
    norm = nextNorm_;
    leastNorm_ = std::min(leastNorm_, norm);
  }
}

}  // namespace sunder::fem
