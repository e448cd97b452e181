// The motion of a deformable solid, in steps that each minimise an incremental potential (Kane, Marsden,
// Ortiz and West 2000, IJNME 49) over the positions x at the end of the step:
//
//   J(x) = |x - p|_M^2 / (2 q h^2) + E(x0 + q (x - x0)) / q + D(x - x0) / (2 h) + sum of the terms
//
// with q = 1 (implicit Euler) or 1/2 (implicit midpoint), p = x0 + h v0 + q h^2 M^-1 (loads), and Rayleigh's
// damping D = a |.|_M^2 + b (.)^T K (.), where K is the tangent at x0 + h v0 / 2 with rotations held. Its
// minimum is the step of the scheme, v1 = v0 + ((x - x0) / h - v0) / q. What terms add acts at x in both
// schemes, so that a term's impulse on the vertices is h times its force.
//
// Newton's method with a line search on J; the search starts where the acceleration of the last step leads.
// The tangent is exact where the system is positive definite with it (then Newton converges with order two),
// and made positive tetrahedron by tetrahedron where it is not. Prescribed components are taken out of the
// system, not held by springs.
//
// Implicit Euler: order one, damps every vibration, and a mode of frequency w by (1 + w^2 h^2)^(-1/2) a step.
// Implicit midpoint: order two. It keeps momentum, angular momentum and, where E is quadratic, the energy;
// where E is not, energy may grow, by what StepReport says (growth).
//
// Guarantees: same bits for any number of threads, and after load() of what save() wrote. The momentum of a
// connected part that is not held changes by exactly what loads, terms and mass damping give it, up to
// rounding: whatever the residual where no term acts on it, and where the step converged otherwise. Every
// step ends: after mostIterations or where J falls no further, the best state so far is kept and the report
// says so. Numbers that are not finite are an Error (Numerical) and leave the state as it was.
#pragma once

#include "sunder/fem/motion/loads.h"
#include "sunder/fem/motion/step_term.h"
#include "sunder/fem/solid/solid.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace sunder {
class ByteReader;
class ByteWriter;
}  // namespace sunder

namespace sunder::fem {

enum class MotionScheme : uint8_t { ImplicitEuler, ImplicitMidpoint };

// How the system of a Newton iteration is solved. All but the first of these precondition conjugate gradients
// over all of it, the outer terms included; Cholesky alone is a direct solver where there are none.
enum class MotionSolver : uint8_t {
  Auto,               // by size and stiffness: Cholesky, and one of the others for large meshes
  Cholesky,           // block_cholesky.h, over the pattern's part
  BlockJacobi,        // the 3x3 blocks of the diagonal
  IncompleteCholesky  // conjugate_gradients.h
};
std::string_view name(MotionSolver solver);  // "auto", "cholesky", "jacobi", "incomplete"
// Throws Error (Usage) with the names there are for one that is not.
MotionSolver motionSolver(std::string_view name);

struct MotionSettings {
  MotionScheme scheme = MotionScheme::ImplicitEuler;
  // Exact: the exact one first, Positive where it is indefinite. The others are taken as they are.
  Tangent tangent = Tangent::Exact;
  // Of the gradient of J, against the largest norm among loads, elastic forces, the gradient where the search
  // starts, and what gives all masses 1e-3 m/s^2. 1e-3 serves scenes. What rounding leaves counts as met.
  double tolerance = 1e-3;
  uint32_t mostIterations = 60;  // of Newton, in a step
  uint32_t mostRounds = 30;      // of terms that are brought up to date (StepTerm::update)
  double massDamping = 0;        // a, 1/s
  double stiffnessDamping = 0;   // b, s
  MotionSolver solver = MotionSolver::Auto;
  uint32_t mostSolverIterations = 2000;  // of conjugate gradients, in a Newton iteration
};

// What a step did, in counted work, and how it ended.
struct StepReport {
  uint32_t iterations = 0;        // of Newton
  uint32_t projected = 0;         // of those, where the exact tangent was indefinite
  uint32_t solverIterations = 0;  // of conjugate gradients
  uint32_t factors = 0;           // matrices factored
  uint32_t evaluations = 0;       // of J
  uint32_t rounds = 0;            // minima found; 1 without terms that ask for more
  double residual = 0;            // at the end, relative (MotionSettings::tolerance)
  bool converged = true;          // the tolerance was met, in as many rounds as the terms asked for
  bool stuck = false;             // J fell no further before that
  // Joules, of the vertices and elements alone.
  double kinetic = 0, elastic = 0;
  double work = 0;    // of loads, prescribed components and terms (their force at the end times the way)
  double growth = 0;  // what the energy grew by beyond that; negative: what damping took
};

class Motion {
 public:
  Motion();
  ~Motion();
  Motion(Motion&&) noexcept;
  Motion& operator=(Motion&&) noexcept;

  // At rest in the shape at rest, whose positions are given. The solid must outlive this, and corners of it
  // must be changed by addVertices() below only. Throws Error (Usage) for settings that make no sense.
  void set(Solid& solid, std::span<const Vec3> positions, const MotionSettings& settings = {});
  // Keeps the state.
  void setSettings(const MotionSettings& settings);
  const MotionSettings& settings() const;

  // Gives corners of tetrahedra to other vertices (a tear). `sources` has one entry for each new vertex, the
  // vertex, old or new before it, whose position and velocity it takes. Momentum and energies stay. Rebuilds
  // the pattern.
  void setCorners(std::span<const geometry::Tetrahedron> tets, std::span<const uint32_t> sources);

  size_t vertices() const;
  const Solid& solid() const;
  std::span<const Vec3> positions() const;
  std::span<const Vec3> velocities() const;
  // Both one a vertex and finite; Error (Usage) otherwise. Forgets the acceleration of the last step.
  void setState(std::span<const Vec3> positions, std::span<const Vec3> velocities);
  // Adds to positions and velocities what others did after the step, and keeps the acceleration. Both one a
  // vertex and finite; Error (Usage) otherwise.
  void displace(std::span<const Vec3> ways, std::span<const Vec3> gains);
  // The connected part of each vertex, by ascending first vertex.
  std::span<const uint32_t> parts() const;
  size_t partCount() const;

  // Throws Error (Usage) for a step that is not positive or loads that do not fit, Error (Numerical) with the
  // step and the first vertex for numbers that are not finite; then the state is as before, though terms have
  // begun a step that they do not end.
  StepReport step(double h, std::span<StepTerm* const> terms = {}, const Loads& loads = {});
  uint64_t steps() const;
  // Of the last step, N: what holds prescribed components, zero for all else.
  std::span<const Vec3> reactions() const;

  double kineticEnergy() const;
  double elasticEnergy() const;
  Vec3 momentum() const;
  Vec3 angularMomentum(const Vec3& about = Vec3::Zero()) const;

  // Corners, positions, velocities and what the next step starts from, not the settings. load() needs the
  // same solid as at set(), torn or not; throws Error (Format) for what does not fit it.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);
  uint64_t hash() const;  // of corners, positions and velocities

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sunder::fem
