#include "sunder/fem/dynamics.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::fem {

void ElasticDynamics::setBody(const geometry::TetMesh& mesh, const ElasticMaterial& material,
                              std::span<const double> fractions) {
  prepared_ = false;
  body_.set(mesh, material, fractions);
  rest();
}

void ElasticDynamics::prepare(const DynamicsSettings& settings) {
  if (!(settings.step > 0) || !std::isfinite(settings.step))
    throw Error(ErrorKind::Usage, fmt::format("a time step of {} s", settings.step))
        .hint("it must be positive");
  if (!(settings.alpha >= 0) || !(settings.beta >= 0))
    throw Error(ErrorKind::Usage, fmt::format("damping alpha {} and beta {} must not be negative",
                                              settings.alpha, settings.beta));
  prepared_ = false;
  settings_ = settings;
  const std::string key = fmt::format("{} {} {} {}", settings.solver.name, settings.solver.tolerance,
                                      settings.solver.mostIterations, int(settings.solver.preconditioner));
  if (!solver_ || key != solverKey_) {
    solver_ = makeSolver(settings.solver);
    solverKey_ = key;
  }
  const double h = settings.scheme == TimeScheme::Trapezoidal ? settings.step / 2 : settings.step;
  matrix_.setPattern(body_.pattern());
  assemble(body_.elements(), body_.material(), 1 + h * settings.alpha, h * settings.beta + h * h,
           settings.mass, matrix_, body_.hasShares() ? body_.masses() : std::span<const double>());
  if (settings.mass == MassKind::Consistent) {
    massMatrix_.setPattern(body_.pattern());
    assemble(body_.elements(), body_.material(), 1, 0, settings.mass, massMatrix_);
  }
  solver_->factor(matrix_);
  right_.resize(body_.vertices());
  work_.resize(body_.vertices());
  prepared_ = true;
}

void ElasticDynamics::rest() {
  u_.assign(body_.vertices(), Vec3::Zero());
  v_.assign(body_.vertices(), Vec3::Zero());
  time_ = 0;
}

void ElasticDynamics::setState(std::span<const Vec3> displacements, std::span<const Vec3> velocities) {
  if (displacements.size() != body_.vertices() || velocities.size() != body_.vertices())
    throw Error(ErrorKind::Usage, fmt::format("a state of {} and {} vectors for {} vertices",
                                              displacements.size(), velocities.size(), body_.vertices()));
  std::copy(displacements.begin(), displacements.end(), u_.begin());
  std::copy(velocities.begin(), velocities.end(), v_.begin());
}

void ElasticDynamics::step(std::span<const NodalForce> forces) {
  if (!prepared_) throw Error(ErrorKind::Usage, "a step before prepare()");
  const bool middle = settings_.scheme == TimeScheme::Trapezoidal;
  const double h = middle ? settings_.step / 2 : settings_.step;
  const double c = 1 / (settings_.beta + h), carried = c * (1 + h * settings_.alpha);
  const size_t n = u_.size();
  const std::span<const double> masses = body_.masses();
  if (settings_.mass == MassKind::Lumped) {
    for (size_t i = 0; i < n; ++i) right_[i] = masses[i] * (v_[i] + carried * u_[i]);
  } else {
    for (size_t i = 0; i < n; ++i) work_[i] = masses[i] > 0 ? Vec3(v_[i] + carried * u_[i]) : Vec3::Zero();
    massMatrix_.multiply(work_, right_);
  }
  for (const NodalForce& force : forces) {
    if (force.vertex >= n)
      throw Error(ErrorKind::Usage, fmt::format("a force at vertex {}, but there are {}", force.vertex, n));
    right_[force.vertex] += h * force.force;
  }
  solver_->solve(right_, work_);
  for (size_t i = 0; i < n; ++i) {
    // Vertices of no tetrahedron have no mass and do not move.
    if (!(masses[i] > 0)) continue;
    const Vec3 v = work_[i] - c * u_[i];
    u_[i] += settings_.step * v;
    v_[i] = middle ? Vec3(2 * v - v_[i]) : v;
  }
  time_ += settings_.step;
}

Vec3 ElasticDynamics::momentum() const {
  Vec3 sum = Vec3::Zero();
  for (size_t i = 0; i < v_.size(); ++i) sum += body_.masses()[i] * v_[i];
  return sum;
}

}  // namespace sunder::fem
