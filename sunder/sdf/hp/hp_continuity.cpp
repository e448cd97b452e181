#include "sunder/sdf/hp/hp_continuity.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/prefix_sum.h"
#include "sunder/base/work.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>
#include <fmt/format.h>

namespace sunder::sdf {

namespace {

constexpr size_t kMost = kLargestDegree + 1;
constexpr size_t kGrain = 64;

// The leaves behind a face of a cell of the grid of `level`, whose node is `node`.
template <class Visit>
void touching(const HpForest& forest, HpCell cell, int axis, Visit&& visit) {
  const int32_t first = forest.child[static_cast<size_t>(cell.node)];
  if (first < 0) {
    visit(static_cast<uint32_t>(-1 - first), cell);
    return;
  }
  for (uint32_t c = 0; c < 8; ++c) {
    if (c >> axis & 1) continue;  // the lower half lies at the face
    touching(forest,
             {{2 * cell.at[0] + (c & 1), 2 * cell.at[1] + (c >> 1 & 1), 2 * cell.at[2] + (c >> 2)},
              cell.level + 1,
              first + static_cast<int32_t>(c)},
             axis, visit);
  }
}

// The node of a cell of the grid of `level`, or the leaf that holds it.
HpCell nodeAt(const HpForest& forest, const std::array<uint32_t, 3>& at, uint32_t level) {
  HpCell cell;
  for (size_t d = 0; d < 3; ++d) cell.at[d] = at[d] >> level;
  cell.node = static_cast<int32_t>(cell.at[0] + forest.base[0] * (cell.at[1] + forest.base[1] * cell.at[2]));
  while (cell.level < level && forest.child[static_cast<size_t>(cell.node)] >= 0) {
    ++cell.level;
    uint32_t which = 0;
    for (size_t d = 0; d < 3; ++d) {
      const uint32_t bit = at[d] >> (level - cell.level) & 1;
      which |= bit << d;
      cell.at[d] = 2 * cell.at[d] + bit;
    }
    cell.node = forest.child[static_cast<size_t>(cell.node)] + static_cast<int32_t>(which);
  }
  return cell;
}

HpFace makeFace(uint32_t lower, const HpCell& lowerCell, uint32_t upper, const HpCell& upperCell, int axis) {
  const bool coarseBelow = lowerCell.level <= upperCell.level;
  const HpCell &coarse = coarseBelow ? lowerCell : upperCell, &fine = coarseBelow ? upperCell : lowerCell;
  HpFace face{};
  face.coarse = coarseBelow ? lower : upper;
  face.fine = coarseBelow ? upper : lower;
  face.axis = static_cast<uint8_t>(axis);
  face.coarseBelow = coarseBelow;
  face.steps = static_cast<uint8_t>(fine.level - coarse.level);
  for (size_t k = 0; k < 2; ++k) {
    const size_t d = (static_cast<size_t>(axis) + 1 + k) % 3;
    face.position[k] = fine.at[d] - (coarse.at[d] << face.steps);
  }
  return face;
}

// Trace arrays are square: index of the next axis times n plus index of the one after. Restriction of a trace
// to one half along the first index, and its transpose. `values` has n x n entries.
void halve(double* values, size_t n, bool upper) {
  const std::span<const double> t = halvingMatrix();
  for (size_t column = 0; column < n; ++column)
    for (size_t j = 0; j < n; ++j) {  // rows below j are not needed any more
      double sum = 0;
      for (size_t i = j; i < n; ++i) {
        const double entry = t[i * kMost + j];
        sum += (upper && (i + j) % 2 == 1 ? -entry : entry) * values[i * n + column];
      }
      values[j * n + column] = sum;
    }
}
void halveTransposed(double* values, size_t n, bool upper) {
  const std::span<const double> t = halvingMatrix();
  for (size_t column = 0; column < n; ++column)
    for (size_t i = n; i-- > 0;) {
      double sum = 0;
      for (size_t j = 0; j <= i; ++j) {
        const double entry = t[i * kMost + j];
        sum += (upper && (i + j) % 2 == 1 ? -entry : entry) * values[j * n + column];
      }
      values[i * n + column] = sum;
    }
}
void transpose(double* values, size_t n) {
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i + 1; j < n; ++j) std::swap(values[i * n + j], values[j * n + i]);
}

void restrict(const HpFace& face, double* values, size_t n) {
  for (size_t k = 0; k < 2; ++k) {
    for (uint32_t s = face.steps; s-- > 0;) halve(values, n, face.position[k] >> s & 1);
    transpose(values, n);
  }
}
void restrictTransposed(const HpFace& face, double* values, size_t n) {
  for (size_t k = 0; k < 2; ++k) {
    for (uint32_t s = 0; s < face.steps; ++s) halveTransposed(values, n, face.position[k] >> s & 1);
    transpose(values, n);
  }
}

}  // namespace

