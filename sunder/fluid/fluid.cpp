#include "sunder/fluid/fluid.h"

#include "sunder/base/bounds.h"
#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/hash.h"
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/fluid/sph_sums.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace sunder::fluid {

namespace {

constexpr size_t kGrain = 4096;
// Of what a particle in the middle of others has: below, a particle has next to no neighbours.
constexpr double kLeastFactor = 1e-3 * 1.7;

template <class T>
void permute(std::vector<T>& values, std::span<const uint32_t> order, std::vector<T>& scratch) {
  scratch.resize(values.size());
  parallelFor(values.size(), [&](size_t i) { scratch[i] = values[order[i]]; });
  values.swap(scratch);
}

double meanOf(std::span<const float> errors) {
  const double sum = parallelReduce(
      errors.size(), 0.0,
      [&](size_t begin, size_t end) {
        double part = 0;
        for (size_t i = begin; i < end; ++i) part += double(errors[i]);
        return part;
      },
      [](double a, double b) { return a + b; }, kGrain);
  return errors.empty() ? 0 : sum / double(errors.size());
}

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
  diameter_ = 2 * settings.radius;
  support_ = settings.support > 0 ? settings.support : 2 * diameter_;
  if (support_ < 1.5 * diameter_ || support_ > 4 * diameter_)
    throw Error(ErrorKind::Usage,
                fmt::format("fluid: a support of {:.3g} m for particles {:.3g} m wide", support_, diameter_))
        .hint("between one and a half and four diameters; two are usual");
  volume_ = diameter_ * diameter_ * diameter_;
}

uint32_t Fluid::addPhase(const FluidPhase& phase) {
  requirePositive(phase.density, "a density");
  if (!(phase.viscosity >= 0) || !std::isfinite(phase.viscosity) || !(phase.smoothing >= 0) ||
      phase.smoothing > 1 || !(phase.tension >= 0) || !std::isfinite(phase.tension))
    throw Error(ErrorKind::Usage,
                "fluid: viscosity and tension must not be negative, smoothing between 0 and 1");
  if (phases_.size() >= 255) throw Error(ErrorKind::Limit, "more than 255 fluids");
  phases_.push_back(phase);
  return uint32_t(phases_.size() - 1);
}

void Fluid::add(std::span<const Vec3> positions, const Vec3& velocity, uint32_t phase) {
  if (phase >= phases_.size()) throw Error(ErrorKind::Usage, fmt::format("there is no fluid {}", phase));
  if (!velocity.allFinite()) throw Error(ErrorKind::Usage, "fluid: a velocity that is not finite");
  for (size_t i = 0; i < positions.size(); ++i)
    if (!positions[i].allFinite())
      throw Error(ErrorKind::Usage, fmt::format("fluid: position of particle {} is not finite", i));
  if (nextId_ + positions.size() > UINT32_MAX / 2) throw Error(ErrorKind::Limit, "too many particles");
  const Vec4f motion =
      withFourth(velocity.cast<float>(), float(settings_.referenceDensity / phases_[phase].density));
  positions_.insert(positions_.end(), positions.begin(), positions.end());
  motion_.resize(size(), motion);
  kappa_.resize(size(), 0);
  kappaRate_.resize(size(), 0);
  phase_.resize(size(), uint8_t(phase));
  while (ids_.size() < size()) ids_.push_back(nextId_++);
  prepared_ = false;
}

void Fluid::leaveOutBuried(std::vector<Vec3>& positions, double most) const {
  if (positions.empty()) return;
  const Vec3 origin = boundsOf(positions).center();
  std::vector<Vec4f> place(positions.size());
  for (size_t i = 0; i < place.size(); ++i) place[i] = withFourth((positions[i] - origin).cast<float>(), 0);
  BoundaryEntries entries;
  findEntries(bodies_, place, origin, entries);
  std::vector<uint8_t> buried(place.size(), 0);
  for (size_t e = 0; e < entries.particle.size(); ++e)
    if (double(entries.sample[e].w()) > most) buried[entries.particle[e]] = 1;
  size_t kept = 0;
  for (size_t i = 0; i < positions.size(); ++i)
    if (!buried[i]) positions[kept++] = positions[i];
  positions.resize(kept);
}

void Fluid::remove(std::span<const uint8_t> gone) {
  size_t kept = 0;
  for (size_t i = 0; i < size(); ++i) {
    if (gone[i]) continue;
    positions_[kept] = positions_[i];
    motion_[kept] = motion_[i];
    kappa_[kept] = kappa_[i];
    kappaRate_[kept] = kappaRate_[i];
    ids_[kept] = ids_[i];
    phase_[kept++] = phase_[i];
  }
  if (kept == size()) return;
  positions_.resize(kept);
  motion_.resize(kept);
  kappa_.resize(kept);
  kappaRate_.resize(kept);
  ids_.resize(kept);
  phase_.resize(kept);
  prepared_ = false;
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
      [](double a, double b) { return b <= a ? a : b; }, kGrain));
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
  return size() * (sizeof(Vec3) + 5 * sizeof(Vec4f) + 7 * sizeof(float) + sizeof(uint32_t) + 1) +
         grid_.bytes() - grid_.listBytes() + entries_.particle.size() * (sizeof(uint32_t) + sizeof(Vec4f));
}

