#include "sunder/fem/motion/step_system.h"

#include "sunder/base/error.h"
#include "sunder/base/stop.h"
#include "sunder/fem/motion/vector_sums.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <Eigen/Cholesky>

namespace sunder::fem {

namespace {

// From this many vertices on a factor costs more than the iterations that it saves.
constexpr size_t kDirectVertices = 600;
// Stiffness against inertia on the diagonal, beyond which blocks of the diagonal are not enough.
constexpr double kStiffDiagonal = 10;
// Blocks of terms that Cholesky eliminates: each costs three substitutions.
constexpr size_t kMostEliminated = 16;

}  // namespace

void StepSystem::clear(const SparsePattern& pattern, size_t rows) {
  assert(rows >= pattern.rows());
  matrix_.setPattern(pattern);
  diagonal_.assign(rows, Mat3::Zero());
  outer_.terms().clear();
}

bool StepSystem::prepare(MotionSolver solver, std::span<const Vec3> free, double massScale,
                         std::span<const double> masses) {
  const SparsePattern& pattern = matrix_.pattern();
  const size_t n = pattern.rows(), rows = diagonal_.size();
  for (size_t i = 0; i < n; ++i) matrix_.block(pattern.diagonal(i)) += diagonal_[i];
  outer_.absorb(matrix_, rows);
  if (!free.empty()) hold(free);
  solver_ = solver == MotionSolver::Auto ? choose(massScale, masses) : solver;
  for (std::vector<Vec3>* v : {&r_, &z_, &p_, &q_}) v->resize(rows);
  eliminated_ = false;
  if (!factor()) return false;
  if (rows == n) return true;
  if (solver_ == MotionSolver::Cholesky && rows - n <= kMostEliminated) return eliminateOwn();
  return invertOwn();
}

// The diagonal blocks of unknowns behind the pattern's, with what outer products add to them.
bool StepSystem::invertOwn() {
  const OuterTerms& terms = outer_.terms();
  const size_t n = matrix_.rows();
  inverse_.assign(diagonal_.begin() + std::ptrdiff_t(n), diagonal_.end());
  for (const uint32_t t : outer_.kept())
    for (uint32_t k = terms.starts[t]; k < terms.starts[t + 1]; ++k)
      if (terms.rows[k] >= n)
        inverse_[terms.rows[k] - n] += terms.weights[t] * terms.blocks[k] * terms.blocks[k].transpose();
  for (Mat3& block : inverse_) {
    const Eigen::LLT<Mat3> llt(block);
    if (llt.info() != Eigen::Success) return false;
    block = llt.solve(Mat3::Identity());
  }
  return true;
}

bool StepSystem::eliminateOwn() {
  const OuterTerms& terms = outer_.terms();
  const size_t n = matrix_.rows(), columns = 3 * (diagonal_.size() - n);
  const auto size = static_cast<Eigen::Index>(columns);
  coupling_.resize(columns);
  reduced_.resize(columns);
  for (std::vector<Vec3>& column : coupling_) column.assign(n, Vec3::Zero());
  schur_.setZero(size, size);
  for (size_t i = n; i < diagonal_.size(); ++i)
    schur_.block<3, 3>(static_cast<Eigen::Index>(3 * (i - n)), static_cast<Eigen::Index>(3 * (i - n))) =
        diagonal_[i];
  for (const uint32_t t : outer_.kept())
    for (uint32_t k = terms.starts[t]; k < terms.starts[t + 1]; ++k) {
      if (terms.rows[k] < n) continue;
      const size_t first = 3 * (terms.rows[k] - n);
      for (uint32_t j = terms.starts[t]; j < terms.starts[t + 1]; ++j) {
        const uint32_t row = terms.rows[j];
        if (row >= n) {
          schur_.block<3, 3>(static_cast<Eigen::Index>(first), static_cast<Eigen::Index>(3 * (row - n))) +=
              terms.weights[t] * terms.blocks[k] * terms.blocks[j].transpose();
        } else if (outer_.absorbed(t)) {
          for (size_t c = 0; c < 3; ++c)
            coupling_[first + c][row] +=
                terms.weights[t] * terms.blocks[k][Eigen::Index(c)] * terms.blocks[j];
        }
      }
    }
  for (size_t c = 0; c < columns; ++c) {
    reduced_[c].resize(n);
    cholesky_.solve(coupling_[c], reduced_[c]);
  }
  for (size_t a = 0; a < columns; ++a)
    for (size_t b = 0; b <= a; ++b)
      schur_(Eigen::Index(a), Eigen::Index(b)) -= innerProduct(coupling_[a], reduced_[b]);
  schurFactor_.compute(schur_);
  if (schurFactor_.info() != Eigen::Success) return false;
  own_.resize(size);
  eliminated_ = true;
  return true;
}

// Rows and columns of what is held become those of the identity, which couples with nothing.
void StepSystem::hold(std::span<const Vec3> free) {
  const SparsePattern& pattern = matrix_.pattern();
  parallelFor(
      pattern.rows(),
      [&](size_t i) {
        const Vec3& row = free[i];
        uint32_t slot = pattern.lowerStart(i);
        for (const uint32_t j : pattern.lowerRow(i)) {
          const Vec3& column = free[j];
          Mat3& block = matrix_.block(slot++);
          if (row.minCoeff() == 1 && column.minCoeff() == 1) continue;
          for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
              if (row[a] == 0 || column[b] == 0) block(a, b) = i == j && a == b ? 1 : 0;
        }
      },
      kSumGrain);
  outer_.hold(free);
}

void StepSystem::multiply(std::span<const Vec3> x, std::span<Vec3> result) {
  const size_t n = matrix_.rows();
  matrix_.multiply(x.first(n), result.first(n));
  for (size_t i = n; i < x.size(); ++i) result[i].noalias() = diagonal_[i] * x[i];
  outer_.addProduct(x, result);
}

MotionSolver StepSystem::choose(double massScale, std::span<const double> masses) const {
  if (matrix_.rows() < kDirectVertices) return MotionSolver::Cholesky;
  const SparsePattern& pattern = matrix_.pattern();
  const double ratio = parallelReduce(
      masses.size(), 0.0,
      [&](size_t begin, size_t end) {
        double most = 0;
        for (size_t i = begin; i < end; ++i)
          if (masses[i] > 0)
            most = std::max(most, matrix_.block(pattern.diagonal(i)).trace() / (3 * massScale * masses[i]));
        return most;
      },
      [](double x, double y) { return std::max(x, y); }, kSumGrain);
  return ratio > kStiffDiagonal ? MotionSolver::IncompleteCholesky : MotionSolver::BlockJacobi;
}

bool StepSystem::factor() {
  try {
    switch (solver_) {
      case MotionSolver::Auto:
      case MotionSolver::Cholesky:
        cholesky_.factor(matrix_);
        break;
      case MotionSolver::BlockJacobi:
        jacobi_.factor(matrix_);
        break;
      case MotionSolver::IncompleteCholesky:
        incomplete_.factor(matrix_);
        break;
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Numerical) throw;
    return false;
  }
  return true;
}

void StepSystem::precondition(std::span<const Vec3> r, std::span<Vec3> z) {
  const size_t n = matrix_.rows();
  const auto vertices = r.first(n);
  const auto to = z.first(n);
  switch (solver_) {
    case MotionSolver::Auto:
    case MotionSolver::Cholesky:
      cholesky_.solve(vertices, to);
      break;
    case MotionSolver::BlockJacobi:
      jacobi_.precondition(vertices, to);
      break;
    case MotionSolver::IncompleteCholesky:
      incomplete_.precondition(vertices, to);
      break;
  }
  if (!eliminated_) {
    for (size_t i = n; i < r.size(); ++i) z[i].noalias() = inverse_[i - n] * r[i];
    return;
  }
  for (size_t c = 0; c < coupling_.size(); ++c)
    own_[Eigen::Index(c)] =
        r[n + c / 3][Eigen::Index(c % 3)] - innerProduct(coupling_[c], std::span<const Vec3>(to));
  schurFactor_.solveInPlace(own_);
  for (size_t c = 0; c < coupling_.size(); ++c) {
    const double value = own_[Eigen::Index(c)];
    z[n + c / 3][Eigen::Index(c % 3)] = value;
    for (size_t i = 0; i < n; ++i) to[i] -= value * reduced_[c][i];
  }
}

StepSystem::Outcome StepSystem::solve(std::span<const Vec3> b, double tolerance, uint32_t most,
                                      std::span<Vec3> x) {
  Outcome outcome;
  const size_t rows = b.size();
  if (solver_ == MotionSolver::Cholesky && !outer_.outside() && (rows == matrix_.rows() || eliminated_)) {
    precondition(b, x);
    return outcome;
  }
  std::fill(x.begin(), x.end(), Vec3::Zero());
  std::copy(b.begin(), b.end(), r_.begin());
  const double target = tolerance * std::sqrt(innerProduct(b, b));
  precondition(r_, z_);
  std::copy(z_.begin(), z_.end(), p_.begin());
  double rz = innerProduct(r_, z_);
  while (outcome.iterations < most) {
    checkStop();
    multiply(p_, q_);
    const double curvature = innerProduct(p_, q_);
    if (!(curvature > 0)) {
      outcome.indefinite = rz > 0;
      break;
    }
    ++outcome.iterations;
    const double alpha = rz / curvature;
    const double squared = parallelReduce(
        rows, 0.0,
        [&](size_t begin, size_t end) {
          double sum = 0;
          for (size_t i = begin; i < end; ++i) {
            x[i] += alpha * p_[i];
            r_[i] -= alpha * q_[i];
            sum += r_[i].squaredNorm();
          }
          return sum;
        },
        [](double s, double t) { return s + t; }, kSumGrain);
    if (!(std::sqrt(squared) > target)) break;
    precondition(r_, z_);
    const double next = innerProduct(r_, z_);
    const double beta = next / rz;
    rz = next;
    parallelFor(
        rows, [&](size_t i) { p_[i] = z_[i] + beta * p_[i]; }, kSumGrain);
  }
  return outcome;
}

}  // namespace sunder::fem