std::vector<HpFace> interiorFaces(const HpForest& forest) {
  const std::vector<HpCell> cells = leafCells(forest);
  std::vector<HpFace> faces;
  for (uint32_t leaf = 0; leaf < cells.size(); ++leaf) {
    const HpCell& cell = cells[leaf];
    for (int axis = 0; axis < 3; ++axis) {
      std::array<uint32_t, 3> at = cell.at;
      const auto d = static_cast<size_t>(axis);
      if (++at[d] >= forest.base[d] << cell.level) continue;
      touching(forest, nodeAt(forest, at, cell.level), axis, [&](uint32_t other, const HpCell& otherCell) {
        faces.push_back(makeFace(leaf, cell, other, otherCell, axis));
      });
    }
  }
  return faces;
}

// One side of a face: which factor the normal index brings, and where it goes in the trace.
struct JumpMatrix::Trace {
  double factor[kMost];
  size_t normal, first, second;

  Trace(const HpForest& forest, const HpCell& cell, int degree, int axis, bool atUpperEnd) {
    normal = static_cast<size_t>(axis);
    first = (normal + 1) % 3;
    second = (normal + 2) % 3;
    const double size = std::ldexp(forest.baseSize()[axis], -static_cast<int>(cell.level));
    for (int n = 0; n <= degree; ++n)
      factor[n] = std::sqrt((2 * n + 1) / size) * (!atUpperEnd && n % 2 == 1 ? -1 : 1);
  }
};

JumpMatrix::JumpMatrix(const HpForest& forest)
    : forest_(forest), cells_(leafCells(forest)), faces_(interiorFaces(forest)) {
  jumpBegin_.resize(faces_.size() + 1, 0);
  for (size_t f = 0; f < faces_.size(); ++f)
    jumpBegin_[f + 1] = jumpBegin_[f] + order(faces_[f]) * order(faces_[f]);
  jumps_.resize(jumpBegin_.back());
  leafFaceBegin_.assign(forest.leafCount() + 1, 0);
  for (const HpFace& face : faces_) {
    ++leafFaceBegin_[face.coarse + 1];
    ++leafFaceBegin_[face.fine + 1];
  }
  for (size_t leaf = 0; leaf < forest.leafCount(); ++leaf) leafFaceBegin_[leaf + 1] += leafFaceBegin_[leaf];
  leafFace_.resize(leafFaceBegin_.back());
  std::vector<uint32_t> next(leafFaceBegin_.begin(), leafFaceBegin_.end() - 1);
  for (uint32_t f = 0; f < faces_.size(); ++f) {
    leafFace_[next[faces_[f].coarse]++] = f << 1 | 1;
    leafFace_[next[faces_[f].fine]++] = f << 1;
  }
}

size_t JumpMatrix::order(const HpFace& face) const {
  return size_t(std::max(forest_.degree[face.coarse], forest_.degree[face.fine])) + 1;
}

// The jump on a face in the orthonormal basis of the fine face, coarse minus fine.
void JumpMatrix::jump(const HpFace& face, std::span<const double> c, double* out) const {
  const size_t n = order(face);
  const std::span<const MultiIndex> indices = multiIndices();
  std::fill_n(out, n * n, 0.0);
  const auto add = [&](uint32_t leaf, bool atUpperEnd, double sign) {
    const Trace trace(forest_, cells_[leaf], forest_.degree[leaf], face.axis, atUpperEnd);
    const double* from = c.data() + forest_.begin[leaf];
    const size_t count = forest_.begin[leaf + 1] - forest_.begin[leaf];
    for (size_t i = 0; i < count; ++i) {
      const MultiIndex& m = indices[i];
      out[m[trace.first] * n + m[trace.second]] += sign * trace.factor[m[trace.normal]] * from[i];
    }
  };
  add(face.coarse, face.coarseBelow, 1);
  restrict(face, out, n);
  add(face.fine, !face.coarseBelow, -1);
}

