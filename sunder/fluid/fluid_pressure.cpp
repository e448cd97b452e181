// The two solvers: pressures that keep the density, pressures that keep the velocity free of divergence.
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/fluid/fluid.h"
#include "sunder/fluid/sph_sums.h"

#include <algorithm>
#include <cmath>

namespace sunder::fluid {

namespace {

constexpr size_t kGrain = 4096;

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

}  // namespace

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

// What bodies add to the density where the particles will be; exactly, where their maps are exact.
void Fluid::predictBoundary(double dt) {
  parallelFor(size(), [&](size_t i) { predicted_[i] = density_[i].w(); });
  std::vector<float> values(entries_.particle.size());
  for (size_t b = 0; b < bodies_.size(); ++b) {
    const BoundaryBody& body = bodies_[b];
    const uint32_t first = entries_.bodyStart[b], count = entries_.bodyStart[b + 1] - first;
    if (count > 0 && !body.map->exact()) {
      parallelFor(count, [&](size_t e) {
        const uint32_t i = entries_.particle[first + e];
        const Vec4f& sample = entries_.sample[first + e];
        const Vec3f slip = motion_[i].head<3>() - body.velocityAt(positions_[i]).cast<float>();
        values[first + e] = sample.w() + float(dt) * sample.head<3>().dot(slip);
      });
      continue;
    }
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

}  // namespace sunder::fluid
