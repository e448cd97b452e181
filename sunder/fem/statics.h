// The shape that a held body takes under constant forces: K u = F, with displacements prescribed at supports.
#pragma once

#include "sunder/fem/body.h"
#include "sunder/fem/point_force.h"
#include "sunder/fem/solver.h"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace sunder::fem {

// A vertex whose displacement is given along some of the axes.
struct Support {
  uint32_t vertex = 0;
  std::array<bool, 3> held{true, true, true};
  Vec3 displacement = Vec3::Zero();
};

struct StaticSolution {
  std::vector<Vec3> displacements;
  std::vector<Vec3> reactions;  // forces of the supports, zero elsewhere; with the loads they sum to zero
  std::string solver;           // that did it
  size_t iterations = 0;        // of a solver that iterates
  double residual = 0;    // forces that are not in balance, against those that act; measured, for any solver
  bool converged = true;  // false: the iterations ended before the tolerance (SolverSettings::bestSoFar)
};

// `gravity` accelerates all of the mass. Two supports of one vertex: the later one counts along the axes it
// holds. Throws Error (Numerical) where the supports do not hold every part of the body against moving and
// turning, and Error (Usage) for vertices that are not there.
StaticSolution solveStatic(const ElasticBody& body, std::span<const Support> supports,
                           std::span<const NodalForce> forces, const Vec3& gravity = Vec3::Zero(),
                           const SolverSettings& solver = {});

}  // namespace sunder::fem