void JumpMatrix::addTransposed(const HpFace& face, bool coarse, const double* jump, double* out) const {
  const size_t n = order(face);
  const std::span<const MultiIndex> indices = multiIndices();
  double values[kMost * kMost];
  std::copy_n(jump, n * n, values);
  if (coarse) restrictTransposed(face, values, n);
  const uint32_t leaf = coarse ? face.coarse : face.fine;
  const Trace trace(forest_, cells_[leaf], forest_.degree[leaf], face.axis, coarse == face.coarseBelow);
  const double sign = coarse ? 1 : -1;
  const size_t count = forest_.begin[leaf + 1] - forest_.begin[leaf];
  for (size_t i = 0; i < count; ++i) {
    const MultiIndex& m = indices[i];
    out[i] += sign * trace.factor[m[trace.normal]] * values[m[trace.first] * n + m[trace.second]];
  }
}

void JumpMatrix::multiply(std::span<const double> c, std::span<double> result) {
  parallelFor(
      faces_.size(), [&](size_t f) { jump(faces_[f], c, &jumps_[jumpBegin_[f]]); }, kGrain);
  parallelFor(
      forest_.leafCount(),
      [&](size_t leaf) {
        double* out = result.data() + forest_.begin[leaf];
        std::fill(out, result.data() + forest_.begin[leaf + 1], 0.0);
        for (uint32_t i = leafFaceBegin_[leaf]; i < leafFaceBegin_[leaf + 1]; ++i)
          addTransposed(faces_[leafFace_[i] >> 1], leafFace_[i] & 1, &jumps_[jumpBegin_[leafFace_[i] >> 1]],
                        out);
      },
      kGrain);
}

double JumpMatrix::energy(std::span<const double> c) {
  return parallelReduce(
      faces_.size(), 0.0,
      [&](size_t begin, size_t end) {
        double sum = 0;
        for (size_t f = begin; f < end; ++f) {
          double* values = &jumps_[jumpBegin_[f]];
          jump(faces_[f], c, values);
          for (size_t i = 0; i < jumpBegin_[f + 1] - jumpBegin_[f]; ++i) sum += values[i] * values[i];
        }
        return 0.5 * sum;
      },
      [](double a, double b) { return a + b; }, kGrain);
}

std::vector<double> JumpMatrix::block(size_t leaf) const {
  const size_t count = forest_.begin[leaf + 1] - forest_.begin[leaf];
  const std::span<const MultiIndex> indices = multiIndices();
  std::vector<double> result(count * count, 0.0), traces;
  for (uint32_t f = leafFaceBegin_[leaf]; f < leafFaceBegin_[leaf + 1]; ++f) {
    const HpFace& face = faces_[leafFace_[f] >> 1];
    const bool coarse = leafFace_[f] & 1;
    const size_t n = order(face);
    const Trace trace(forest_, cells_[leaf], forest_.degree[leaf], face.axis, coarse == face.coarseBelow);
    traces.assign(count * n * n, 0.0);  // of each basis function
    for (size_t i = 0; i < count; ++i) {
      double* row = &traces[i * n * n];
      const MultiIndex& m = indices[i];
      row[m[trace.first] * n + m[trace.second]] = trace.factor[m[trace.normal]];
      if (coarse && face.steps > 0) restrict(face, row, n);
    }
    using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const auto rows = static_cast<Eigen::Index>(count), columns = static_cast<Eigen::Index>(n * n);
    const Eigen::Map<const Matrix> t(traces.data(), rows, columns);
    Eigen::Map<Matrix>(result.data(), rows, rows).noalias() += t * t.transpose();
  }
  return result;
}

void JumpMatrix::diagonal(std::span<double> result) const {
  parallelFor(
      forest_.leafCount(),
      [&](size_t leaf) {
        const std::vector<double> b = block(leaf);
        const size_t count = forest_.begin[leaf + 1] - forest_.begin[leaf];
        for (size_t i = 0; i < count; ++i) result[forest_.begin[leaf] + i] = b[i * count + i];
      },
      kGrain);
}

