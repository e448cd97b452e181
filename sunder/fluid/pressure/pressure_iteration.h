// What all pressure solvers share: iterating until the mean error is small enough. The error is that which an
// iteration found, before its own correction; so the last one corrects once more than was asked for.
#pragma once

#include "sunder/fluid/state/fluid_settings.h"

#include <span>

namespace sunder::fluid {

struct Solved {
  uint32_t iterations = 0;
  double error = 0;     // that the last iteration found
  bool missed = false;  // the tolerance, with all iterations
};

// `iteration` returns the error it found.
template <class Iteration>
Solved iterate(const SolverSettings& solver, const Iteration& iteration) {
  Solved solved;
  for (bool close = false; !close || solved.iterations < solver.least;) {
    if (solved.iterations >= solver.most) {
      solved.missed = !close;
      break;
    }
    solved.error = iteration();
    ++solved.iterations;
    close = solved.error <= solver.tolerance;
  }
  return solved;
}

// Of all, or with those below zero as zero (MeanError::Compressed).
double meanError(std::span<const float> errors, MeanError mean);

}  // namespace sunder::fluid
