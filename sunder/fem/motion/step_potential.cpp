#include "sunder/fem/motion/step_potential.h"

#include "sunder/fem/motion/vector_sums.h"

#include <algorithm>
#include <cmath>

namespace sunder::fem {

namespace {

// result += (sum of the outer products) * x; returns x^T (that).
double addOuterProduct(const OuterTerms& outer, std::span<const Vec3> x, std::span<Vec3> result) {
  double energy = 0;
  for (size_t t = 0; t < outer.size(); ++t) {
    double sum = 0;
    for (uint32_t k = outer.starts[t]; k < outer.starts[t + 1]; ++k)
      sum += outer.blocks[k].dot(x[outer.rows[k]]);
    energy += outer.weights[t] * sum * sum;
    for (uint32_t k = outer.starts[t]; k < outer.starts[t + 1]; ++k)
      result[outer.rows[k]] += outer.weights[t] * sum * outer.blocks[k];
  }
  return energy;
}

}  // namespace

void StepPotential::begin(const Solid& solid, const MotionSettings& settings, double h,
                          std::span<const Vec3> start, std::span<const Vec3> velocities,
                          std::span<const Vec3> predicted, std::span<StepTerm* const> terms,
                          const Loads& loads) {
  solid_ = &solid;
  start_ = start;
  predicted_ = predicted;
  terms_ = terms;
  share_ = schemeShare(settings.scheme);
  inertia_ = 1 / (share_ * h * h);
  massDamping_ = settings.massDamping / h;
  massDampings_.clear();
  for (const double a : loads.massDamping) massDampings_.push_back(massDamping_ + a / h);
  damped_ = settings.stiffnessDamping > 0;
  for (const double b : loads.stiffnessDamping) damped_ = damped_ || b > 0;
  const size_t n = start.size();
  forces_.resize(n);
  configuration_.resize(share_ == 1 ? 0 : n);
  if (!damped_) return;
  way_.resize(n);
  dampingForce_.resize(n);
  damping_.setPattern(solid.pattern());
  dampingOuter_.clear();
  // Taken at the start, it would see the chord of a turning body as a contraction.
  for (size_t i = 0; i < n; ++i) way_[i] = start[i] + h / 2 * velocities[i];
  if (loads.stiffnessDamping.empty()) {
    solid.addTangent(way_, Tangent::Frozen, settings.stiffnessDamping / h, damping_, dampingOuter_);
    return;
  }
  // Parts that are connected have one damping, and nothing in common with others.
  solid.addTangent(way_, Tangent::Frozen, 1, damping_, dampingOuter_);
  const auto scale = [&](size_t vertex) {
    return (settings.stiffnessDamping + loads.stiffnessDamping[vertex]) / h;
  };
  const SparsePattern& pattern = solid.pattern();
  for (size_t i = 0; i < pattern.rows(); ++i)
    for (uint32_t slot = pattern.lowerStart(i); slot <= pattern.diagonal(i); ++slot)
      damping_.block(slot) *= scale(i);
  for (size_t t = 0; t < dampingOuter_.size(); ++t)
    dampingOuter_.weights[t] *= scale(dampingOuter_.rows[dampingOuter_.starts[t]]);
}

// Where the elastic energy is taken.
std::span<const Vec3> StepPotential::configuration(std::span<const Vec3> x) {
  const size_t n = start_.size();
  if (share_ == 1) return x.first(n);
  parallelFor(
      n, [&](size_t i) { configuration_[i] = start_[i] + share_ * (x[i] - start_[i]); }, kSumGrain);
  return configuration_;
}

StepPotential::Value StepPotential::value(std::span<const Vec3> x) {
  const std::span<const double> masses = solid_->masses();
  const size_t n = start_.size();
  const double inertia = blockSum(n, [&](size_t i) {
    return 0.5 * masses[i] *
           (inertia_ * (x[i] - predicted_[i]).squaredNorm() +
            massDampingOf(i) * (x[i] - start_[i]).squaredNorm());
  });
  const double elastic = solid_->energy(configuration(x)) / share_;
  Value value{inertia + elastic, std::abs(inertia) + std::abs(elastic)};
  if (damped_) {
    parallelFor(
        n, [&](size_t i) { way_[i] = x[i] - start_[i]; }, kSumGrain);
    damping_.multiply(way_, dampingForce_);
    const double damping =
        0.5 * innerProduct(way_, dampingForce_) + 0.5 * addOuterProduct(dampingOuter_, way_, dampingForce_);
    value.sum += damping;
    value.size += std::abs(damping);
  }
  for (const StepTerm* term : terms_) {
    const double energy = term->energy(x);
    value.sum += energy;
    value.size += std::abs(energy);
  }
  return value;
}

void StepPotential::gradient(std::span<const Vec3> x, std::span<Vec3> result) {
  const std::span<const double> masses = solid_->masses();
  const size_t n = start_.size();
  std::fill(forces_.begin(), forces_.end(), Vec3::Zero());
  solid_->addForces(configuration(x), forces_);
  termGradient_.assign(x.size(), Vec3::Zero());
  for (const StepTerm* term : terms_) term->addGradient(x, termGradient_);
  if (damped_) {
    parallelFor(
        n, [&](size_t i) { way_[i] = x[i] - start_[i]; }, kSumGrain);
    damping_.multiply(way_, dampingForce_);
    addOuterProduct(dampingOuter_, way_, dampingForce_);
  }
  parallelFor(
      n,
      [&](size_t i) {
        Vec3 sum = masses[i] * (inertia_ * (x[i] - predicted_[i]) + massDampingOf(i) * (x[i] - start_[i]));
        sum -= forces_[i];
        if (damped_) sum += dampingForce_[i];
        result[i] = sum + termGradient_[i];
      },
      kSumGrain);
  for (size_t i = n; i < x.size(); ++i) result[i] = termGradient_[i];
}

void StepPotential::curvature(std::span<const Vec3> x, Tangent kind, StepSystem& system) {
  const std::span<const double> masses = solid_->masses();
  const SparsePattern& pattern = solid_->pattern();
  system.clear(pattern, x.size());
  BlockMatrix& matrix = system.matrix();
  // d2 of E(x0 + q (x - x0)) / q is q times the tangent there.
  solid_->addTangent(configuration(x), kind, share_, matrix, system.outer());
  parallelFor(
      pattern.rows(),
      [&](size_t i) {
        if (damped_)
          for (uint32_t slot = pattern.lowerStart(i); slot <= pattern.diagonal(i); ++slot)
            matrix.block(slot) += damping_.block(slot);
        const double mass = masses[i] > 0 ? massScale(i) * masses[i] : 1;
        matrix.block(pattern.diagonal(i)).diagonal().array() += mass;
      },
      kSumGrain);
  if (damped_)
    for (size_t t = 0; t < dampingOuter_.size(); ++t) {
      const uint32_t first = dampingOuter_.starts[t], count = dampingOuter_.starts[t + 1] - first;
      system.outer().add(dampingOuter_.weights[t], std::span(dampingOuter_.rows).subspan(first, count),
                         std::span(dampingOuter_.blocks).subspan(first, count));
    }
  for (const StepTerm* term : terms_) term->addCurvature(x, matrix, system.diagonal(), system.outer());
}

}  // namespace sunder::fem
