#include "sunder/fem/conjugate_gradients.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/stop.h"
#include "sunder/base/work.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <fmt/format.h>

namespace sunder::fem {

namespace {

constexpr size_t kVectorGrain = 4096;

double dot(std::span<const Vec3> a, std::span<const Vec3> b) {
  return parallelReduce(
      a.size(), 0.0,
      [&](size_t begin, size_t end) {
        double sum = 0;
        for (size_t i = begin; i < end; ++i) sum += a[i].dot(b[i]);
        return sum;
      },
      [](double x, double y) { return x + y; }, kVectorGrain);
}

}  // namespace

void ConjugateGradients::factor(const BlockMatrix& matrix) {
  matrix_ = &matrix;
  const size_t n = matrix.rows();
  for (std::vector<Vec3>* v : {&r_, &z_, &p_, &q_, &x_}) v->resize(n);
  inverse_.resize(n);
  if (settings_.preconditioner == Preconditioner::BlockJacobi) {
    factor_.clear();
    invertDiagonal(0);
    return;
  }
  constexpr double kMostRaised = 1;
  for (double raised = 0; !incompleteFactor(raised); raised = raised == 0 ? 1e-3 : 4 * raised)
    if (raised > kMostRaised) {
      factor_.clear();
      invertDiagonal(0);
      return;
    }
}

void ConjugateGradients::invertDiagonal(double raised) {
  const SparsePattern& pattern = matrix_->pattern();
  for (size_t i = 0; i < inverse_.size(); ++i) {
    const Eigen::LLT<Mat3> llt((1 + raised) * matrix_->block(pattern.diagonal(i)));
    if (llt.info() != Eigen::Success) notPositive(static_cast<uint32_t>(i));
    inverse_[i] = llt.solve(Mat3::Identity());
  }
}

// Row by row: L_ij = (A_ij - sum_k L_ik L_jk^T) L_jj^-T over the k that both rows have.
bool ConjugateGradients::incompleteFactor(double raised) {
  const SparsePattern& pattern = matrix_->pattern();
  factor_.assign(matrix_->blocks().begin(), matrix_->blocks().end());
  for (uint32_t i = 0; i < pattern.rows(); ++i) {
    checkStop();
    const std::span<const uint32_t> columns = pattern.lowerRow(i);
    const uint32_t start = pattern.lowerStart(i), diagonal = pattern.diagonal(i);
    factor_[diagonal].diagonal() *= 1 + raised;
    for (uint32_t a = 0; a + 1 < columns.size(); ++a) {
      const uint32_t j = columns[a];
      const std::span<const uint32_t> theirs = pattern.lowerRow(j);
      Mat3& block = factor_[start + a];
      for (uint32_t x = 0, y = 0; x < a && y + 1 < theirs.size();) {
        if (columns[x] < theirs[y])
          ++x;
        else if (theirs[y] < columns[x])
          ++y;
        else
          block.noalias() -= factor_[start + x++] * factor_[pattern.lowerStart(j) + y++].transpose();
      }
      block = (block * inverse_[j].transpose()).eval();
      factor_[diagonal].noalias() -= block * block.transpose();
    }
    const Eigen::LLT<Mat3> llt(factor_[diagonal]);
    if (llt.info() != Eigen::Success) return false;
    inverse_[i] = llt.matrixL().solve(Mat3::Identity());
  }
  return true;
}

void ConjugateGradients::precondition(std::span<const Vec3> r, std::span<Vec3> z) const {
  if (factor_.empty()) {
    parallelFor(
        r.size(), [&](size_t i) { z[i].noalias() = inverse_[i] * r[i]; }, kVectorGrain);
    return;
  }
  const SparsePattern& pattern = matrix_->pattern();
  for (uint32_t i = 0; i < r.size(); ++i) {
    Vec3 sum = r[i];
    uint32_t slot = pattern.lowerStart(i);
    for (const uint32_t j : pattern.lowerRow(i).first(pattern.lowerRow(i).size() - 1))
      sum.noalias() -= factor_[slot++] * z[j];
    z[i].noalias() = inverse_[i] * sum;
  }
  for (auto i = static_cast<uint32_t>(r.size()); i-- > 0;) {
    const Vec3 value = inverse_[i].transpose() * z[i];
    z[i] = value;
    uint32_t slot = pattern.lowerStart(i);
    for (const uint32_t j : pattern.lowerRow(i).first(pattern.lowerRow(i).size() - 1))
      z[j].noalias() -= factor_[slot++].transpose() * value;
  }
}

void ConjugateGradients::solve(std::span<const Vec3> b, std::span<Vec3> x) {
  const size_t n = b.size();
  const size_t most = settings_.mostIterations ? settings_.mostIterations : 30 * n + 100;
  const double scale = std::sqrt(dot(b, b));
  iterations_ = 0;
  residual_ = 0;
  converged_ = true;
  std::fill(x_.begin(), x_.end(), Vec3::Zero());
  if (scale == 0) {
    std::copy(x_.begin(), x_.end(), x.begin());
    return;
  }
  // The recursive residual drifts from the true one; each round starts from the true one again.
  constexpr double kAccepted = 1e-8;
  constexpr size_t kNoteEvery = 16;
  sunder::Work work("conjugate gradients", 0, "iterations");
  for (int round = 0;; ++round) {
    matrix_->multiply(x_, q_);
    for (size_t i = 0; i < n; ++i) r_[i] = b[i] - q_[i];
    const double before = residual_;
    residual_ = std::sqrt(dot(r_, r_)) / scale;
    if (residual_ <= settings_.tolerance) break;
    const bool stuck = round > 1 && residual_ > 0.5 * before;
    if (settings_.bestSoFar && iterations_ >= most && std::isfinite(residual_)) {
      converged_ = false;
      break;
    }
    if ((stuck && residual_ > kAccepted) || iterations_ >= most || !std::isfinite(residual_))
      throw Error(ErrorKind::Numerical,
                  fmt::format("conjugate gradients stand at a residual of {:.3g} after {} "
                              "iterations",
                              residual_, iterations_))
          .hint("the matrix may be singular: a body that is not held; or take the solver 'block'");
    if (stuck) break;
    precondition(r_, z_);
    std::copy(z_.begin(), z_.end(), p_.begin());
    double rz = dot(r_, z_), residual = residual_;
    while (residual > 0.5 * settings_.tolerance && residual > 1e-4 * residual_ * settings_.tolerance &&
           iterations_ < most) {
      ++iterations_;
      matrix_->multiply(p_, q_);
      const double curvature = dot(p_, q_);
      if (!(curvature > 0)) break;
      const double alpha = rz / curvature;
      parallelFor(
          n,
          [&](size_t i) {
            x_[i] += alpha * p_[i];
            r_[i] -= alpha * q_[i];
          },
          kVectorGrain);
      residual = std::sqrt(dot(r_, r_)) / scale;
      work.step();
      if (iterations_ % kNoteEvery == 0)
        work.note(fmt::format("residual {:.2g}, target {:.2g}", residual, settings_.tolerance));
      precondition(r_, z_);
      const double next = dot(r_, z_);
      const double beta = next / rz;
      rz = next;
      parallelFor(
          n, [&](size_t i) { p_[i] = z_[i] + beta * p_[i]; }, kVectorGrain);
    }
  }
  std::copy(x_.begin(), x_.end(), x.begin());
}

}  // namespace sunder::fem