namespace {

double dot(std::span<const double> a, std::span<const double> b) {
  return parallelReduce(
      a.size(), 0.0,
      [&](size_t begin, size_t end) {
        double sum = 0;
        for (size_t i = begin; i < end; ++i) sum += a[i] * b[i];
        return sum;
      },
      [](double x, double y) { return x + y; });
}

// Applies the inverse of the diagonal, or of the diagonal blocks, of M + beta I.
class Inverse {
 public:
  Inverse(const JumpMatrix& matrix, const HpForest& forest, const ContinuitySettings& settings)
      : forest_(forest), blocks_(settings.preconditioner == Preconditioner::Blocks) {
    if (!blocks_) {
      diagonal_.resize(forest.coefficients.size());
      matrix.diagonal(diagonal_);
      for (double& d : diagonal_) d = 1 / (d + settings.beta);
      return;
    }
    factors_.resize(forest.leafCount());
    parallelFor(
        forest.leafCount(),
        [&](size_t leaf) {
          const std::vector<double> block = matrix.block(leaf);
          const auto n = static_cast<Eigen::Index>(forest.begin[leaf + 1] - forest.begin[leaf]);
          Eigen::MatrixXd dense = Eigen::Map<const Eigen::MatrixXd>(block.data(), n, n);
          dense.diagonal().array() += settings.beta;
          factors_[leaf].compute(dense);
        },
        kGrain);
  }

  void apply(std::span<const double> r, std::span<double> z) const {
    if (!blocks_) {
      for (size_t i = 0; i < r.size(); ++i) z[i] = diagonal_[i] * r[i];
      return;
    }
    parallelFor(
        factors_.size(),
        [&](size_t leaf) {
          const auto n = static_cast<Eigen::Index>(forest_.begin[leaf + 1] - forest_.begin[leaf]);
          Eigen::Map<Eigen::VectorXd>(z.data() + forest_.begin[leaf], n) =
              factors_[leaf].solve(Eigen::Map<const Eigen::VectorXd>(r.data() + forest_.begin[leaf], n));
        },
        kGrain);
  }

 private:
  const HpForest& forest_;
  bool blocks_;
  std::vector<double> diagonal_;
  std::vector<Eigen::LLT<Eigen::MatrixXd>> factors_;
};

}  // namespace

ContinuityReport makeContinuous(HpForest& forest, const ContinuitySettings& settings) {
  if (!(settings.beta > 0) || !std::isfinite(settings.beta))
    throw Error(ErrorKind::Usage, "the weight beta of a field's continuity must be positive");
  JumpMatrix matrix(forest);
  ContinuityReport report;
  report.faces = matrix.faces().size();
  const std::vector<double> before = forest.coefficients;
  const size_t n = before.size();
  report.energyBefore = matrix.energy(before);
  const Inverse inverse(matrix, forest, settings);

  // Starting from c', the residual of (M + beta I) c = beta c' is -M c'.
  std::vector<double>& c = forest.coefficients;
  std::vector<double> r(n), z(n), p(n), q(n);
  matrix.multiply(c, r);
  for (double& v : r) v = -v;
  inverse.apply(r, z);
  p = z;
  double rz = dot(r, z);
  const double enough = settings.tolerance * settings.beta * std::sqrt(dot(before, before));
  Work work("smoothing", 0, "iterations");
  while (true) {
    const double residual = std::sqrt(dot(r, r));
    report.converged = residual <= enough;
    work.note(fmt::format("residual {:.2g}, enough {:.2g}", residual, enough));
    if (report.converged || report.iterations >= settings.maxIterations) break;
    matrix.multiply(p, q);
    parallelFor(n, [&](size_t i) { q[i] += settings.beta * p[i]; });
    const double alpha = rz / dot(p, q);
    parallelFor(n, [&](size_t i) {
      c[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    });
    inverse.apply(r, z);
    const double rzNext = dot(r, z);
    const double ratio = rzNext / rz;
    rz = rzNext;
    parallelFor(n, [&](size_t i) { p[i] = z[i] + ratio * p[i]; });
    ++report.iterations;
    work.step();
  }
  report.energyAfter = matrix.energy(c);
  for (size_t i = 0; i < n; ++i) report.change += (c[i] - before[i]) * (c[i] - before[i]);
  return report;
}

}  // namespace sunder::sdf
