// The two solvers: pressures that keep the density, pressures that keep the velocity free of divergence.
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/fluid/fluid.h"
#include "sunder/fluid/pressure_iteration.h"
#include "sunder/fluid/sph_sums.h"

#include <algorithm>
#include <cmath>

namespace sunder::fluid {

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

// Exactly, where the particles will be.
void Fluid::addBoundary(double dt) {
  for (size_t b = 0; b < bodies_.size(); ++b) {
    const BoundaryBody& body = bodies_[b];
    const uint32_t first = entries_.bodyStart[b], count = entries_.bodyStart[b + 1] - first;
    const Mat3 turn = body.rotation.transpose();
    parallelBlocks(count, 512, [&](size_t begin, size_t end) {
      std::vector<Vec4f> points(end - begin);
      std::vector<float> values(end - begin);
      for (size_t e = begin; e < end; ++e) {
        const uint32_t i = entries_.particle[first + e];
        const Vec3 next = positions_[i] + dt * motion_[i].head<3>().cast<double>();
        points[e - begin] = withFourth((turn * (next - body.position)).cast<float>(), 0);
      }
      body.map->values(points, values);
      for (size_t e = begin; e < end; ++e) rate_[entries_.particle[first + e]] += values[e - begin];
    });
  }
}

// Predicted density beyond rest.
void Fluid::densityErrors(double dt) {
  sumRate(pairs(), rate_);
  parallelFor(size(), [&](size_t i) { rate_[i] = (density_[i].w() - 1) + float(dt) * rate_[i]; });
  addBoundary(dt);
}

template <class Errors>
Solved Fluid::solve(const SolverSettings& solver, std::vector<float>& kappa, double scale, double errorScale,
                    bool onlyAbove, double dt, const Errors& errors) {
  if (settings_.warmStart != WarmStart::None) errors();
  warmStart(kappa, 1 / scale, dt);
  const bool total = settings_.warmStart == WarmStart::Half;
  if (!total) std::fill(kappa.begin(), kappa.end(), 0.0f);
  const Solved solved = iterate(solver, [&] {
    errors();
    parallelFor(size(),
                [&](size_t i) { stiffness_[i] = std::max(rate_[i], 0.0f) * factor_[i] / float(scale); });
    applyPressure(dt);
    if (!total) parallelFor(size(), [&](size_t i) { kappa[i] += stiffness_[i] * float(scale); });
    return errorScale * meanError(rate_, onlyAbove);
  });
  if (total) parallelFor(size(), [&](size_t i) { kappa[i] = applied_[i] * float(scale); });
  addImpulses(dt, applied_);
  return solved;
}

void Fluid::solveDensity(double dt, FluidStep& report) {
  const ProfileScope scope("constant density");
  solve(settings_.density, kappa_, dt * dt, 1, strict(), dt, [&] { densityErrors(dt); }).tell(report);
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

void Fluid::boundaryRates() {
  std::fill(predicted_.begin(), predicted_.end(), 0.0f);
  for (size_t b = 0; b < bodies_.size(); ++b)
    for (uint32_t e = entries_.bodyStart[b]; e < entries_.bodyStart[b + 1]; ++e) {
      const uint32_t i = entries_.particle[e];
      predicted_[i] += entries_.sample[e].head<3>().dot(bodies_[b].velocityAt(positions_[i]).cast<float>());
    }
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

void Fluid::addImpulses(double dt, std::span<const float> stiffness) {
  const double scale = settings_.referenceDensity * volume_ * dt;
  for (size_t b = 0; b < bodies_.size(); ++b) {
    BoundaryImpulse& sum = impulses_[b];
    for (uint32_t e = entries_.bodyStart[b]; e < entries_.bodyStart[b + 1]; ++e) {
      const uint32_t i = entries_.particle[e];
      const Vec3 impulse = scale * double(stiffness[i]) * entries_.sample[e].head<3>().cast<double>();
      sum.linear += impulse;
      sum.angular += (positions_[i] - bodies_[b].centre).cross(impulse);
    }
  }
}

double Fluid::relax(double tolerance, uint32_t rounds) {
  constexpr double kFarthest = 0.1;  // diameters in a round
  constexpr uint32_t kMost = 100;    // iterations: where there is no room, pressures would grow forever
  const double dt = 1e-3;            // cancels
  std::vector<Vec4f> motion = motion_;
  std::vector<uint32_t> ids = ids_;
  const SolverSettings given = settings_.density;
  settings_.density.most = std::min(given.most, kMost);
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
  settings_.density = given;
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

}  // namespace sunder::fluid
