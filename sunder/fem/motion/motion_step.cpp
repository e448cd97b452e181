// One step: from the loads to the minimum of its potential, and what is made of that.
#include "sunder/base/error.h"
#include "sunder/fem/motion/motion.h"
#include "sunder/fem/motion/motion_state.h"
#include "sunder/fem/motion/vector_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace sunder::fem {

namespace {

void requireLoads(const Loads& loads, size_t n) {
  const auto finite = [](const Vec3& value, const char* what, size_t vertex) {
    if (!value.allFinite())
      throw Error(ErrorKind::Usage, fmt::format("the {} at vertex {} is not finite", what, vertex));
  };
  const auto there = [&](const char* what, uint32_t vertex) {
    if (vertex >= n)
      throw Error(ErrorKind::Usage, fmt::format("a {} at vertex {}, but there are {}", what, vertex, n));
  };
  if (!loads.gravity.allFinite()) throw Error(ErrorKind::Usage, "the gravity of a step is not finite");
  if (!loads.accelerations.empty() && loads.accelerations.size() != n)
    throw Error(ErrorKind::Usage,
                fmt::format("{} forces a mass for {} vertices", loads.accelerations.size(), n));
  for (const auto& [damping, unit] : {std::pair{loads.massDamping, "1/s"}, {loads.stiffnessDamping, "s"}}) {
    if (!damping.empty() && damping.size() != n)
      throw Error(ErrorKind::Usage, fmt::format("{} dampings for {} vertices", damping.size(), n));
    for (size_t i = 0; i < damping.size(); ++i)
      if (!(damping[i] >= 0) || !std::isfinite(damping[i]))
        throw Error(ErrorKind::Usage, fmt::format("a damping of {} {} at vertex {}", damping[i], unit, i))
            .hint("it may not be negative");
  }
  for (size_t i = 0; i < loads.accelerations.size(); ++i) finite(loads.accelerations[i], "force a mass", i);
  for (const NodalForce& force : loads.forces) {
    there("force", force.vertex);
    finite(force.force, "force", force.vertex);
  }
  for (const Pin& pin : loads.pins) {
    there("pin", pin.vertex);
    finite(pin.target, "target of the pin", pin.vertex);
  }
}

}  // namespace

void Motion::State::take(const Loads& given, double h) {
  const size_t n = positions.size();
  requireLoads(given, n);
  const std::span<const double> masses = solid->masses();
  loads.resize(n);
  for (size_t i = 0; i < n; ++i) {
    loads[i] = masses[i] * given.gravity;
    if (!given.accelerations.empty()) loads[i] += masses[i] * given.accelerations[i];
  }
  for (const NodalForce& force : given.forces) loads[force.vertex] += force.force;

  free.assign(n, Vec3::Ones());
  bool held = false;
  partHeld.assign(partMasses.size(), 0);
  for (const Pin& pin : given.pins) {
    if (free[pin.vertex] != Vec3::Ones())
      throw Error(ErrorKind::Usage, fmt::format("vertex {} is pinned twice", pin.vertex))
          .hint("a pin has a target and the directions that are held");
    for (size_t k = 0; k < 3; ++k)
      if (pin.held[k]) {
        free[pin.vertex][Eigen::Index(k)] = 0;
        partHeld[parts[pin.vertex]] = 1;
        held = true;
      }
  }
  const double forward = schemeShare(settings.scheme) * h * h;
  predicted.resize(n);
  for (size_t i = 0; i < n; ++i) {
    if (masses[i] > 0) {
      predicted[i] = positions[i] + h * velocities[i] + forward / masses[i] * loads[i];
    } else {  // a vertex of no tetrahedron stays
      predicted[i] = positions[i];
      loads[i] = Vec3::Zero();
      partHeld[parts[i]] = 1;
      free[i] = Vec3::Zero();
      held = true;
    }
  }
  if (!held) free.clear();
}

void Motion::State::startSearch(double h, std::span<StepTerm* const> terms, const Loads& given,
                                StepReport& report) {
  const size_t n = positions.size();
  size_t rows = n;
  for (const StepTerm* term : terms) rows += term->ownBlocks();
  x.resize(rows);
  std::copy(positions.begin(), positions.end(), x.begin());
  std::fill(x.begin() + std::ptrdiff_t(n), x.end(), Vec3::Zero());
  auto row = static_cast<uint32_t>(n);
  for (StepTerm* term : terms) {
    const uint32_t own = term->ownBlocks();
    term->begin({h, positions, velocities, predicted, row}, std::span(x).subspan(row, own));
    row += own;
  }
  potential.begin(*solid, settings, h, positions, velocities, predicted, terms, given);

  // Where the acceleration of the last step leads, if that is a better place to start from than where
  // everything is.
  const double forward = schemeShare(settings.scheme) * h * h;
  way.assign(rows, Vec3::Zero());
  for (size_t i = 0; i < n; ++i) way[i] = h * velocities[i] + forward * accelerations[i];
  const auto prescribe = [&](std::span<Vec3> to) {
    for (const Pin& pin : given.pins)
      for (int k = 0; k < 3; ++k)
        if (pin.held[size_t(k)]) to[pin.vertex][k] = pin.target[k];
    for (size_t i = 0; i < n; ++i)
      if (!(solid->masses()[i] > 0)) to[i] = positions[i];
  };
  const double t = longestStep(terms, x, way);
  trial.resize(rows);
  for (size_t i = 0; i < rows; ++i) trial[i] = x[i] + t * way[i];
  prescribe(trial);
  prescribe(x);
  const double there = potential.value(trial).sum, here = potential.value(x).sum;
  report.evaluations += 2;
  if (there <= here) x.swap(trial);
}

