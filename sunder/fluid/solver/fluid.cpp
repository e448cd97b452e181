#include "sunder/fluid/solver/fluid.h"

#include "sunder/base/bounds.h"
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/fluid/coupling/films.h"
#include "sunder/fluid/coupling/wall_friction.h"
#include "sunder/fluid/coupling/wall_viscosity.h"
#include "sunder/fluid/forces/air_drag.h"
#include "sunder/fluid/forces/surface_tension.h"
#include "sunder/fluid/forces/viscosity.h"
#include "sunder/fluid/forces/vorticity.h"
#include "sunder/fluid/forces/xsph.h"
#include "sunder/fluid/pressure/dfsph.h"
#include "sunder/fluid/pressure/iisph.h"
#include "sunder/fluid/pressure/pbf.h"
#include "sunder/fluid/pressure/pcisph.h"
#include "sunder/fluid/pressure/relaxation.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace sunder::fluid {

namespace {

// Throws Error (Numerical) if the largest speed is not a number or infinite.
void requireFiniteSpeed(double fastest, const FluidState& state) {
  if (std::isfinite(fastest)) return;
  size_t bad = 0;
  while (bad < state.size() && state.motion[bad].allFinite()) ++bad;
  const uint32_t id = bad < state.size() ? state.ids[bad] : 0;
  throw Error(ErrorKind::Numerical, fmt::format("the velocity of fluid particle {} is not finite", id))
      .hint("a shorter time step, or less violent forces");
}

void tellDensity(const Solved& solved, FluidStep& report) {
  report.densityIterations = solved.iterations;
  report.densityError = solved.error;
  report.densityMissed = solved.missed;
}

void tellDivergence(const Solved& solved, FluidStep& report) {
  report.divergenceIterations = solved.iterations;
  report.divergenceError = solved.error;
  report.divergenceMissed = solved.missed;
}

}  // namespace

FluidStep Fluid::step(double dt) {
  requirePositive(dt, "a time step");
  FluidStep report;
  coupling_.clearImpulses();
  if (!prepared_) prepare();

  applyForces(dt, report);
  applyFilms(model_, state_, dt, coupling_);
  solveBeforeMoving(dt, report);
  report.fastest = largestSpeed(state_.motion);
  requireFiniteSpeed(report.fastest, state_);
  limitSpeed(dt, report);
  move(dt);
  prepare();
  solveAfterMoving(dt, report);
  report.fastest = largestSpeed(state_.motion);
  limitSpeed(dt, report);
  applyWallFriction(model_, dt, state_, coupling_);

  report.pairs = neighbours_.rows.total();
  report.nearBodies = coupling_.entries.particle.size();
  return report;
}

void Fluid::applyForces(double dt, FluidStep& report) {
  const ProfileScope scope("forces");
  const PairForces forces{model_,        neighbours_,       state_.phases,    coupling_.density,
                          state_.motion, arrays_.stiffness, arrays_.bodyRate, arrays_.gradient};
  const bool backscatter = usesBackscatter(model_.phases);
  const double before = backscatter ? kineticEnergy(state_.motion) : 0;
  const ViscosityReport viscosity = applyViscosity(forces, dt);
  report.viscosityIterations = viscosity.iterations;
  report.viscosityMissed = viscosity.missed;
  applyNoSlip(model_, dt, state_, coupling_);
  applyXsph(forces);
  if (backscatter) {
    state_.lostEnergy += std::max(before - kineticEnergy(state_.motion), 0.0);
    applyBackscatter(forces, dt, state_.lostEnergy);
  }
  applySurfaceTension(forces, dt);
  const Vec3f fall = (dt * model_.settings.gravity).cast<float>();
  parallelFor(size(), [&](size_t i) { state_.motion[i].head<3>() += fall; });
  applyAirDrag(model_, neighbours_, state_.phases, dt, state_.motion);
}

void Fluid::solveBeforeMoving(double dt, FluidStep& report) {
  const SolverSettings& solver = model_.settings.density;
  if (!solver.enabled) return;
  const PressureStep step = pressureStep(dt);
  switch (model_.settings.solver) {
    case PressureSolver::DivergenceFree:
      return tellDensity(solveConstantDensity(step, solver, state_.kappa), report);
    case PressureSolver::Implicit:
      return tellDensity(solveIisph(step, solver, state_.kappa), report);
    case PressureSolver::PredictiveCorrective:
      return tellDensity(solvePcisph(step, solver, state_.kappa), report);
    case PressureSolver::PositionBased:
      return;
  }
}

