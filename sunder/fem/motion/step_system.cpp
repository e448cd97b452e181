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
constexpr size_t kDirectVertices = 1200;
// Stiffness against inertia on the diagonal, beyond which blocks of the diagonal are not enough.
constexpr double kStiffDiagonal = 60;

}  // namespace

void StepSystem::clear(const SparsePattern& pattern, size_t rows) {
  assert(rows >= pattern.rows());
  matrix_.setPattern(pattern);
  diagonal_.assign(rows, Mat3::Zero());
  outer_.clear();
}

bool StepSystem::prepare(MotionSolver solver, std::span<const Vec3> free, double massScale,
                         std::span<const double> masses) {
  const SparsePattern& pattern = matrix_.pattern();
  const size_t n = pattern.rows(), rows = diagonal_.size();
  for (size_t i = 0; i < n; ++i) matrix_.block(pattern.diagonal(i)) += diagonal_[i];
  if (!free.empty()) hold(free);
  gatherOuter();
  solver_ = solver == MotionSolver::Auto ? choose(massScale, masses) : solver;
  for (std::vector<Vec3>* v : {&r_, &z_, &p_, &q_}) v->resize(rows);

  inverse_.assign(diagonal_.begin() + std::ptrdiff_t(n), diagonal_.end());
  assert(std::all_of(outer_.rows.begin(), outer_.rows.end(), [&](uint32_t row) { return row < rows; }));
  for (size_t t = 0; t < outer_.size(); ++t)
    for (uint32_t k = outer_.starts[t]; k < outer_.starts[t + 1]; ++k)
      if (outer_.rows[k] >= n)
        inverse_[outer_.rows[k] - n] += outer_.weights[t] * outer_.blocks[k] * outer_.blocks[k].transpose();
  for (Mat3& block : inverse_) {
    const Eigen::LLT<Mat3> llt(block);
    if (llt.info() != Eigen::Success) return false;
    block = llt.solve(Mat3::Identity());
  }
  return factor();
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
  for (size_t k = 0; k < outer_.rows.size(); ++k)
    if (outer_.rows[k] < free.size()) outer_.blocks[k] = outer_.blocks[k].cwiseProduct(free[outer_.rows[k]]);
}

void StepSystem::gatherOuter() {
  touched_.clear();
  places_.clear();
  touchedStart_.assign(1, 0);
  if (outer_.size() == 0) return;
  weighted_.resize(outer_.size());
  cursor_.assign(diagonal_.size() + 1, 0);
  for (const uint32_t row : outer_.rows) ++cursor_[row];
  uint32_t sum = 0;
  for (uint32_t row = 0; row < diagonal_.size(); ++row) {
    const uint32_t count = cursor_[row];
    cursor_[row] = sum;
    sum += count;
    if (count == 0) continue;
    touched_.push_back(row);
    touchedStart_.push_back(sum);
  }
  places_.resize(sum);
  for (uint32_t t = 0; t < outer_.size(); ++t)
    for (uint32_t k = outer_.starts[t]; k < outer_.starts[t + 1]; ++k)
      places_[cursor_[outer_.rows[k]]++] = {t, k};
}

void StepSystem::multiply(std::span<const Vec3> x, std::span<Vec3> result) {
  const size_t n = matrix_.rows();
  matrix_.multiply(x.first(n), result.first(n));
  for (size_t i = n; i < x.size(); ++i) result[i].noalias() = diagonal_[i] * x[i];
  if (outer_.size() == 0) return;
  parallelFor(
      outer_.size(),
      [&](size_t t) {
        double sum = 0;
        for (uint32_t k = outer_.starts[t]; k < outer_.starts[t + 1]; ++k)
          sum += outer_.blocks[k].dot(x[outer_.rows[k]]);
        weighted_[t] = outer_.weights[t] * sum;
      },
      kSumGrain / 8);
  parallelFor(
      touched_.size(),
      [&](size_t s) {
        Vec3 sum = Vec3::Zero();
        for (uint32_t k = touchedStart_[s]; k < touchedStart_[s + 1]; ++k)
          sum += weighted_[places_[k].term] * outer_.blocks[places_[k].block];
        result[touched_[s]] += sum;
      },
      kSumGrain / 8);
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
  for (size_t i = n; i < r.size(); ++i) z[i].noalias() = inverse_[i - n] * r[i];
}

StepSystem::Outcome StepSystem::solve(std::span<const Vec3> b, double tolerance, uint32_t most,
                                      std::span<Vec3> x) {
  Outcome outcome;
  const size_t rows = b.size();
  if (solver_ == MotionSolver::Cholesky && outer_.size() == 0) {
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
