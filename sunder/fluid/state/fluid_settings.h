// What a user of a fluid says, liquid by liquid and for all of them, and what a step tells. Values only.
#pragma once

#include "sunder/base/math.h"
#include "sunder/fluid/state/periodic.h"
#include "sunder/fluid/sums/sph_forces.h"

#include <cstdint>

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

// One liquid.
struct FluidPhase {
  double density = 1000;    // at rest, kg/m^3
  double viscosity = 1e-6;  // kinematic, m^2/s
  double smoothing = 0;     // XSPH: part of the difference to the neighbours that is taken away in a step
  double tension = 0;       // of the surface: strength of cohesion and of the pull on its curvature
  double vorticity = 0;  // m^2/s: negative viscosity of what is resolved, within what was lost (vorticity.h)
  double drag = 0;       // coefficient of the air's drag on what the wind meets (air_drag.h); 0.47 for balls
};

// What a step tells.
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

}  // namespace sunder::fluid
