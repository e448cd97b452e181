// Incompressible fluids of particles: divergence-free SPH (Bender and Koschier 2015, 2017) with boundaries
// that come from maps (boundary.h), not from particles.
//
// A step applies gravity, viscosity and what else is not pressure, then pressures that bring the density to
// rest at the end of the step; particles move; then pressures that take away what is left of the divergence.
// Both solvers are Jacobi iterations on the same factors and start from the last step's pressures. Densities
// are relative to rest, sums go over volumes: fluids of different density are one system. Three older solvers
// can take their place, for comparison (PressureSolver).
//
// Guarantees: particles act on each other and on bodies with equal and opposite impulses along their line, so
// momentum and angular momentum of all are kept to rounding (smoothing keeps momentum only). The same bits
// for any number of threads and after resuming. A number that is not finite stops the step with an Error
// (Numerical).
//
// Memory: 130 bytes a particle, 52 for the grid, and the lists of neighbours.
#pragma once

#include "sunder/fluid/boundary/boundary.h"
#include "sunder/fluid/solver/periodic.h"
#include "sunder/fluid/solver/sph_sums.h"
#include "sunder/spatial/points/neighbour_rows.h"
#include "sunder/spatial/points/point_grid.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder {
class ByteReader;
class ByteWriter;
}  // namespace sunder

namespace sunder::fluid {

// What keeps the density. The others do nothing about the divergence and are slower; all share kernel,
// neighbours, boundaries and the mean error they stop at.
enum class PressureSolver {
  DivergenceFree,       // DFSPH: Bender and Koschier 2015
  Implicit,             // IISPH: Ihmsen et al. 2014
  PositionBased,        // PBF: Macklin and Mueller 2013
  PredictiveCorrective  // PCISPH: Solenthaler and Pajarola 2009
};
// What the divergence-free solvers start from: nothing; the increments of the last step; half of its total,
// which comes to rest.
enum class WarmStart { None, Increments, Half };
// The error that is compared with the tolerance: the mean of what is too dense, or of all (which lets the
// surface hide compression; for comparison with published figures).
enum class MeanError { Compressed, Signed };

struct SolverSettings {
  double tolerance;  // of the density relative to rest: mean error, or mean change a step
  uint32_t least, most;
  bool enabled = true;
};

struct FluidSettings {
  double radius = 0.02;  // of particles, which are as far apart as two of them
  double support = 0;    // of the kernel; 0: four radii
  Vec3 gravity{0, -9.81, 0};
  double referenceDensity = 1000;
  double airDensity = 1.2;
  Vec3 wind{0, 0, 0};
  double courant = 0.4;  // diameters that the fastest may go in a step
  PressureSolver solver = PressureSolver::DivergenceFree;
  SolverSettings density{1e-4, 2, 100}, divergence{1e-3, 1, 100};
  WarmStart warmStart = WarmStart::Half;
  MeanError mean = MeanError::Compressed;
  double deficient = 0.6;  // particles less dense than this have no divergence to speak of
  // Supports that a particle may go in a step; what is faster is slowed down and counted. 0: as far as it
  // will.
  double farthest = 0;
  uint32_t reorderEvery = 16;  // steps, along the grid
  PeriodicSides periodic;
  // Central ones keep angular momentum; full ones are right in flows whose particles go in layers, where
  // central ones are too weak by up to a third.
  ViscousForces viscousForces = ViscousForces::Central;
};

struct FluidPhase {
  double density = 1000;    // at rest
  double viscosity = 1e-6;  // kinematic, m^2/s
  double smoothing = 0;     // XSPH: part of the difference to the neighbours that is taken away in a step
  double tension = 0;       // of the surface: strength of cohesion and of the pull on its curvature
  double vorticity =
      0;  // m^2/s: negative viscosity of what is resolved, as far as energy was lost (vorticity.cpp)
  double drag = 0;  // coefficient of the air's drag on what the wind meets (air_drag.cpp); 0.47 for balls
};

struct FluidStep {
  uint32_t densityIterations = 0, divergenceIterations = 0;
  double densityError = 0;                               // mean, relative, before the last iteration
  double divergenceError = 0;                            // mean change of the density in a step
  bool densityMissed = false, divergenceMissed = false;  // tolerances, with all iterations
  double fastest = 0;                                    // m/s
  uint64_t pairs = 0, nearBodies = 0;                    // neighbours; entries of particles in maps
  uint32_t viscosityIterations = 0;                      // 0: explicit
  bool viscosityMissed = false;
  uint64_t heldBack = 0;  // particles that were slowed down, as they would have gone too far in the step
};

struct Solved;  // pressure_iteration.h

class Fluid {
 public:
  // Throws Error (Usage) for settings that make no sense.
  explicit Fluid(const FluidSettings& settings);

