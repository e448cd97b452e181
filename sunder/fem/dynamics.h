// Linear elastic motion of a free body under forces at its vertices, in small steps (specification 07, M3):
//
//   M u'' + D u' + K u = F,   D = alpha M + beta K
//
// The body is not held anywhere and needs not be: A = M + h D + h^2 K is positive definite. One factorisation
// serves all steps; another step length, scheme or damping keeps the analysis of the pattern. K itself is
// never formed: K u = (A u - (1 + h alpha) M u) / (h beta + h^2) turns the step into
//
//   v' = A^-1 [ M (v + c (1 + h alpha) u) + h F ] - c u,   c = 1 / (beta + h)
//
// so that a step is one substitution and a few sums. The trapezoidal rule is the same with half the step,
// taken to the middle and mirrored.
//
// Backward Euler damps a mode of frequency w by (1 + w^2 h^2)^(-1/2) a step; the trapezoidal rule by nothing,
// and both are stable for any step. A rigid velocity adds no stress (M2.5), so analyses start at rest.
// Guarantees: same bits for any number of threads; with alpha = 0 momentum grows by exactly the impulse, up
// to rounding. Arrays
// are kept from one body to the next; ordering a new mesh still allocates.
#pragma once

#include "sunder/fem/body.h"
#include "sunder/fem/point_force.h"
#include "sunder/fem/solver.h"

#include <memory>
#include <span>
#include <vector>

namespace sunder::fem {

enum class TimeScheme { BackwardEuler, Trapezoidal };

struct DynamicsSettings {
  double step = 1e-5;  // seconds
  TimeScheme scheme = TimeScheme::BackwardEuler;
  double alpha = 0, beta = 0;  // Rayleigh damping: 1/s and s
  MassKind mass = MassKind::Lumped;
  SolverSettings solver = {};
};

// The ratio to critical damping of a mode with angular frequency w.
inline double dampingRatio(double alpha, double beta, double w) { return alpha / (2 * w) + beta * w / 2; }

class ElasticDynamics {
 public:
  // Sets the body to rest; prepare() must follow. Throws what ElasticBody::set throws.
  void setBody(const geometry::TetMesh& mesh, const ElasticMaterial& material,
               std::span<const double> fractions = {});
  // Assembles and factors. The state stays. Throws Error (Usage) for a step that is not positive or damping
  // that is negative, and what the solver throws.
  void prepare(const DynamicsSettings& settings);

  // Back to u = v = 0 and time 0.
  void rest();
  // Both one per vertex; throws Error (Usage) otherwise.
  void setState(std::span<const Vec3> displacements, std::span<const Vec3> velocities);

  // One step under these forces: backward Euler takes those at the end of the step, the trapezoidal rule the
  // mean of those at its ends. Throws Error (Usage) for a vertex that is not there or before prepare().
  void step(std::span<const NodalForce> forces);

  double time() const { return time_; }
  std::span<const Vec3> displacements() const { return u_; }
  std::span<const Vec3> velocities() const { return v_; }
  Vec3 momentum() const;
  const ElasticBody& body() const { return body_; }
  const DynamicsSettings& settings() const { return settings_; }
  const LinearSolver& solver() const { return *solver_; }

 private:
  ElasticBody body_;
  DynamicsSettings settings_;
  BlockMatrix matrix_, massMatrix_;
  std::unique_ptr<LinearSolver> solver_;
  std::string solverKey_;
  std::vector<Vec3> u_, v_, right_, work_;
  double time_ = 0;
  bool prepared_ = false;
};

}  // namespace sunder::fem
