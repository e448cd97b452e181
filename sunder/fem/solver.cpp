// Eigen's solvers behind the interface, and the names.
#include "sunder/fem/solver.h"

#include "sunder/base/error.h"
#include "sunder/fem/block_cholesky.h"
#include "sunder/fem/conjugate_gradients.h"

#include <array>

#include <Eigen/Cholesky>
#include <Eigen/SparseCholesky>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sunder::fem {

namespace {

constexpr std::array<std::string_view, 5> kNames{"auto", "block", "ldlt", "dense", "pcg"};

using Map = Eigen::Map<Eigen::VectorXd>;
using ConstMap = Eigen::Map<const Eigen::VectorXd>;

ConstMap flat(std::span<const Vec3> v) { return {v.data()->data(), static_cast<Eigen::Index>(3 * v.size())}; }
Map flat(std::span<Vec3> v) { return {v.data()->data(), static_cast<Eigen::Index>(3 * v.size())}; }

void requireStoppable(std::string_view name, size_t vertices) {
  const size_t most = mostStoppableVertices(name);
  if (most == 0 || vertices <= most) return;
  throw Error(ErrorKind::Limit,
              fmt::format("{} vertices are too many for the solver '{}', which cannot be interrupted",
                          vertices, name))
      .hint(fmt::format("{} vertices would do; the solvers 'block' and 'pcg' can be interrupted", most));
}

class SimplicialSolver final : public LinearSolver {
 public:
  explicit SimplicialSolver(const SolverSettings& settings) : stoppable_(settings.stoppable) {}
  std::string_view name() const override { return "ldlt"; }
  void factor(const BlockMatrix& matrix) override {
    const SparsePattern& pattern = matrix.pattern();
    if (stoppable_) requireStoppable(name(), pattern.rows());
    const bool same = stamp_ == pattern.stamp();
    fill(matrix, same);
    if (!same) solver_.analyzePattern(lower_);
    solver_.factorize(lower_);
    stamp_ = pattern.stamp();
    // Indefinite and singular matrices have factors, too; only their pivots tell.
    if (solver_.info() != Eigen::Success) fail(0);
    const auto pivots = solver_.vectorD();
    for (Eigen::Index k = 0; k < pivots.size(); ++k) {
      const Eigen::Index row = solver_.permutationPinv().indices()[k];
      if (!(pivots[k] > kSmallestPivot * lower_.coeff(row, row))) fail(row);
    }
  }
  void solve(std::span<const Vec3> b, std::span<Vec3> x) override {
    if (!b.empty()) flat(x) = solver_.solve(flat(b)).eval();
  }

 private:
  [[noreturn]] void fail(Eigen::Index row) {
    stamp_ = 0;
    notPositive(static_cast<uint32_t>(row / 3));
  }

  // The lower triangle by columns is the upper one by rows: rows of blocks, and in them the transposes.
  void fill(const BlockMatrix& matrix, bool same) {
    const SparsePattern& pattern = matrix.pattern();
    const auto n = static_cast<int>(pattern.rows());
    if (!same) {
      lower_.resize(3 * n, 3 * n);
      lower_.resizeNonZeros(static_cast<Eigen::Index>(9 * pattern.slots() - 3 * pattern.rows()));
    }
    int written = 0;
    double* values = lower_.valuePtr();
    for (int column = 0; column < 3 * n; ++column) {
      const auto j = static_cast<uint32_t>(column / 3);
      const int k = column % 3;
      lower_.outerIndexPtr()[column] = written;
      const auto put = [&](int row, double value) {
        lower_.innerIndexPtr()[written] = row;
        values[written++] = value;
      };
      for (int r = k; r < 3; ++r) put(3 * int(j) + r, matrix.block(pattern.diagonal(j))(r, k));
      for (const SparsePattern::Neighbour& neighbour : pattern.neighbours(j))
        if (neighbour.transposed())
          for (int r = 0; r < 3; ++r)
            put(3 * int(neighbour.vertex) + r, matrix.block(neighbour.slot())(r, k));
    }
    lower_.outerIndexPtr()[3 * n] = written;
    lower_.resizeNonZeros(written);
  }