  uint32_t addPhase(const FluidPhase& phase);
  // Throws Error (Usage) for positions or velocities that are not finite, or a phase that is not there.
  void add(std::span<const Vec3> positions, const Vec3& velocity, uint32_t phase = 0);
  // Marks positions in bodies: where one adds more than `most` to the density.
  void findBuried(std::span<const Vec3> positions, double most, std::span<uint8_t> buried) const;
  // Takes particles away: those whose number (by place in positions()) is set.
  void remove(std::span<const uint8_t> gone);

  // Bodies have the order of their being added. Their state is that at the end of the step to come.
  uint32_t addBody(const BoundaryBody& body);
  BoundaryBody& body(uint32_t index) { return bodies_[index]; }
  void removeBody(uint32_t index);  // keeps its place
  void keepBodies(uint32_t count);  // the first ones; the others are forgotten
  size_t bodyCount() const { return bodies_.size(); }
  bool touches(uint32_t body) const {  // as of the last step
    return body + 1 < entries_.bodyStart.size() && entries_.bodyStart[body + 1] > entries_.bodyStart[body];
  }

  // Moves particles, without giving them speed, until none is denser than rest by more than `tolerance`, or
  // so many rounds are over: for blocks that were just added, which press against corners of walls, or each
  // other, more than water does. Returns the largest error left.
  double relax(double tolerance = 0.02, uint32_t rounds = 100);
  // What follows from positions and bodies as they are now. A step does that at its end, for bodies as they
  // are then; who restores a state does it with the bodies of that state.
  void prepare();
  // The longest step that the fastest particle allows; infinite where nothing moves.
  double stepLimit() const;
  FluidStep step(double dt);
  // Of the last step, by body.
  const std::vector<BoundaryImpulse>& impulses() const { return impulses_; }

  size_t size() const { return positions_.size(); }
  const std::vector<Vec3>& positions() const { return positions_; }
  void setVelocity(size_t i, const Vec3& velocity) { motion_[i].head<3>() = velocity.cast<float>(); }
  Vec3 velocity(size_t i) const { return motion_[i].head<3>().cast<double>(); }
  std::span<const Vec4f> motion() const { return motion_; }
  const std::vector<uint32_t>& ids() const { return ids_; }  // in the order of birth, forever
  const std::vector<uint8_t>& phases() const { return phase_; }
  const FluidSettings& settings() const { return settings_; }
  double support() const { return support_; }  // of the kernel
  double particleVolume() const { return volume_; }
  double mass(size_t i) const { return volume_ * phases_[phase_[i]].density; }
  // Density relative to rest and pressure of the last step, Pa.
  double density(size_t i) const { return double(density_[i].w() + boundary_[i].w()); }
  double pressure(size_t i) const;
  // The largest rate at which a particle gets denser now, relative to rest, 1/s.
  double largestDivergence();

  size_t bytes() const;  // of state, besides lists of neighbours
  void save(ByteWriter& out) const;
  void load(ByteReader& in);
  uint64_t hash() const;