PairSums Fluid::pairs() const { return {place_, motion_, float(support_), float(volume_), &blocks_}; }

void Fluid::reorder() {
  const std::vector<uint32_t> order(grid_.order().begin(), grid_.order().end());
  std::vector<Vec3> points;
  std::vector<Vec4f> rows;
  std::vector<float> numbers;
  std::vector<uint32_t> ids;
  std::vector<uint8_t> bytes;
  permute(positions_, order, points);
  permute(motion_, order, rows);
  permute(kappa_, order, numbers);
  permute(kappaRate_, order, numbers);
  permute(ids_, order, ids);
  permute(phase_, order, bytes);
}

void Fluid::prepare() {
  const size_t n = size();
  {
    const ProfileScope scope("neighbours");
    grid_.build(positions_, support_);
    if (steps_ % settings_.reorderEvery == 0) {
      reorder();
      grid_.build(positions_, support_);
    }
    grid_.neighbours(rows_);
  }
  const Box3 box = boundsOf(positions_);
  origin_ = n > 0 ? box.center() : Vec3::Zero();
  place_.resize(n);
  density_.resize(n);
  boundary_.resize(n);
  gradient_.resize(n);
  factor_.resize(n);
  rate_.resize(n);
  predicted_.resize(n);
  stiffness_.resize(n);
  applied_.resize(n);
  parallelFor(n, [&](size_t i) {
    place_[i] = withFourth((positions_[i] - origin_).cast<float>(), 0);
    boundary_[i].setZero();
  });
  {
    const ProfileScope scope("maps");
    findEntries(bodies_, place_, origin_, entries_);
    for (size_t e = 0; e < entries_.particle.size(); ++e)
      boundary_[entries_.particle[e]] += entries_.sample[e];
  }
  const ProfileScope scope("density");
  sumDensity(pairs(), rows_, blocks_, density_, factor_);
  const float least = float(kLeastFactor / (support_ * support_));
  parallelFor(n, [&](size_t i) {
    const Vec3f sum = density_[i].head<3>() + boundary_[i].head<3>();
    const float all = motion_[i].w() * sum.squaredNorm() + factor_[i];
    factor_[i] = all > least ? all : -1;
  });
  // Bodies that give way: what a particle presses away moves them too.
  for (size_t b = 0; b < bodies_.size(); ++b) {
    const BoundaryBody& body = bodies_[b];
    if (!(body.inverseMass > 0)) continue;
    const double scale = settings_.referenceDensity * volume_;
    for (uint32_t e = entries_.bodyStart[b]; e < entries_.bodyStart[b + 1]; ++e) {
      const uint32_t i = entries_.particle[e];
      if (factor_[i] < 0) continue;
      const Vec3 g = entries_.sample[e].head<3>().cast<double>();
      const Vec3 arm = (positions_[i] - body.centre).cross(g);
      factor_[i] += float(scale * (body.inverseMass * g.squaredNorm() + arm.dot(body.inverseInertia * arm)));
    }
  }
  parallelFor(n, [&](size_t i) { factor_[i] = factor_[i] > 0 ? 1 / factor_[i] : 0; });
  prepared_ = true;
}