void Fluid::move(double dt) {
  const ProfileScope scope("move");
  parallelFor(size(),
              [&](size_t i) { state_.positions[i] += dt * state_.motion[i].head<3>().cast<double>(); });
  // Points that gave way to pressures are farther than where they would have been.
  for (size_t b = 0; b < coupling_.bodies.size(); ++b)
    for (size_t s = 0; s < coupling_.sampleMotions[b].changes.size(); ++s)
      coupling_.bodies[b].points->positions[s] += dt * coupling_.sampleMotions[b].changes[s];
  ++state_.steps;
  state_.lastStep = dt;
}

void Fluid::solveAfterMoving(double dt, FluidStep& report) {
  const FluidSettings& settings = model_.settings;
  if (settings.solver == PressureSolver::PositionBased && settings.density.enabled)
    tellDensity(solvePbf(pressureStep(dt), settings.density, state_.positions, state_.kappa,
                         [this] { evaluateAnew(); }),
                report);
  if (settings.solver == PressureSolver::DivergenceFree && settings.divergence.enabled) {
    const bool backscatter = usesBackscatter(model_.phases);
    const double before = backscatter ? kineticEnergy(state_.motion) : 0;
    tellDivergence(solveDivergence(pressureStep(dt), settings.divergence, state_.kappaRate), report);
    if (backscatter) state_.lostEnergy += std::max(before - kineticEnergy(state_.motion), 0.0);
  }
}

// Where there is no room for the fluid, pressures grow without end.
void Fluid::limitSpeed(double dt, FluidStep& report) {
  const auto most = float(model_.settings.farthest * model_.support / dt);
  if (!(most > 0) || !(report.fastest > double(most))) return;
  for (Vec4f& motion : state_.motion) {
    const float speed = motion.head<3>().norm();
    if (!(speed > most)) continue;
    motion.head<3>() *= most / speed;
    ++report.heldBack;
  }
}

PressureStep Fluid::pressureStep(double dt) {
  return {dt, model_, neighbours_, state_.positions, state_.motion, coupling_, arrays_};
}

void Fluid::prepare() {
  findNeighbours(model_, state_, neighbours_);
  evaluateAnew();
  prepared_ = true;
}

double Fluid::relax(double tolerance, uint32_t rounds) {
  const double worst = relaxParticles(model_, tolerance, rounds, state_, neighbours_, coupling_, arrays_);
  prepared_ = true;
  return worst;
}

double Fluid::stepLimit() const {
  const FluidSettings& settings = model_.settings;
  return settings.courant * model_.diameter /
         (largestSpeed(state_.motion) + settings.gravity.norm() * state_.lastStep);
}

double Fluid::largestDivergence() {
  if (!prepared_) prepare();
  return fluid::largestDivergence(pressureStep(state_.lastStep));
}

void Fluid::add(std::span<const Vec3> positions, const Vec3& velocity, uint32_t phase) {
  addParticles(model_, positions, velocity, phase, state_);
  prepared_ = false;
}

void Fluid::remove(std::span<const uint8_t> gone) {
  if (removeParticles(gone, state_)) prepared_ = false;
}

void Fluid::load(ByteReader& in) {
  prepared_ = false;
  loadParticles(model_, in, state_);
}

void Fluid::findBuried(std::span<const Vec3> positions, double most, std::span<uint8_t> buried) const {
  std::fill(buried.begin(), buried.end(), uint8_t(0));
  if (positions.empty()) return;
  const Vec3 origin = boundsOf(positions).center();
  std::vector<Vec4f> place(positions.size());
  for (size_t i = 0; i < place.size(); ++i) place[i] = withFourth((positions[i] - origin).cast<float>(), 0);
  BoundaryEntries entries;
  findEntries(coupling_.bodies, place, origin, entries);
  for (size_t b = 0; b < coupling_.bodies.size(); ++b) {
    // Points add half on the surface of their matter.
    const double limit = coupling_.bodies[b].points ? std::min(most, 0.5) : most;
    for (uint32_t e = entries.bodyStart[b]; e < entries.bodyStart[b + 1]; ++e)
      if (double(entries.sample[e].w()) > limit) buried[entries.particle[e]] = 1;
  }
}

uint32_t Fluid::addBody(const BoundaryBody& body) {
  coupling_.bodies.push_back(body);
  prepared_ = false;
  return uint32_t(coupling_.bodies.size() - 1);
}

void Fluid::removeBody(uint32_t index) {
  coupling_.bodies[index].map.reset();
  coupling_.bodies[index].points.reset();
  prepared_ = false;
}

void Fluid::keepBodies(uint32_t count) {
  if (count < coupling_.bodies.size()) coupling_.bodies.resize(count);
  prepared_ = false;
}

size_t Fluid::bytes() const {
  return state_.bytes() + neighbours_.bytes() + coupling_.bytes() + arrays_.bytes();
}

}  // namespace sunder::fluid
