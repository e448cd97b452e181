// What the pressure solvers of a fluid (dfsph.h, iisph.h, pbf.h, pcisph.h) have in common: the arrays of
// their iterations, and the two halves of one: errors of the density, and stiffness that acts on velocities
// and bodies.
//
// Stiffness is pressure over reference density, m^2/s^2, by particle. Acting over dt it changes velocities by
// -dt lightness_i V sum_j (k_i + k_j) grad W_ij, and by -dt lightness_i k_i times the gradient of the
// boundary density, which the bodies get in turn: so momentum and angular momentum are kept to rounding.
#pragma once

#include "sunder/base/math.h"
#include "sunder/fluid/coupling/body_coupling.h"
#include "sunder/fluid/state/fluid_neighbours.h"

#include <span>
#include <vector>

namespace sunder::fluid {

// By particle. Between steps only the factor holds; the others are scratch, which forces use too
// (pair_forces.h).
struct PressureArrays {
  // 1 over what stiffness of one does to the rate of the particle's density over a unit of time, m^2: alpha
  // of Bender and Koschier 2015, up to a constant. 0: next to nothing is near that could be pressed away.
  std::vector<float> factor;
  std::vector<float> error;  // of the density relative to rest, or of its rate, 1/s: as an iteration found it
  std::vector<float> stiffness;  // of an iteration
  std::vector<float> applied;    // stiffness of all iterations of a solve so far
  std::vector<float> bodyRate;   // taken off the rate by the motion of bodies, 1/s; else scratch
  std::vector<Vec4f> gradient;   // of the pressure, as sumPressure gives it

  size_t bytes() const;
};

// Views of what a pressure solver reads and writes; they hold until particles change places in memory.
struct PressureStep {
  double dt;  // s
  const FluidModel& model;
  const FluidNeighbours& neighbours;
  std::span<const Vec3> positions;
  std::span<Vec4f> motion;  // written: velocities
  BodyCoupling& coupling;   // written: impulses
  PressureArrays& arrays;   // written: all but the factor

  size_t size() const { return motion.size(); }
  PairSums sums() const { return neighbours.sums(model, motion); }
  // Density relative to rest where particles are, bodies included.
  float density(size_t i) const { return neighbours.density[i].w() + coupling.density[i].w(); }
};

// Densities, what bodies add to them, and factors, where the particles are now, among the neighbours they
// had.
void evaluate(const FluidModel& model, const FluidState& state, FluidNeighbours& neighbours,
              BodyCoupling& coupling, PressureArrays& arrays);

// Lets arrays.stiffness act on velocities and movable bodies, and adds it to arrays.applied.
void applyPressure(const PressureStep& step);

// The impulses of a stiffness on bodies that the fluid does not move: once a solve, as no iteration looks at
// them.
void pressFixedBodies(const PressureStep& step, std::span<const float> stiffness);

// Sets arrays.error to the density at the end of the step beyond rest, by the velocities now. What is much
// denser than rest already becomes less so over the time that a fall over a support takes. To be rid of it in
// one step particles would become the faster the shorter the step is, and the step is the shorter the faster
// they are.
void predictDensityErrors(const PressureStep& step);

}  // namespace sunder::fluid
