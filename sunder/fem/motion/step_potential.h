// The potential J that a step minimises (motion.h), with its gradient and curvature. Unknowns are the
// positions of the vertices at the end of the step, then the blocks that terms bring. Private to the room.
#pragma once

#include "sunder/fem/motion/motion.h"
#include "sunder/fem/motion/step_system.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::fem {

// How far the scheme looks into the step: 1 or 1/2.
inline double schemeShare(MotionScheme scheme) { return scheme == MotionScheme::ImplicitEuler ? 1 : 0.5; }

class StepPotential {
 public:
  // Everything given must outlive the step. `predicted` is p.
  void begin(const Solid& solid, const MotionSettings& settings, double h, std::span<const Vec3> start,
             std::span<const Vec3> velocities, std::span<const Vec3> predicted,
             std::span<StepTerm* const> terms, const Loads& loads);

  // The sum, and the sum of what its parts are in magnitude, for judging what rounding may have done.
  struct Value {
    double sum = 0, size = 0;
  };
  Value value(std::span<const Vec3> x);
  // All rows, those of held components too.
  void gradient(std::span<const Vec3> x, std::span<Vec3> result);
  // Of the last gradient().
  std::span<const Vec3> elasticForces() const { return forces_; }
  std::span<const Vec3> termGradient() const { return termGradient_; }
  // Fills the system with the second derivative, up to what Tangent says.
  void curvature(std::span<const Vec3> x, Tangent kind, StepSystem& system);

  std::span<StepTerm* const> terms() const { return terms_; }
  // What a mass is multiplied by on the diagonal of the second derivative, without what single vertices have.
  double massScale() const { return inertia_ + massDamping_; }
  double massScale(size_t vertex) const { return inertia_ + massDampingOf(vertex); }

 private:
  std::span<const Vec3> configuration(std::span<const Vec3> x);
  double massDampingOf(size_t vertex) const {
    return massDampings_.empty() ? massDamping_ : massDampings_[vertex];
  }

  const Solid* solid_ = nullptr;
  std::span<const Vec3> start_, predicted_;
  std::span<StepTerm* const> terms_;
  double share_ = 1;                      // q
  double inertia_ = 0, massDamping_ = 0;  // 1 / (q h^2), a / h
  std::vector<double> massDampings_;      // a / h of each vertex, where they differ
  bool damped_ = false;                   // by stiffness
  BlockMatrix damping_;                   // b K / h, half a step on
  OuterTerms dampingOuter_;
  std::vector<Vec3> configuration_, forces_, termGradient_, way_, dampingForce_;
};

}  // namespace sunder::fem
