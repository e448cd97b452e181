// Preconditioned conjugate gradients (Hestenes and Stiefel 1952) over BlockMatrix. Preconditioners: the 3x3
// blocks of the diagonal, or an incomplete Cholesky factor with the pattern of the matrix; where that meets a
// block that is not positive definite the diagonal is raised and it starts again (Manteuffel 1980).
//
// Guarantee: the residual, computed afresh at the end, is at most `tolerance` times the right-hand side, or
// Error (Numerical); where rounding does not let it get there, the best that double precision gives is
// accepted once the residual stands at 1e-8. With SolverSettings::bestSoFar a solve that runs out of
// iterations ends with what it has, and says so (converged(), residual()). Same bits for any number of
// threads. Memory is that of the matrix, twice with the incomplete factor. Products are parallel, the
// incomplete factor's substitutions are not.
#pragma once

#include "sunder/fem/solver.h"

namespace sunder::fem {

class ConjugateGradients final : public LinearSolver {
 public:
  explicit ConjugateGradients(const SolverSettings& settings) : settings_(settings) {}
  std::string_view name() const override { return "pcg"; }
  void factor(const BlockMatrix& matrix) override;
  void solve(std::span<const Vec3> b, std::span<Vec3> x) override;
  // z = what stands for the inverse of the matrix * r; for systems of which the matrix is a part. Needs the
  // pattern alone of the matrix that was factored.
  void precondition(std::span<const Vec3> r, std::span<Vec3> z) const;

  size_t iterations() const override { return iterations_; }
  bool converged() const override { return converged_; }
  double residual() const { return residual_; }  // relative

 private:
  void invertDiagonal(double raised);
  bool incompleteFactor(double raised);

  SolverSettings settings_;
  const BlockMatrix* matrix_ = nullptr;
  std::vector<Mat3> factor_;   // incomplete: blocks below the diagonal
  std::vector<Mat3> inverse_;  // of the diagonal blocks: of the matrix, or of the factor's triangles
  std::vector<Vec3> r_, z_, p_, q_, x_;
  size_t iterations_ = 0;
  double residual_ = 0;
  bool converged_ = true;
};

}  // namespace sunder::fem
