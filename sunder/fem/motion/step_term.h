// A term of the potential that a step of fem::Motion minimises, beside the elastic energy, the inertia and
// the damping of the mesh: contacts, attachments, prescribed motion.
//
// A term may bring unknowns of its own, blocks of three behind those of the vertices: a rigid body that takes
// part has two, how far it moves in the step and the vector that it turns by. What it has to say of their
// inertia is part of its energy.
//
// All arrays below hold the vertices first and then the blocks of all terms; `firstRow` is where this term's
// own ones begin. A term must give the same values for any number of threads.
#pragma once

#include "sunder/fem/block_matrix.h"
#include "sunder/fem/outer_terms.h"

#include <cstdint>
#include <span>

namespace sunder::fem {

struct StepStart {
  double h = 0;                      // s
  std::span<const Vec3> positions;   // of the vertices, at the start of the step
  std::span<const Vec3> velocities;  // there
  std::span<const Vec3> predicted;   // where the vertices would be without forces of the mesh and of terms
  uint32_t firstRow = 0;             // of this term's own blocks
};

class StepTerm {
 public:
  virtual ~StepTerm() = default;

  virtual uint32_t ownBlocks() const { return 0; }
  // A step begins. `own` are this term's blocks, to be set to where the search for the minimum starts.
  virtual void begin(const StepStart& /*start*/, std::span<Vec3> /*own*/) {}

  // J. May be anything that has gradient and curvature below; constants do not matter.
  virtual double energy(std::span<const Vec3> x) const = 0;
  // gradient += its derivative, rows as x.
  virtual void addGradient(std::span<const Vec3> x, std::span<Vec3> gradient) const = 0;
  // Adds a positive semidefinite second derivative: what fits the pattern of the mesh to `matrix`, what
  // couples a block with itself to `diagonal` (rows as x), all else to `outer`.
  virtual void addCurvature(std::span<const Vec3> x, BlockMatrix& matrix, std::span<Mat3> diagonal,
                            OuterTerms& outer) const = 0;
  // How much of the way `dx` may be gone at once, in (0, 1]: what continuous collision detection limits.
  virtual double longestStep(std::span<const Vec3> /*x*/, std::span<const Vec3> /*dx*/) const { return 1; }
  // The minimum was found, for the `round`th time in this step: what is lagged or augmented is brought up to
  // date. True where that calls for another round.
  virtual bool update(std::span<const Vec3> /*x*/, uint32_t /*round*/) { return false; }
  // Before end(): the energy, J, that the mesh had when the step began, with the work of loads and pins, less
  // what it has now: dissipation, and what terms took. A term that gives speed in end() may give no more.
  virtual void took(double /*energy*/) {}
  // The step is over, at `x`; `velocities` are those of the vertices, which the term may still change
  // (restitution).
  virtual void end(std::span<const Vec3> /*x*/, std::span<Vec3> /*velocities*/) {}
};

}  // namespace sunder::fem
