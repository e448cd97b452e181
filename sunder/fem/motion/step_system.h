// The symmetric system of a Newton iteration: a matrix over the pattern of the mesh, 3x3 blocks on the
// diagonal of the unknowns that terms bring, and outer products between any of them. Private to the room.
//
// What outer products add between vertices goes to the matrix where its pattern has room for it, as it has
// for what touches one tetrahedron. Conjugate gradients over the whole are preconditioned by a factor of the
// matrix and the inverse blocks of the other unknowns. Cholesky also takes in how the matrix and those (if
// they are few) depend on each other, by the Schur complement, so that it solves all alone, without
// iterations, but what outer products have left outside the pattern. Same bits for any number of threads.
#pragma once

#include "sunder/fem/block_cholesky.h"
#include "sunder/fem/block_matrix.h"
#include "sunder/fem/conjugate_gradients.h"
#include "sunder/fem/motion/motion.h"
#include "sunder/fem/motion/outer_products.h"
#include "sunder/fem/outer_terms.h"

#include <cstdint>
#include <span>
#include <vector>

#include <Eigen/Cholesky>

namespace sunder::fem {

class StepSystem {
 public:
  // All zero, over `rows` rows, the first of them those of the pattern.
  void clear(const SparsePattern& pattern, size_t rows);
  BlockMatrix& matrix() { return matrix_; }
  // By row. What is given for rows of the pattern is moved to the matrix by prepare().
  std::span<Mat3> diagonal() { return diagonal_; }
  OuterTerms& outer() { return outer_.terms(); }

  // To be called when all of it is there. `free` has 1 for each component of the pattern's rows that is
  // solved for, 0 for those that are taken out (zero in every solution); empty: all are free. `masses` are
  // the least that rows of the matrix have on the diagonal, which Auto judges its stiffness by. False where
  // the system was found not to be positive definite.
  bool prepare(MotionSolver solver, std::span<const Vec3> free, double massScale,
               std::span<const double> masses);

  struct Outcome {
    uint32_t iterations = 0;
    bool indefinite = false;  // a direction without positive curvature was met; x is what was found before
  };
  // A x = b to |b - A x| <= tolerance |b|, or the best after `most` iterations.
  Outcome solve(std::span<const Vec3> b, double tolerance, uint32_t most, std::span<Vec3> x);
  void multiply(std::span<const Vec3> x, std::span<Vec3> result);

  MotionSolver solver() const { return solver_; }  // of the last prepare(), never Auto

 private:
  void hold(std::span<const Vec3> free);
  bool factor();
  bool invertOwn();
  bool eliminateOwn();
  void precondition(std::span<const Vec3> r, std::span<Vec3> z);
  MotionSolver choose(double massScale, std::span<const double> masses) const;

  BlockMatrix matrix_;
  std::vector<Mat3> diagonal_, inverse_;  // inverse_: of rows behind the pattern's
  OuterProducts outer_;

  // Schur complement of the unknowns behind the pattern's: B, A^-1 B (by column) and the factor of
  // D - B^T A^-1 B.
  bool eliminated_ = false;
  std::vector<std::vector<Vec3>> coupling_, reduced_;
  Eigen::MatrixXd schur_;
  Eigen::LLT<Eigen::MatrixXd> schurFactor_;
  Eigen::VectorXd own_;

  MotionSolver solver_ = MotionSolver::Cholesky;
  BlockCholesky cholesky_;
  ConjugateGradients jacobi_{SolverSettings{.preconditioner = Preconditioner::BlockJacobi}};
  ConjugateGradients incomplete_{SolverSettings{.preconditioner = Preconditioner::IncompleteCholesky}};
  std::vector<Vec3> r_, z_, p_, q_;
};

}  // namespace sunder::fem