// What neighbours exchange: `strength` by phase, times its mass, so that what one particle gains another
// loses; `sum` makes velocities of strengths and densities, which are in stiffness_ and predicted_.
template <class Strength, class Sum>
void Fluid::exchange(const Strength& strength, const Sum& sum) {
  std::vector<float> byPhase;
  for (const FluidPhase& phase : phases_)
    byPhase.push_back(float(strength(phase) * phase.density / settings_.referenceDensity));
  if (std::all_of(byPhase.begin(), byPhase.end(), [](float x) { return x == 0; })) return;
  parallelFor(size(), [&](size_t i) {
    stiffness_[i] = byPhase[phase_[i]];
    predicted_[i] = density_[i].w() + boundary_[i].w();
  });
  sum();
  parallelFor(size(), [&](size_t i) { motion_[i].head<3>() += motion_[i].w() * gradient_[i].head<3>(); });
}

void Fluid::applyForces(double dt, FluidStep& report) {
  const ProfileScope scope("forces");
  applyViscosity(dt, report);
  exchange([](const FluidPhase& phase) { return phase.smoothing; },
           [&] { sumSmoothing(pairs(), stiffness_, predicted_, gradient_); });
  exchange([&](const FluidPhase& phase) { return dt * phase.tension; },
           [&] {
             sumTension(pairs(), float(volume_ * settings_.referenceDensity), stiffness_, predicted_,
                        density_, gradient_);
           });
  const Vec3f fall = (dt * settings_.gravity).cast<float>();
  parallelFor(size(), [&](size_t i) { motion_[i].head<3>() += fall; });
}

