#include "sunder/fem/motion/outer_products.h"

#include "sunder/base/index.h"
#include "sunder/base/parallel.h"

#include <cassert>

namespace sunder::fem {

namespace {

// A term with more vertices than a tetrahedron has fits no pattern.
constexpr size_t kMostAbsorbed = 4;
constexpr size_t kOuterGrain = 512;

}  // namespace

void OuterProducts::absorb(BlockMatrix& matrix, size_t rows) {
  const SparsePattern& pattern = matrix.pattern();
  const size_t n = pattern.rows();
  vertices_ = n;
  absorbed_.assign(terms_.size(), 0);
  kept_.clear();
  outside_ = false;
  for (uint32_t t = 0; t < terms_.size(); ++t) {
    const uint32_t begin = terms_.starts[t], end = terms_.starts[t + 1];
    uint32_t vertices[kMostAbsorbed] = {};
    size_t count = 0, slots = 0;
    for (uint32_t k = begin; k < end; ++k) {
      assert(terms_.rows[k] < rows);
      if (terms_.rows[k] >= n) continue;
      if (count < kMostAbsorbed) vertices[count] = k;
      ++count;
    }
    uint32_t slot[kMostAbsorbed * kMostAbsorbed] = {};
    bool fits = count <= kMostAbsorbed;
    for (size_t a = 0; a < count && fits; ++a)
      for (size_t b = 0; b < count && fits; ++b) {
        const uint32_t row = terms_.rows[vertices[a]], column = terms_.rows[vertices[b]];
        if (column > row) continue;
        slot[slots] = pattern.slot(row, column);
        fits = slot[slots++] != kNoIndex;
      }
    if (!fits) {
      outside_ = true;
      kept_.push_back(t);
      continue;
    }
    absorbed_[t] = 1;
    slots = 0;
    for (size_t a = 0; a < count; ++a)
      for (size_t b = 0; b < count; ++b) {
        if (terms_.rows[vertices[b]] > terms_.rows[vertices[a]]) continue;
        matrix.block(slot[slots++]).noalias() +=
            terms_.weights[t] * terms_.blocks[vertices[a]] * terms_.blocks[vertices[b]].transpose();
      }
    if (count < end - begin) kept_.push_back(t);
  }
  gather(rows);
}

void OuterProducts::hold(std::span<const Vec3> free) {
  for (size_t k = 0; k < terms_.rows.size(); ++k)
    if (terms_.rows[k] < free.size()) terms_.blocks[k] = terms_.blocks[k].cwiseProduct(free[terms_.rows[k]]);
}

void OuterProducts::gather(size_t rows) {
  touched_.clear();
  places_.clear();
  touchedStart_.assign(1, 0);
  if (kept_.empty()) return;
  products_.resize(terms_.size());
  cursor_.assign(rows, 0);
  for (const uint32_t t : kept_)
    for (uint32_t k = terms_.starts[t]; k < terms_.starts[t + 1]; ++k) ++cursor_[terms_.rows[k]];
  uint32_t sum = 0;
  for (uint32_t row = 0; row < rows; ++row) {
    const uint32_t count = cursor_[row];
    cursor_[row] = sum;
    sum += count;
    if (count == 0) continue;
    touched_.push_back(row);
    touchedStart_.push_back(sum);
  }
  places_.resize(sum);
  for (const uint32_t t : kept_)
    for (uint32_t k = terms_.starts[t]; k < terms_.starts[t + 1]; ++k)
      places_[cursor_[terms_.rows[k]]++] = {t, k};
}

void OuterProducts::addProduct(std::span<const Vec3> x, std::span<Vec3> result) {
  const size_t n = vertices_;
  if (kept_.empty()) return;
  parallelFor(
      kept_.size(),
      [&](size_t s) {
        const uint32_t t = kept_[s];
        double vertices = 0, own = 0;
        for (uint32_t k = terms_.starts[t]; k < terms_.starts[t + 1]; ++k)
          (terms_.rows[k] < n ? vertices : own) += terms_.blocks[k].dot(x[terms_.rows[k]]);
        products_[t].vertices = terms_.weights[t] * (absorbed_[t] ? own : vertices + own);
        products_[t].own = terms_.weights[t] * (vertices + own);
      },
      kOuterGrain);
  parallelFor(
      touched_.size(),
      [&](size_t s) {
        const uint32_t row = touched_[s];
        Vec3 sum = Vec3::Zero();
        for (uint32_t k = touchedStart_[s]; k < touchedStart_[s + 1]; ++k) {
          const Product& product = products_[places_[k].term];
          sum += (row < n ? product.vertices : product.own) * terms_.blocks[places_[k].block];
        }
        result[row] += sum;
      },
      kOuterGrain);
}

}  // namespace sunder::fem
