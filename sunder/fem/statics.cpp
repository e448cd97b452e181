#include "sunder/fem/statics.h"

#include "sunder/base/error.h"

#include <cmath>

#include <fmt/format.h>

namespace sunder::fem {

namespace {

void requireVertex(uint32_t vertex, size_t count, const char* what) {
  if (vertex >= count)
    throw Error(ErrorKind::Usage, fmt::format("a {} at vertex {}, but there are {}", what, vertex, count));
}

}  // namespace

StaticSolution solveStatic(const ElasticBody& body, std::span<const Support> supports,
                           std::span<const NodalForce> forces, const Vec3& gravity,
                           const SolverSettings& settings) {
  const size_t n = body.vertices();
  std::vector<std::array<bool, 3>> held(n, {false, false, false});
  StaticSolution solution;
  std::vector<Vec3>& u = solution.displacements;
  u.assign(n, Vec3::Zero());
  for (const Support& support : supports) {
    requireVertex(support.vertex, n, "support");
    for (size_t k = 0; k < 3; ++k)
      if (support.held[k]) {
        held[support.vertex][k] = true;
        u[support.vertex][Eigen::Index(k)] = support.displacement[Eigen::Index(k)];
      }
  }
  std::vector<Vec3> load(n);
  for (size_t i = 0; i < n; ++i) load[i] = body.masses()[i] * gravity;
  for (const NodalForce& force : forces) {
    requireVertex(force.vertex, n, "force");
    load[force.vertex] += force.force;
  }

  const SparsePattern& pattern = body.pattern();
  BlockMatrix stiffness, reduced;
  stiffness.setPattern(pattern);
  assemble(body.elements(), body.material(), 0, 1, MassKind::Lumped, stiffness);
  std::vector<Vec3> right(n);
  stiffness.multiply(u, right);
  for (size_t i = 0; i < n; ++i) right[i] = load[i] - right[i];

  // Rows and columns of what is held become those of a diagonal matrix; what is solved for is the rest.
  reduced = stiffness;
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t slot = pattern.lowerStart(i);
    for (const uint32_t j : pattern.lowerRow(i)) {
      Mat3& block = reduced.block(slot++);
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b)
          if ((held[i][size_t(a)] || held[j][size_t(b)]) && !(i == j && a == b)) block(a, b) = 0;
    }
    for (int a = 0; a < 3; ++a)
      if (held[i][size_t(a)] || pattern.star(i).empty()) right[i][a] = 0;
  }
  const std::unique_ptr<LinearSolver> solver = makeSolver(settings);
  solver->factor(reduced);
  std::vector<Vec3> change(n);
  solver->solve(right, change);
  for (size_t i = 0; i < n; ++i) u[i] += change[i];

  solution.reactions.resize(n);
  stiffness.multiply(u, solution.reactions);
  double left = 0, acting = 0;
  for (size_t i = 0; i < n; ++i)
    for (int a = 0; a < 3; ++a) {
      const double force = solution.reactions[i][a] - load[i][a];
      const bool isHeld = held[i][size_t(a)];
      if (!isHeld && !pattern.star(i).empty()) left += force * force;
      acting += right[i][a] * right[i][a];
      solution.reactions[i][a] = isHeld ? force : 0;
    }
  solution.residual = acting > 0 ? std::sqrt(left / acting) : 0;
  solution.solver = solver->name();
  solution.iterations = solver->iterations();
  solution.converged = solver->converged();
  return solution;
}

}  // namespace sunder::fem