  bool stoppable_;
  Eigen::SparseMatrix<double> lower_;
  Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>, Eigen::Lower> solver_;
  uint64_t stamp_ = 0;
};

class DenseSolver final : public LinearSolver {
 public:
  explicit DenseSolver(const SolverSettings& settings) : stoppable_(settings.stoppable) {}
  std::string_view name() const override { return "dense"; }
  void factor(const BlockMatrix& matrix) override {
    const SparsePattern& pattern = matrix.pattern();
    if (stoppable_) requireStoppable(name(), pattern.rows());
    const auto n = static_cast<Eigen::Index>(3 * pattern.rows());
    constexpr Eigen::Index kMost = 20'000;
    if (n > kMost)
      throw Error(ErrorKind::Limit, fmt::format("{} unknowns are too many for a dense matrix", n))
          .hint("take the solver 'block'");
    full_.setZero(n, n);
    for (uint32_t i = 0; i < pattern.rows(); ++i) {
      uint32_t slot = pattern.lowerStart(i);
      for (const uint32_t j : pattern.lowerRow(i)) full_.block<3, 3>(3 * i, 3 * j) = matrix.block(slot++);
    }
    const Eigen::VectorXd diagonal = full_.diagonal();
    solver_.compute(full_);
    if (solver_.info() != Eigen::Success) notPositive(0);
    const auto ratios = solver_.matrixLLT().diagonal().array().square() / diagonal.array();
    Eigen::Index at = 0;
    if (n != 0 && !(ratios.minCoeff(&at) > kSmallestPivot)) notPositive(static_cast<uint32_t>(at / 3));
  }
  void solve(std::span<const Vec3> b, std::span<Vec3> x) override {
    if (!b.empty()) flat(x) = solver_.solve(flat(b)).eval();
  }

 private:
  bool stoppable_;
  Eigen::MatrixXd full_;
  Eigen::LLT<Eigen::MatrixXd> solver_;
};

// Chooses when it sees the matrix.
class AutoSolver final : public LinearSolver {
 public:
  explicit AutoSolver(const SolverSettings& settings) : iterative_(settings) {}
  std::string_view name() const override { return chosen_->name(); }
  void factor(const BlockMatrix& matrix) override {
    chosen_ = matrix.rows() < kIterativeVertices ? static_cast<LinearSolver*>(&block_) : &iterative_;
    chosen_->factor(matrix);
  }
  void solve(std::span<const Vec3> b, std::span<Vec3> x) override { chosen_->solve(b, x); }
  size_t iterations() const override { return chosen_->iterations(); }
  bool converged() const override { return chosen_->converged(); }

 private:
  BlockCholesky block_;
  ConjugateGradients iterative_;
  LinearSolver* chosen_ = &block_;
};

}  // namespace

std::span<const std::string_view> solverNames() { return kNames; }

size_t mostStoppableVertices(std::string_view name) {
  if (name == "dense") return 800;
  if (name == "ldlt") return 1500;
  return 0;
}

std::unique_ptr<LinearSolver> makeSolver(const SolverSettings& settings) {
  if (settings.name == "auto") return std::make_unique<AutoSolver>(settings);
  if (settings.name == "block") return std::make_unique<BlockCholesky>();
  if (settings.name == "ldlt") return std::make_unique<SimplicialSolver>(settings);
  if (settings.name == "dense") return std::make_unique<DenseSolver>(settings);
  if (settings.name == "pcg") return std::make_unique<ConjugateGradients>(settings);
  throw Error(ErrorKind::Usage, fmt::format("there is no solver '{}'", settings.name))
      .hint(fmt::format("one of {}", fmt::join(kNames, ", ")));
}

void notPositive(uint32_t vertex) {
  throw Error(ErrorKind::Numerical, fmt::format("the matrix is not positive definite at vertex {}", vertex))
      .hint("a body at rest must be held against moving and turning; a step must not be too long");
}

}  // namespace sunder::fem
