// Incompressible fluids of particles: divergence-free SPH (Bender and Koschier 2015, 2017) with boundaries
// that come from maps (boundary.h), not from particles.
//
// A step applies gravity, viscosity and what else is not pressure, then pressures that bring the density to
// rest at the end of the step; particles move; then pressures that take away what is left of the divergence.
// Both solvers are Jacobi iterations on the same factors and start from the last step's pressures. Densities
// are relative to rest, sums go over volumes: fluids of different density are one system. Three older solvers
// can take their place, for comparison (PressureSolver).
//
// This class owns the state and says in which order it is worked on; each method is a unit of its own:
//
//   state/     fluid_state.h: what is saved; fluid_neighbours.h: what is made of it; fluid_model.h: settings
//   forces/    viscosity.h, xsph.h, vorticity.h, surface_tension.h, air_drag.h
//   pressure/  dfsph.h, iisph.h, pbf.h, pcisph.h on the arrays of pressure_system.h; relaxation.h
//   coupling/  body_coupling.h and body_density.h: bodies; films.h, wall_friction.h, wall_viscosity.h
//   sums/      sums over neighbours in vector form
//
// Guarantees: particles act on each other and on bodies with equal and opposite impulses along their line, so
// momentum and angular momentum of all are kept to rounding (smoothing keeps momentum only). The same bits
// for any number of threads and after resuming. A number that is not finite stops the step with an Error
// (Numerical).
//
// Memory: 130 bytes a particle, 52 for the grid, and the lists of neighbours.
#pragma once

#include "sunder/fluid/boundary/boundary.h"
#include "sunder/fluid/coupling/body_coupling.h"
#include "sunder/fluid/pressure/pressure_system.h"
#include "sunder/fluid/state/fluid_model.h"
#include "sunder/fluid/state/fluid_neighbours.h"
#include "sunder/fluid/state/fluid_state.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::fluid {

class Fluid {
 public:
  // Throws Error (Usage) for settings that make no sense.
  explicit Fluid(const FluidSettings& settings) : model_(makeFluidModel(settings)) {}

  uint32_t addPhase(const FluidPhase& phase) { return fluid::addPhase(model_, phase); }
  // Throws Error (Usage) for positions or velocities that are not finite, or a phase that is not there.
  void add(std::span<const Vec3> positions, const Vec3& velocity, uint32_t phase = 0);
  // Marks positions in bodies: where one adds more than `most` to the density.
  void findBuried(std::span<const Vec3> positions, double most, std::span<uint8_t> buried) const;
  // Takes particles away: those whose number (by place in positions()) is set.
  void remove(std::span<const uint8_t> gone);

  // Bodies have the order of their being added. Their state is that at the end of the step to come.
  uint32_t addBody(const BoundaryBody& body);
  BoundaryBody& body(uint32_t index) { return coupling_.bodies[index]; }
  const BoundaryBody& body(uint32_t index) const { return coupling_.bodies[index]; }
  void removeBody(uint32_t index);  // keeps its place
  void keepBodies(uint32_t count);  // the first ones; the others are forgotten
  size_t bodyCount() const { return coupling_.bodies.size(); }
  bool touches(uint32_t body) const { return coupling_.touches(body); }  // as of the last step

  // Moves particles, without giving them speed, until none is denser than rest by more than `tolerance`, or
  // so many rounds are over (relaxation.h). Returns the largest error left.
  double relax(double tolerance = 0.02, uint32_t rounds = 100);
  // What follows from positions and bodies as they are now. A step does that at its end, for bodies as they
  // are then; who restores a state does it with the bodies of that state.
  void prepare();
  // The longest step that the fastest particle allows; infinite where nothing moves.
  double stepLimit() const;
  FluidStep step(double dt);
  // Of the last step, by body.
  const std::vector<BoundaryImpulse>& impulses() const { return coupling_.impulses; }
  // The same by point, for a body of points (boundary_samples.h).
  std::span<const Vec3> sampleImpulses(uint32_t body) const { return coupling_.sampleMotions[body].impulses; }

  size_t size() const { return state_.size(); }
  const std::vector<Vec3>& positions() const { return state_.positions; }
  void setVelocity(size_t i, const Vec3& velocity) { state_.motion[i].head<3>() = velocity.cast<float>(); }
  Vec3 velocity(size_t i) const { return state_.velocity(i); }
  std::span<const Vec4f> motion() const { return state_.motion; }
  const std::vector<uint32_t>& ids() const { return state_.ids; }  // in the order of birth, forever
  const std::vector<uint8_t>& phases() const { return state_.phases; }
  const FluidSettings& settings() const { return model_.settings; }
  double support() const { return model_.support; }  // of the kernel
  double particleVolume() const { return model_.volume; }
  double mass(size_t i) const { return model_.mass(state_.phases[i]); }
  // Density relative to rest and pressure of the last step, Pa.
  double density(size_t i) const { return double(neighbours_.density[i].w() + coupling_.density[i].w()); }
  double pressure(size_t i) const { return pressureOf(model_, state_, i); }
  // The largest rate at which a particle gets denser now, relative to rest, 1/s.
  double largestDivergence();

  size_t bytes() const;  // of state, besides lists of neighbours
  void save(ByteWriter& out) const { saveParticles(state_, out); }
  void load(ByteReader& in);
  uint64_t hash() const { return hashParticles(state_); }

 private:
  PressureStep pressureStep(double dt);
  void evaluateAnew() { evaluate(model_, state_, neighbours_, coupling_, arrays_); }
  void applyForces(double dt, FluidStep& report);
  void solveBeforeMoving(double dt, FluidStep& report);
  void solveAfterMoving(double dt, FluidStep& report);
  void move(double dt);
  void limitSpeed(double dt, FluidStep& report);

  FluidModel model_;
  FluidState state_;

  // Made from them and the bodies; as they are now if `prepared_`.
  bool prepared_ = false;
  FluidNeighbours neighbours_;
  BodyCoupling coupling_;
  PressureArrays arrays_;
};

}  // namespace sunder::fluid