void Fluid::applyPressure(double dt) {
  sumPressure(pairs(), stiffness_, gradient_);
  parallelFor(size(), [&](size_t i) {
    const Vec3f slope = gradient_[i].head<3>() + stiffness_[i] * boundary_[i].head<3>();
    motion_[i].head<3>() -= float(dt) * motion_[i].w() * slope;
    applied_[i] += stiffness_[i];
  });
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

// What bodies add to the density where the particles will be, exactly.
void Fluid::predictBoundary(double dt) {
  parallelFor(size(), [&](size_t i) { predicted_[i] = density_[i].w(); });
  std::vector<float> values(entries_.particle.size());
  for (size_t b = 0; b < bodies_.size(); ++b) {
    const BoundaryBody& body = bodies_[b];
    const uint32_t first = entries_.bodyStart[b], count = entries_.bodyStart[b + 1] - first;
    const Mat3 turn = body.rotation.transpose();
    parallelBlocks(count, 512, [&](size_t begin, size_t end) {
      std::vector<Vec4f> points(end - begin);
      for (size_t e = begin; e < end; ++e) {
        const uint32_t i = entries_.particle[first + e];
        const Vec3 next = positions_[i] + dt * motion_[i].head<3>().cast<double>();
        points[e - begin] = withFourth((turn * (next - body.position)).cast<float>(), 0);
      }
      body.map->values(points, {values.data() + first + begin, end - begin});
    });
  }
  for (size_t e = 0; e < values.size(); ++e) predicted_[entries_.particle[e]] += values[e];
}

// Predicted density beyond rest.
void Fluid::densityErrors(double dt) {
  sumRate(pairs(), rate_);
  predictBoundary(dt);
  parallelFor(size(), [&](size_t i) { rate_[i] = predicted_[i] + float(dt) * rate_[i] - 1; });
}

template <class Errors>
Fluid::Solved Fluid::solve(const SolverSettings& solver, std::vector<float>& kappa, double scale,
                           double errorScale, bool strict, double dt, const Errors& errors) {
  if (settings_.warmStart != WarmStart::None) errors();
  warmStart(kappa, 1 / scale, dt);
  const bool total = settings_.warmStart == WarmStart::Half;
  if (!total) std::fill(kappa.begin(), kappa.end(), 0.0f);
  Solved solved;
  for (bool close = false; !close || solved.iterations < solver.least;) {
    if (solved.iterations >= solver.most) {
      solved.missed = !close;
      break;
    }
    errors();
    parallelFor(size(), [&](size_t i) {
      const float above = std::max(rate_[i], 0.0f);
      stiffness_[i] = above * factor_[i] / float(scale);
      if (strict) rate_[i] = above;
    });
    solved.error = errorScale * meanOf(rate_);
    applyPressure(dt);
    ++solved.iterations;
    if (!total) parallelFor(size(), [&](size_t i) { kappa[i] += stiffness_[i] * float(scale); });
    close = solved.error <= solver.tolerance;
  }
  if (total) parallelFor(size(), [&](size_t i) { kappa[i] = applied_[i] * float(scale); });
  addImpulses(dt);
  return solved;
}

void Fluid::solveDensity(double dt, FluidStep& report) {
  const ProfileScope scope("constant density");
  const Solved solved = solve(settings_.density, kappa_, dt * dt, 1, settings_.mean == MeanError::Compressed,
                              dt, [&] { densityErrors(dt); });
  report.densityIterations = solved.iterations;
  report.densityError = solved.error;
  report.densityMissed = solved.missed;
}

// Rates of the density, from zero up; predicted_ has what the motion of bodies takes off.
void Fluid::divergenceErrors() {
  sumRate(pairs(), rate_);
  parallelFor(size(), [&](size_t i) {
    const bool deficient = double(density_[i].w() + boundary_[i].w()) < settings_.deficient;
    const float rate = rate_[i] + boundary_[i].head<3>().dot(motion_[i].head<3>()) - predicted_[i];
    rate_[i] = deficient ? 0 : std::max(rate, 0.0f);
  });
}

void Fluid::solveDivergence(double dt, FluidStep& report) {
  const ProfileScope scope("divergence");
  std::fill(predicted_.begin(), predicted_.end(), 0.0f);
  for (size_t b = 0; b < bodies_.size(); ++b)
    for (uint32_t e = entries_.bodyStart[b]; e < entries_.bodyStart[b + 1]; ++e) {
      const uint32_t i = entries_.particle[e];
      predicted_[i] += entries_.sample[e].head<3>().dot(bodies_[b].velocityAt(positions_[i]).cast<float>());
    }
  const Solved solved =
      solve(settings_.divergence, kappaRate_, dt, dt, true, dt, [&] { divergenceErrors(); });
  report.divergenceIterations = solved.iterations;
  report.divergenceError = solved.error;
  report.divergenceMissed = solved.missed;
}

void Fluid::addImpulses(double dt) {
  const double scale = settings_.referenceDensity * volume_ * dt;
  for (size_t b = 0; b < bodies_.size(); ++b) {
    BoundaryImpulse& sum = impulses_[b];
    for (uint32_t e = entries_.bodyStart[b]; e < entries_.bodyStart[b + 1]; ++e) {
      const uint32_t i = entries_.particle[e];
      const Vec3 impulse = scale * double(applied_[i]) * entries_.sample[e].head<3>().cast<double>();
      sum.linear += impulse;
      sum.angular += (positions_[i] - bodies_[b].centre).cross(impulse);
    }
  }
}

// Coulomb: at most as much as stops the sliding.
void Fluid::rub(double dt) {
  for (size_t b = 0; b < bodies_.size(); ++b) {
    const BoundaryBody& body = bodies_[b];
    if (!(body.friction > 0)) continue;
    for (uint32_t e = entries_.bodyStart[b]; e < entries_.bodyStart[b + 1]; ++e) {
      const uint32_t i = entries_.particle[e];
      const Vec3 gradient = entries_.sample[e].head<3>().cast<double>();
      const double steep = gradient.norm();
      if (!(steep > 0)) continue;
      const Vec3 normal = gradient / steep;
      const Vec3 slip = velocity(i) - body.velocityAt(positions_[i]);
      const Vec3 tangent = slip - slip.dot(normal) * normal;
      const double speed = tangent.norm();
      if (!(speed > 0)) continue;
      const double pressed = dt * double(motion_[i].w()) * pressure(i) / settings_.referenceDensity * steep;
      const Vec3 change = -std::min(body.friction * pressed, speed) / speed * tangent;
      motion_[i].head<3>() += change.cast<float>();
      const Vec3 impulse = -mass(i) * change;
      impulses_[b].linear += impulse;
      impulses_[b].angular += (positions_[i] - body.centre).cross(impulse);
    }
  }
}

double Fluid::relax(double tolerance, uint32_t rounds) {
  constexpr double kFarthest = 0.1;  // diameters in a round
  const double dt = 1e-3;            // cancels
  std::vector<Vec4f> motion = motion_;
  std::vector<uint32_t> ids = ids_;
  double worst = 0;
  for (uint32_t round = 0;; ++round) {
    prepare();
    worst = 0;
    for (size_t i = 0; i < size(); ++i) worst = std::max(worst, density(i) - 1);
    if (worst <= tolerance || round >= rounds) break;
    parallelFor(size(), [&](size_t i) {
      motion_[i].head<3>().setZero();
      kappa_[i] = 0;
    });
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
  // Particles may have changed places.
  std::vector<uint32_t> place(nextId_, 0);
  for (size_t i = 0; i < size(); ++i) place[ids[i]] = uint32_t(i);
  parallelFor(size(), [&](size_t i) {
    motion_[i] = motion[place[ids_[i]]];
    kappa_[i] = 0;
  });
  impulses_.assign(bodies_.size(), {});
  return worst;
}

FluidStep Fluid::step(double dt) {
  requirePositive(dt, "a time step");
  FluidStep report;
  impulses_.assign(bodies_.size(), {});
  if (!prepared_) prepare();
  applyForces(dt, report);
  if (settings_.density.enabled) solveDensity(dt, report);
  report.fastest = fastest();
  if (!std::isfinite(report.fastest)) {
    size_t bad = 0;
    while (bad < size() && motion_[bad].allFinite()) ++bad;
    throw Error(ErrorKind::Numerical,
                fmt::format("the velocity of fluid particle {} is not finite", bad < size() ? ids_[bad] : 0))
        .hint("a shorter time step, or less violent forces");
  }
  {
    const ProfileScope scope("move");
    parallelFor(size(), [&](size_t i) { positions_[i] += dt * motion_[i].head<3>().cast<double>(); });
  }
  ++steps_;
  prepare();
  lastStep_ = dt;
  if (settings_.divergence.enabled) solveDivergence(dt, report);
  rub(dt);
  report.pairs = rows_.total();
  report.nearBodies = entries_.particle.size();
  return report;
}

void Fluid::save(ByteWriter& out) const {
  out.u64(size());
  out.u32(nextId_);
  out.u64(steps_);
  out.f64(lastStep_);
  for (size_t i = 0; i < size(); ++i) {
    for (const double x : positions_[i]) out.f64(x);
    for (int k = 0; k < 3; ++k) out.f32(motion_[i][k]);
    out.f32(kappa_[i]);
    out.f32(kappaRate_[i]);
    out.u32(ids_[i]);
    out.u8(phase_[i]);
  }
}

void Fluid::load(ByteReader& in) {
  const uint64_t count = in.u64("number of particles");
  in.need(count, 49, "particles");
  nextId_ = in.u32("number of particles ever");
  steps_ = in.u64("steps of the fluid");
  lastStep_ = in.f64("time step of the fluid");
  positions_.resize(count);
  motion_.resize(count);
  kappa_.resize(count);
  kappaRate_.resize(count);
  ids_.resize(count);
  phase_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    for (double& x : positions_[i]) x = in.f64("position");
    for (int k = 0; k < 3; ++k) motion_[i][k] = in.f32("velocity");
    kappa_[i] = in.f32("pressure");
    kappaRate_[i] = in.f32("pressure");
    ids_[i] = in.u32("particle");
    phase_[i] = in.u8("fluid");
    if (phase_[i] >= phases_.size())
      throw Error(ErrorKind::Format,
                  fmt::format("particle {} is of fluid {}, which is not there", i, phase_[i]));
    motion_[i].w() = float(settings_.referenceDensity / phases_[phase_[i]].density);
  }
  prepared_ = false;
}

uint64_t Fluid::hash() const {
  Hasher hasher;
  hasher.update(size());
  for (size_t i = 0; i < size(); ++i) {
    for (const double x : positions_[i]) hasher.update(x);
    for (int k = 0; k < 3; ++k) hasher.update(motion_[i][k]);
    hasher.update(ids_[i]);
  }
  return hasher.digest();
}

}  // namespace sunder::fluid
