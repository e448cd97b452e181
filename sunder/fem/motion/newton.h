// Newton's method with a line search, for the potential of a step. Private to the room.
//
// A step of the search is taken where the residual shrinks and the slope along it has not turned up, which
// costs no value of J; otherwise it is halved until J falls enough (Armijo 1966) or, where rounding hides
// that, until the slope along it says so (Hager and Zhang 2005, SIAM J. Optim. 16). Systems are solved as far
// as the residual calls for (Eisenstat and Walker 1996, SIAM J. Sci. Comput. 17).
#pragma once

#include "sunder/fem/motion/step_potential.h"

#include <span>
#include <vector>

namespace sunder::fem {

class Newton {
 public:
  enum class End {
    Converged,
    Stuck,  // no way down was found
    Spent   // most iterations
  };
  // What does not change in a step.
  struct Task {
    StepPotential& potential;
    StepSystem& system;
    const MotionSettings& settings;
    std::span<const double> masses;
    std::span<const Vec3> free;  // as in StepSystem::prepare
    double scale = 0;            // what the residual is measured against
    double rounding = 0;         // below which the gradient means nothing; known after the first system
  };

  // Searches from x and leaves there what it found. `first`: the first search of a step, which raises the
  // scale to elastic forces and gradient where it starts. Adds to the counts of the report. Throws Error
  // (Numerical) where the gradient is not finite at the start.
  End minimise(Task& task, bool first, std::vector<Vec3>& x, StepReport& report);

  // At what was found, held components too, as are the parts of it that the potential keeps.
  std::span<const Vec3> gradient() const { return gradient_; }

 private:
  double freeNorm(const Task& task, std::span<const Vec3> g) const;
  double roundingOf(const Task& task, std::span<const Vec3> x) const;
  bool findDirection(Task& task, Tangent kind, double tolerance, std::span<const Vec3> x, StepReport& report);
  bool search(const Task& task, double norm, std::vector<Vec3>& x, StepReport& report);

  std::vector<Vec3> gradient_, next_, right_, direction_, trial_;
  // The least of a search: measured against that, steps that are taken without a look at J cannot go round in
  // circles, as they may where the energy of a term has kinks.
  double nextNorm_ = 0, leastNorm_ = 0;
};

// How much of the way dx all terms let vertices and blocks go at once.
double longestStep(std::span<StepTerm* const> terms, std::span<const Vec3> x, std::span<const Vec3> dx);

}  // namespace sunder::fem
