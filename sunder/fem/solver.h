// Linear systems with symmetric positive definite BlockMatrix, by name.
//
//   block  supernodal Cholesky over 3x3 blocks, ours (block_cholesky.h): what auto takes nearly always
//   ldlt   Eigen's simplicial LDL^T with approximate minimum degree
//   dense  Eigen's dense LL^T: bodies of a few vertices
//   pcg    conjugate gradients, block Jacobi or incomplete Cholesky before them: little memory
//   auto   by the number of vertices
//
// All give the same answers up to rounding (pcg: to its tolerance), the same bits for any number of threads.
#pragma once

#include "sunder/fem/block_matrix.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sunder::fem {

class LinearSolver {
 public:
  virtual ~LinearSolver() = default;
  virtual std::string_view name() const = 0;
  // Keeps the analysis of the pattern for the next matrix that has it. The matrix must stay as it is until
  // the last solve. Throws Error (Numerical) where the matrix is not positive definite.
  virtual void factor(const BlockMatrix& matrix) = 0;
  // x = matrix^-1 * b; may be the same array. Not from two threads at once.
  virtual void solve(std::span<const Vec3> b, std::span<Vec3> x) = 0;
  // Of the last solve, for those that iterate: how many, and whether the tolerance was reached.
  virtual size_t iterations() const { return 0; }
  virtual bool converged() const { return true; }
};

enum class Preconditioner { BlockJacobi, IncompleteCholesky };

struct SolverSettings {
  std::string name = "auto";
  double tolerance = 1e-12;  // pcg: of the residual against the right-hand side
  // pcg: the budget of work; 0: thirty for each vertex. Beyond it Error (Numerical), or with `bestSoFar` the
  // last iterate, which of all so far has the smallest error in the norm of elastic energy.
  size_t mostIterations = 0;
  bool bestSoFar = false;
  Preconditioner preconditioner = Preconditioner::IncompleteCholesky;  // pcg
  // ldlt and dense: Eigen does not look at a request to stop (base/stop.h). With this, factor() throws Error
  // (Limit) for more than mostStoppableVertices(), so that a request never waits for long.
  bool stoppable = false;
};

// Throws Error (Usage) with the names there are for one that is not.
std::unique_ptr<LinearSolver> makeSolver(const SolverSettings& settings);
std::span<const std::string_view> solverNames();

// How many vertices the solver of this name takes if it must be stoppable; 0: any number. Measured on held
// balls: 0.5 s (dense, 825 vertices) and 0.35 s (ldlt, 1507), 2.3 s (dense, 1507) and 1.7 s (ldlt, 2771).
size_t mostStoppableVertices(std::string_view name);

// From this many vertices on `auto` takes pcg. Measured on held tori: 13 s and 16 s (block, pcg) with 16,000
// vertices, 51 s and 23 s with 35,000.
inline constexpr size_t kIterativeVertices = 20'000;

// A pivot that has lost all but this much of the matrix's diagonal is rounding: the matrix is singular.
inline constexpr double kSmallestPivot = 1e-12;

// Throws Error (Numerical) that says which vertex the matrix is singular or indefinite at.
[[noreturn]] void notPositive(uint32_t vertex);

}  // namespace sunder::fem