 private:
  PairSums pairs() const;
  void reorder();
  void evaluate();  // densities, maps and factors where the particles are, among the neighbours they had
  void advance(double dt, FluidStep& report);
  bool strict() const { return settings_.mean == MeanError::Compressed; }
  void applyForces(double dt, FluidStep& report);
  void densityErrors(double dt);
  void solveDensity(double dt, FluidStep& report);
  void boundaryRates();  // of bodies' motion, into predicted_
  void divergenceErrors();
  void solveDivergence(double dt, FluidStep& report);
  void solveImplicit(double dt, FluidStep& report);
  void solvePredictive(double dt, FluidStep& report);
  void solvePositions(double dt, FluidStep& report);  // of particles that have moved
  void warmStart(std::vector<float>& kappa, double scale, double dt);
  // Errors into rate_ by `errors`, pressures from them, until the tolerance is met. `scale`: dt^2 or dt.
  template <class Errors>
  Solved solve(const SolverSettings& solver, std::vector<float>& kappa, double scale, double errorScale,
               bool strict, double dt, const Errors& errors);
  void applyViscosity(double dt, FluidStep& report);
  void applyVorticity(double dt);
  void applyDrag(double dt);
  bool stirs() const;            // whether a phase has vorticity
  double kineticEnergy() const;  // over the reference density and the volume of a particle
  template <class Strength, class Sum>
  void exchange(const Strength& strength, const Sum& sum);
  void applyPressure(double dt);  // of stiffness_
  void addImpulses(double dt, std::span<const float> stiffness, bool ofMovable);
  bool movable(size_t body) const;                          // by the fluid, in this step
  bool anyMovable() const;                                  // of those that the fluid meets
  Vec3 bodyVelocity(size_t body, const Vec3& point) const;  // with what the step did to it so far
  void holdBack(double dt, FluidStep& report);
  void joinBodies();  // samples of entries_ to boundary_
  double errorAtBodies() const;
  struct Surroundings;
  Surroundings surroundings(size_t body) const;
  bool isBetweenBodies(uint32_t particle) const;
  void pressFilms(double dt);  // between bodies, by the pressures of the last step
  void pressFilm(size_t body, std::span<const uint32_t> cover, double dt);
  void addMobility();           // of bodies, to factor_
  void rub(double dt);          // friction on bodies, by the pressures of the step
  void stick(double dt);        // viscosity on bodies without slip
  void addBoundary(double dt);  // what bodies add to the density at the end of the step, to rate_
  double fastest() const;

  FluidSettings settings_;
  double support_, diameter_, volume_;
  std::vector<FluidPhase> phases_;
  std::vector<BoundaryBody> bodies_;
  std::vector<BoundaryImpulse> impulses_;

  // State, by particle.
  std::vector<Vec3> positions_;
  std::vector<Vec4f> motion_;             // velocity and lightness
  std::vector<float> kappa_, kappaRate_;  // stiffness times dt^2 and dt, of the last step
  std::vector<uint32_t> ids_;
  std::vector<uint8_t> phase_;
  uint32_t nextId_ = 0;
  uint64_t steps_ = 0;
  double lastStep_ = 0;
  double lost_ = 0;  // kinetic energy by friction and the divergence solver since vorticity was last applied

  // Made from it.
  bool prepared_ = false;
  bool held_ = false;  // bodies stay where they are
  Vec3 origin_ = Vec3::Zero();
  spatial::PointGrid grid_;
  PeriodicSearch periodic_;
  spatial::NeighbourRows rows_;
  PairBlocks blocks_;
  std::vector<Vec4f> place_;     // relative to the origin
  std::vector<Vec4f> density_;   // of the fluid: gradient and value
  std::vector<Vec4f> boundary_;  // the same of all bodies
  std::vector<Vec4f> gradient_;  // scratch: of pressure
  std::vector<float> factor_, rate_, predicted_, applied_, stiffness_;
  BoundaryEntries entries_;
  // Particles near several bodies: how the densities of those are joined.
  struct Joint {
    Vec3f direction = Vec3f::Zero(), slope = Vec3f::Zero();  // sums of unit gradients, of weighted ones
    float count = 0, power = 4, largest = 0, sum = 0;

    float raise(float value) const;
    float root(float sum) const;
  };
  std::vector<Joint> joints_;
  std::vector<uint32_t> joint_;  // by particle, plus one; 0: at most one body is near
};

}  // namespace sunder::fluid
