#include "sunder/fluid/solver/fluid.h"

#include "sunder/base/bounds.h"
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"

#include <cmath>

#include <fmt/core.h>

namespace sunder::fluid {

namespace {

constexpr size_t kFluidGrain = 4096;

// Of what a particle in the middle of others has: below, a particle has next to no neighbours.
constexpr double kLeastFactor = 1e-3 * 1.7;

void requirePositive(double value, const char* what) {
  if (!(value > 0) || !std::isfinite(value))
    throw Error(ErrorKind::Usage, fmt::format("fluid: {} is {}, but must be positive", what, value));
}

}  // namespace

Fluid::Fluid(const FluidSettings& settings) : settings_(settings) {
  requirePositive(settings.radius, "the radius of particles");
  requirePositive(settings.referenceDensity, "the reference density");
  requirePositive(settings.courant, "the Courant number");
  requirePositive(settings.density.tolerance, "the tolerance of the density");
  requirePositive(settings.divergence.tolerance, "the tolerance of the divergence");
  if (!settings.gravity.allFinite()) throw Error(ErrorKind::Usage, "fluid: gravity is not finite");
  if (!(settings.airDensity >= 0) || !std::isfinite(settings.airDensity) || !settings.wind.allFinite())
    throw Error(ErrorKind::Usage,
                "fluid: density and velocity of the air must be finite, density not negative");
  diameter_ = 2 * settings.radius;
  support_ = settings.support > 0 ? settings.support : 2 * diameter_;
  if (support_ < 1.5 * diameter_ || support_ > 4 * diameter_)
    throw Error(ErrorKind::Usage,
                fmt::format("fluid: a support of {:.3g} m for particles {:.3g} m wide", support_, diameter_))
        .hint("between one and a half and four diameters; two are usual");
  requireLengths(settings.periodic, support_);
  volume_ = diameter_ * diameter_ * diameter_;
}

uint32_t Fluid::addPhase(const FluidPhase& phase) {
  requirePositive(phase.density, "a density");
  if (!(phase.viscosity >= 0) || !std::isfinite(phase.viscosity) || !(phase.smoothing >= 0) ||
      phase.smoothing > 1 || !(phase.tension >= 0) || !std::isfinite(phase.tension) ||
      !(phase.vorticity >= 0) || !std::isfinite(phase.vorticity) || !(phase.drag >= 0) ||
      !std::isfinite(phase.drag))
    throw Error(
        ErrorKind::Usage,
        "fluid: viscosity, tension, vorticity and drag must not be negative, smoothing between 0 and 1");
  if (phases_.size() >= 255) throw Error(ErrorKind::Limit, "more than 255 fluids");
  phases_.push_back(phase);
  return uint32_t(phases_.size() - 1);
}

uint32_t Fluid::addBody(const BoundaryBody& body) {
  bodies_.push_back(body);
  prepared_ = false;
  return uint32_t(bodies_.size() - 1);
}

void Fluid::removeBody(uint32_t index) {
  bodies_[index].map.reset();
  prepared_ = false;
}

void Fluid::keepBodies(uint32_t count) {
  if (count < bodies_.size()) bodies_.resize(count);
  prepared_ = false;
}

double Fluid::fastest() const {
  return std::sqrt(parallelReduce(
      size(), 0.0,
      [&](size_t begin, size_t end) {
        double most = 0;
        for (size_t i = begin; i < end; ++i) {
          const auto speed = double(motion_[i].head<3>().squaredNorm());
          most = speed <= most ? most : speed;  // not a number wins
        }
        return most;
      },
      [](double a, double b) { return b <= a ? a : b; }, kFluidGrain));
}

double Fluid::stepLimit() const {
  return settings_.courant * diameter_ / (fastest() + settings_.gravity.norm() * lastStep_);
}

double Fluid::pressure(size_t i) const {
  return lastStep_ > 0 ? settings_.referenceDensity *
                             (double(kappa_[i]) / (lastStep_ * lastStep_) + double(kappaRate_[i]) / lastStep_)
                       : 0;
}

size_t Fluid::bytes() const {
  return size() * (sizeof(Vec3) + 5 * sizeof(Vec4f) + 7 * sizeof(float) + 2 * sizeof(uint32_t) + 1) +
         grid_.bytes() - grid_.listBytes() + entries_.particle.size() * (sizeof(uint32_t) + sizeof(Vec4f));
}

PairSums Fluid::pairs() const {
  return {place_,         motion_,  float(support_),
          float(volume_), &blocks_, settings_.periodic.lengths.cast<float>()};
}

void Fluid::prepare() {
  {
    const ProfileScope scope("neighbours");
    wrap(settings_.periodic, positions_);
    if (steps_ % settings_.reorderEvery == 0) {
      grid_.build(positions_, support_);
      reorder();
    }
    if (settings_.periodic.any()) {
      periodic_.neighbours(settings_.periodic, positions_, support_, grid_, rows_);
    } else {
      grid_.build(positions_, support_);
      grid_.neighbours(rows_);
    }
  }
  evaluate();
  prepared_ = true;
}

void Fluid::evaluate() {
  const size_t n = size();
  const Box3 box = boundsOf(positions_);
  origin_ = n > 0 ? box.center() : Vec3::Zero();
  place_.resize(n);
  density_.resize(n);
  boundary_.resize(n);
  joint_.resize(n);
  gradient_.resize(n);
  factor_.resize(n);
  rate_.resize(n);
  predicted_.resize(n);
  stiffness_.resize(n);
  applied_.resize(n);
  parallelFor(n, [&](size_t i) {
    place_[i] = withFourth((positions_[i] - origin_).cast<float>(), 0);
    boundary_[i].setZero();
    rate_[i] = 0;
  });
  {
    const ProfileScope scope("maps");
    findEntries(bodies_, place_, origin_, entries_);
    joinBodies();
    for (size_t e = 0; e < entries_.particle.size(); ++e)
      rate_[entries_.particle[e]] += entries_.sample[e].head<3>().squaredNorm();
  }
  const ProfileScope scope("density");
  sumDensity(pairs(), rows_, blocks_, density_, factor_);
  const float least = float(kLeastFactor / (support_ * support_));
  parallelFor(n, [&](size_t i) {
    const Vec3f sum = density_[i].head<3>() + boundary_[i].head<3>();
    // A particle caught between bodies that press from opposite sides cannot give way: pressures that would
    // make it do so all the same are without bounds, and throw the bodies.
    const float caught = std::max(rate_[i] - boundary_[i].head<3>().squaredNorm(), 0.0f);
    const float all = motion_[i].w() * (sum.squaredNorm() + caught) + factor_[i];
    factor_[i] = all > least ? all : -1;
  });
  addMobility();
  parallelFor(n, [&](size_t i) { factor_[i] = factor_[i] > 0 ? 1 / factor_[i] : 0; });
}

// Where there is no room for the fluid, pressures grow without end.
void Fluid::holdBack(double dt, FluidStep& report) {
  const auto most = float(settings_.farthest * support_ / dt);
  if (!(most > 0) || !(report.fastest > double(most))) return;
  for (Vec4f& motion : motion_) {
    const float speed = motion.head<3>().norm();
    if (!(speed > most)) continue;
    motion.head<3>() *= most / speed;
    ++report.heldBack;
  }
}

void Fluid::advance(double dt, FluidStep& report) {
  report.fastest = fastest();
  if (!std::isfinite(report.fastest)) {
    size_t bad = 0;
    while (bad < size() && motion_[bad].allFinite()) ++bad;
    throw Error(ErrorKind::Numerical,
                fmt::format("the velocity of fluid particle {} is not finite", bad < size() ? ids_[bad] : 0))
        .hint("a shorter time step, or less violent forces");
  }
  holdBack(dt, report);
  {
    const ProfileScope scope("move");
    parallelFor(size(), [&](size_t i) { positions_[i] += dt * motion_[i].head<3>().cast<double>(); });
  }
  ++steps_;
  prepare();
}

FluidStep Fluid::step(double dt) {
  requirePositive(dt, "a time step");
  FluidStep report;
  impulses_.assign(bodies_.size(), {});
  if (!prepared_) prepare();
  applyForces(dt, report);
  pressFilms(dt);
  const PressureSolver solver = settings_.solver;
  if (settings_.density.enabled) {
    if (solver == PressureSolver::DivergenceFree) solveDensity(dt, report);
    if (solver == PressureSolver::Implicit) solveImplicit(dt, report);
    if (solver == PressureSolver::PredictiveCorrective) solvePredictive(dt, report);
  }
  advance(dt, report);
  lastStep_ = dt;
  if (solver == PressureSolver::PositionBased && settings_.density.enabled) solvePositions(dt, report);
  if (solver == PressureSolver::DivergenceFree && settings_.divergence.enabled) {
    const double before = stirs() ? kineticEnergy() : 0;
    solveDivergence(dt, report);
    if (stirs()) lost_ += std::max(before - kineticEnergy(), 0.0);
  }
  report.fastest = fastest();
  holdBack(dt, report);
  rub(dt);
  report.pairs = rows_.total();
  report.nearBodies = entries_.particle.size();
  return report;
}

}  // namespace sunder::fluid
