// How a moving solid gives way to impulses that others find while they iterate, such as a liquid that looks
// for its pressures: the linear part of an implicit Euler step from the present state,
//
//   (M + h D + h^2 K) dv = j
//
// with K the tangent with rotations held (positive always) and Rayleigh's damping D. A step that had known of
// the impulses j from its start would have ended dv faster, to first order; moved by h dv in a step, the
// solid resists as it deforms, so no ratio of masses and no stiffness makes the exchange unstable.
//
// Guarantees: linear, symmetric and positive up to the tolerance of the solve; the momentum of a connected
// part that is not held changes by exactly the impulses on it and what mass damping takes, up to rounding;
// what is held does not move. Same bits for any number of threads.
//
// Cost: a matrix and its factor when begun, then a solve each: a substitution, or a few conjugate gradients
// where materials are nearly incompressible or the mesh is large (step_system.h).
#pragma once

#include "sunder/fem/motion/loads.h"
#include "sunder/fem/motion/motion.h"

#include <memory>
#include <span>

namespace sunder::fem {

class StepResponse {
 public:
  StepResponse();
  ~StepResponse();

  // The matrix of the state as it is. Of the loads, pins and damping count. Throws Error (Numerical) where
  // the matrix is not positive definite, as with positions that are not finite.
  void begin(const Motion& motion, double h, const Loads& loads);
  // One entry a vertex: N s to m/s.
  void velocities(std::span<const Vec3> impulses, std::span<Vec3> changes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sunder::fem