void Motion::State::search(Newton::Task& task, StepReport& report) {
  for (;;) {
    const Newton::End end = newton.minimise(task, report.rounds == 0, x, report);
    ++report.rounds;
    report.converged = report.converged && end == Newton::End::Converged;
    report.stuck = report.stuck || end == Newton::End::Stuck;
    bool again = false;
    for (StepTerm* term : task.potential.terms())
      again = term->update(std::span<const Vec3>(x), report.rounds) || again;
    if (!again) return;
    if (end == Newton::End::Spent || report.rounds >= settings.mostRounds) {
      report.converged = false;
      return;
    }
  }
}

// The gradient that is left, summed over a part, is a force that nobody exerts. Where no term acts on the
// part, J is quadratic in its place, and moving the part to the minimum takes that force away; else only its
// velocity is made what forces and the time they act for say, since terms may be stiff.
void Motion::State::balance(double h, bool converged) {
  const size_t n = positions.size();
  const std::span<const Vec3> left = newton.gradient(), termGradient = potential.termGradient();
  partSums.assign(partMasses.size(), Vec3::Zero());
  partActedOn.assign(partMasses.size(), 0);
  for (size_t i = 0; i < n; ++i) {
    partSums[parts[i]] += left[i];
    if (termGradient[i] != Vec3::Zero()) partActedOn[parts[i]] = 1;
  }
  const double share = schemeShare(settings.scheme);
  for (size_t i = 0; i < n; ++i) {
    const uint32_t part = parts[i];
    if (partHeld[part]) continue;
    if (!partActedOn[part]) {
      const Vec3 way = -1 / (potential.massScale(i) * partMasses[part]) * partSums[part];
      x[i] += way;
      nextVelocities[i] += 1 / (share * h) * way;
    } else if (converged) {
      nextVelocities[i] -= h / partMasses[part] * partSums[part];
    }
  }
}

void Motion::State::requireFinite() const {
  for (size_t i = 0; i < positions.size(); ++i)
    if (!x[i].allFinite() || !nextVelocities[i].allFinite())
      throw Error(ErrorKind::Numerical,
                  fmt::format("step {}: the motion of vertex {} is not finite", steps + 1, i))
          .hint("shorten the step, or look at forces and stiffness there");
}

StepReport Motion::step(double h, std::span<StepTerm* const> terms, const Loads& loads) {
  State& s = *state_;
  s.requireSet();
  if (!(h > 0) || !std::isfinite(h))
    throw Error(ErrorKind::Usage, fmt::format("a time step of {} s", h)).hint("it must be positive");
  StepReport report;
  const size_t n = vertices();
  const double share = schemeShare(s.settings.scheme);
  s.take(loads, h);
  s.startSearch(h, terms, loads, report);
  const double energyBefore = kineticEnergy() + elasticEnergy();
  Newton::Task task{s.potential,       s.system, s.settings,
                    s.solid->masses(), s.free,   std::sqrt(innerProduct(s.loads, s.loads))};
  try {
    s.search(task, report);
  } catch (Error& error) {
    if (error.kind() != ErrorKind::Numerical) throw;
    throw Error(ErrorKind::Numerical, fmt::format("step {}: {}", s.steps + 1, error.message()))
        .hint(error.hint());
  }

  s.nextVelocities.resize(n);
  const std::span<const Vec3> left = s.newton.gradient();
  double work = 0, loadsWork = 0;
  for (size_t i = 0; i < n; ++i) {
    const Vec3 moved = s.x[i] - s.positions[i], mean = moved / h;
    Vec3& velocity = s.nextVelocities[i];
    velocity = s.velocities[i] + (mean - s.velocities[i]) / share;
    s.reactions[i] = Vec3::Zero();
    if (!s.free.empty())
      for (int k = 0; k < 3; ++k)
        if (s.free[i][k] == 0) {
          velocity[k] = mean[k];
          s.reactions[i][k] = left[i][k];
        }
    loadsWork += (s.loads[i] + s.reactions[i]).dot(moved);
    work += (s.loads[i] + s.reactions[i] - s.potential.termGradient()[i]).dot(moved);
  }
  s.balance(h, report.converged);
  s.requireFinite();

  for (size_t i = 0; i < n; ++i) s.accelerations[i] = (s.nextVelocities[i] - s.velocities[i]) / h;
  const double elastic = s.solid->energy(std::span<const Vec3>(s.x).first(n));
  const double kinetic =
      blockSum(n, [&](size_t i) { return 0.5 * s.solid->masses()[i] * s.nextVelocities[i].squaredNorm(); });
  for (StepTerm* term : terms) term->took(energyBefore + loadsWork - kinetic - elastic);
  for (StepTerm* term : terms) term->end(s.x, s.nextVelocities);
  s.requireFinite();
  std::copy(s.x.begin(), s.x.begin() + std::ptrdiff_t(n), s.positions.begin());
  s.velocities.swap(s.nextVelocities);
  s.elastic = elastic;
  ++s.steps;
  report.kinetic = kineticEnergy();
  report.elastic = elasticEnergy();
  report.work = work;
  report.growth = report.kinetic + report.elastic - energyBefore - work;
  return report;
}

}  // namespace sunder::fem
