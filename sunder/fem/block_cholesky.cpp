#include "sunder/fem/block_cholesky.h"

#include "sunder/base/error.h"
#include "sunder/base/memory_limit.h"
#include "sunder/base/parallel.h"
#include "sunder/base/stop.h"
#include "sunder/base/work.h"
#include "sunder/fem/cholesky_kernel.h"

#include <algorithm>
#include <cassert>
#include <optional>

#include <fmt/format.h>

namespace sunder::fem {

namespace {

// Below this much work threads cost more than they bring.
constexpr double kParallelFlops = 2e7;
constexpr double kShownFlops = 1e9;        // from here on a line of progress says how far it is
constexpr double kLargePanels = 1e8;       // bytes from which on the memory there is matters
constexpr size_t kZeroedAtOnce = 1 << 22;  // numbers between two looks at a request to stop

}  // namespace

// Returns the row in the order of elimination that failed, or kNoIndex.
uint32_t BlockCholesky::factorSupernode(uint32_t s) {
  const ScratchPool<Scratch>::Loan loan(scratch_);
  Scratch& work = *loan;
  const Supernode& node = analysis_.supernodes[s];
  double* panel = panels_.data() + node.panel;
  if (node.updateCount != 0) {
    if (work.place.size() < analysis_.place.size()) work.place.resize(analysis_.place.size());
    for (uint32_t k = 0; k < node.width; ++k) work.place[node.first + k] = k;
    for (uint32_t k = 0; k < node.rowCount; ++k)
      work.place[analysis_.rows[node.rowStart + k]] = node.width + k;
  }
  for (uint32_t u = node.updateStart; u < node.updateStart + node.updateCount; ++u) {
    checkStop();
    const CholeskyAnalysis::Update& update = analysis_.updates[u];
    const Supernode& source = analysis_.supernodes[update.source];
    const uint32_t blocks = source.rowCount - update.begin, columns = update.end - update.begin;
    const size_t lead = 3 * size_t(blocks) + 4;
    if (work.update.size() < 3 * columns * lead + 4) work.update.resize(3 * columns * lead + 4);
    const double* from = panels_.data() + source.panel + 3 * (source.width + update.begin);
    kernels::product(3 * size_t(blocks), 3 * size_t(columns), 3 * size_t(source.width), from, source.lead,
                     from, source.lead, work.update.data(), lead);
    const uint32_t* rows = analysis_.rows.data() + source.rowStart + update.begin;
    for (uint32_t c = 0; c < columns; ++c) {
      double* to = panel + size_t(3) * work.place[rows[c]] * node.lead;
      const double* sums = work.update.data() + 3 * c * lead;
      for (int k = 0; k < 3; ++k, to += node.lead, sums += lead)
        for (uint32_t r = c; r < blocks; ++r) {
          double* at = to + 3 * work.place[rows[r]];
          const double* sum = sums + 3 * r;
          at[0] -= sum[0];
          at[1] -= sum[1];
          at[2] -= sum[2];
        }
    }
  }
  const size_t columns = 3 * node.width, first = 3 * size_t(node.first);
  const size_t reached = kernels::factorPanel(panel, node.lead, 3 * (node.width + node.rowCount), columns,
                                              diagonal_.data() + first);
  return reached == columns ? kNoIndex : node.first + static_cast<uint32_t>(reached / 3);
}

void BlockCholesky::invertSupernode(uint32_t s) {
  const Supernode& node = analysis_.supernodes[s];
  const ScratchPool<Scratch>::Loan loan(scratch_);
  Scratch& work = *loan;
  const size_t columns = 3 * node.width;
  if (work.update.size() < columns) work.update.resize(columns);
  kernels::invertPanel(panels_.data() + node.panel, node.lead, columns + 3 * node.rowCount, columns,
                       work.update.data());
}

void BlockCholesky::factor(const BlockMatrix& matrix) {
  if (analysis_.stamp != matrix.pattern().stamp()) analyse(matrix.pattern(), analysis_);
  const size_t n = matrix.rows();
  const double bytes = 8 * double(analysis_.panelSize);
  if (bytes > kLargePanels && bytes > double(memoryLimit()))
    throw Error(ErrorKind::Limit,
                fmt::format("the factor of a matrix of {} vertices takes {}", n, bytesWords(bytes)))
        .hint("take the solver 'pcg'");
  std::optional<sunder::Work> work;
  if (analysis_.flops > kShownFlops) work.emplace("factoring", analysis_.supernodes.size(), "panels");
  panels_.clear();
  panels_.reserve(analysis_.panelSize);
  while (panels_.size() < analysis_.panelSize) {  // the system takes seconds to give gigabytes
    checkStop();
    panels_.resize(std::min(analysis_.panelSize, panels_.size() + kZeroedAtOnce), 0);
  }
  diagonal_.resize(3 * n);
  const SparsePattern& pattern = matrix.pattern();
  uint32_t slot = 0;
  for (size_t i = 0; i < n; ++i)
    for (const uint32_t j : pattern.lowerRow(i)) {
      const uint64_t target = analysis_.target[slot];
      const Mat3& block = matrix.block(slot++);
      const uint32_t column = std::min(analysis_.place[i], analysis_.place[j]);
      const uint32_t lead = analysis_.supernodes[analysis_.work.mark[column]].lead;
      Eigen::Map<Mat3, 0, Eigen::OuterStride<>> to(panels_.data() + target / 2, Eigen::OuterStride<>(lead));
      if (target % 2)
        to = block.transpose();
      else
        to = block;
      if (i == j)
        for (int k = 0; k < 3; ++k) diagonal_[3 * column + k] = kSmallestPivot * block(k, k);
    }

  uint32_t failed = kNoIndex;
  const auto count = static_cast<uint32_t>(analysis_.supernodes.size());
  if (analysis_.flops < kParallelFlops) {
    for (uint32_t s = 0; s < count && failed == kNoIndex; ++s) failed = factorSupernode(s);
  } else {
    for (size_t level = 0; level + 1 < analysis_.levelStart.size() && failed == kNoIndex; ++level) {
      const uint32_t begin = analysis_.levelStart[level];
      failed = parallelReduce(
          analysis_.levelStart[level + 1] - begin, kNoIndex,
          [&](size_t from, size_t to) {
            uint32_t first = kNoIndex;
            for (size_t k = from; k < to; ++k) {
              first = std::min(first, factorSupernode(analysis_.levels[begin + k]));
              if (work) work->step();
            }
            return first;
          },
          [](uint32_t x, uint32_t y) { return std::min(x, y); }, 1);
    }
  }
  if (failed != kNoIndex)
    notPositive(static_cast<uint32_t>(std::find(analysis_.place.begin(), analysis_.place.end(), failed) -
                                      analysis_.place.begin()));
  parallelFor(
      count, [&](size_t s) { invertSupernode(static_cast<uint32_t>(s)); },
      analysis_.flops < kParallelFlops ? count : 16);
  x_.resize(3 * n);
  buffer_.resize(analysis_.tallest + 16);
}

void BlockCholesky::solve(std::span<const Vec3> b, std::span<Vec3> x) {
  assert(b.size() == analysis_.place.size() && x.size() == b.size());
  for (size_t i = 0; i < b.size(); ++i)
    for (int k = 0; k < 3; ++k) x_[3 * size_t(analysis_.place[i]) + size_t(k)] = b[i][k];
  kernels::substitute(analysis_, panels_.data(), x_.data(), buffer_.data());
  for (size_t i = 0; i < x.size(); ++i)
    for (int k = 0; k < 3; ++k) x[i][k] = x_[3 * size_t(analysis_.place[i]) + size_t(k)];
}

}  // namespace sunder::fem
