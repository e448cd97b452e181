#include "sunder/sdf/hp/hp_field.h"

#include "sunder/base/error.h"
#include "sunder/base/lazy_table.h"
#include "sunder/base/radix_sort.h"
#include "sunder/sdf/hp/hp_kernel.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sunder::sdf {

namespace {

using kernels::kPointGroup;

constexpr size_t kFew = 32;  // fewer are answered one by one

// For each coefficient in nested order, its place in the order by shells.
const std::vector<uint32_t>& nestedOrder(int degree) {
  static LazyTable<std::vector<uint32_t>, kLargestDegree + 1> orders;
  return orders.get(static_cast<size_t>(degree), [&] {
    const std::span<const MultiIndex> indices = multiIndices().first(coefficientCount(degree));
    std::vector<uint32_t> order(indices.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return indices[a] < indices[b]; });
    return order;
  });
}

// The factor of each coefficient in shell order, but for one over the root of the cell's volume.
double normalisation(const MultiIndex& i) {
  return std::sqrt((2.0 * i[0] + 1) * (2.0 * i[1] + 1) * (2.0 * i[2] + 1));
}

double rootOfVolume(const HpForest& forest, const HpCell& cell) {
  return std::sqrt(std::ldexp(forest.baseSize().prod(), -3 * static_cast<int>(cell.level)));
}

constexpr int kFine = 20;  // bits of a cell's place below its base cell: as many levels as there may be

// One point's way down: by the bits of its place in units of the finest level.
struct Descent {
  const HpForest& forest;
  Vec3 lower, perCell;
  double most[3];   // base cells
  int64_t last[3];  // the last of the finest cells

  Descent(const HpForest& f, const Vec3& cellsPerLength)
      : forest(f), lower(f.domain.lower), perCell(cellsPerLength) {
    for (int d = 0; d < 3; ++d) {
      most[d] = forest.base[size_t(d)];
      last[d] = (int64_t(forest.base[size_t(d)]) << kFine) - 1;
    }
  }

  // Returns the leaf, and the point's coordinates in it; false in `inside` where the point had to be moved.
  uint32_t operator()(const Vec3& point, double* t, bool& inside) const {
    double u[3];
    int64_t q[3];
    inside = true;
    for (int d = 0; d < 3; ++d) {
      const double raw = (point[d] - lower[d]) * perCell[d];
      u[d] = std::min(std::max(raw, 0.0), most[d]);
      inside &= u[d] == raw;
      q[d] = std::min(static_cast<int64_t>(u[d] * double(1 << kFine)), last[d]);
    }
    const int32_t* child = forest.child.data();
    size_t node = static_cast<size_t>((q[0] >> kFine) +
                                      forest.base[0] * ((q[1] >> kFine) + forest.base[1] * (q[2] >> kFine)));
    int shift = kFine;
    int32_t next;
    while ((next = child[node]) >= 0) {
      --shift;
      node =
          static_cast<size_t>(next + (q[0] >> shift & 1) + 2 * (q[1] >> shift & 1) + 4 * (q[2] >> shift & 1));
    }
    const auto zoom = static_cast<double>(1 << (kFine - shift));
    for (int d = 0; d < 3; ++d) t[d] = 2 * (u[d] * zoom - static_cast<double>(q[d] >> shift)) - 1;
    return static_cast<uint32_t>(-1 - next);
  }
};

// Memory for batches, kept from call to call. It belongs to the thread and is not borrowed from a
// ScratchPool: contacts ask for a few points at a time, at 100 ns each, and a loan costs 40 ns and a lock
// that all threads would wait for.
struct Workspace {
  std::vector<std::array<double, 3>> places;
  std::vector<uint32_t> outside;  // points that were moved
  std::vector<uint64_t> words;
  RadixScratch scratch;
  std::vector<double> local[3], value, gradient[3];

  void reserve(size_t count) {
    const size_t padded = count + kPointGroup;
    if (places.size() >= count && value.size() >= padded) return;
    places.resize(count);
    words.resize(count);
    value.resize(padded);
    for (int d = 0; d < 3; ++d) {
      local[d].resize(padded);
      gradient[d].resize(padded);
    }
  }
};

Workspace& workspace() {
  thread_local Workspace instance;
  return instance;
}

// Sorts a block of points by leaf and evaluates leaf by leaf: evaluate(leaf, count) works on the workspace's
// arrays, store(leaf, point, slot) takes a result.
template <class Evaluate, class Store>
void byLeaf(const Descent& descent, std::span<const Vec3> points, Workspace& w, Evaluate&& evaluate,
            Store&& store) {
  const size_t count = points.size();
  w.reserve(count);
  w.outside.clear();
  for (size_t i = 0; i < count; ++i) {
    bool inside;
    const uint32_t leaf = descent(points[i], w.places[i].data(), inside);
    w.words[i] = uint64_t(leaf) << 32 | i;
    if (!inside) w.outside.push_back(static_cast<uint32_t>(i));
  }
  std::span<const uint64_t> order(w.words.data(), count);
  if (count > kFew) {
    const auto bits = static_cast<unsigned>(std::bit_width(descent.forest.leafCount()));
    order = radixSortWords({w.words.data(), count}, 32, bits, w.scratch);
  }
  for (size_t begin = 0; begin < count;) {
    const uint64_t leaf = order[begin] >> 32;
    size_t end = begin;
    for (; end < count && order[end] >> 32 == leaf; ++end) {
      const std::array<double, 3>& t = w.places[static_cast<uint32_t>(order[end])];
      for (size_t d = 0; d < 3; ++d) w.local[d][end - begin] = t[d];
    }
    const size_t found = end - begin;
    for (size_t i = found; i % kPointGroup != 0; ++i)
      for (int d = 0; d < 3; ++d) w.local[d][i] = w.local[d][0];
    evaluate(leaf, found);
    for (size_t i = begin; i < end; ++i) store(leaf, static_cast<uint32_t>(order[i]), i - begin);
    begin = end;
  }
}

// From the domain to a point outside it.
Vec3 wayOut(const Box3& domain, const Vec3& point) {
  return point - point.cwiseMax(domain.lower).cwiseMin(domain.upper);
}

}  // namespace

HpField::HpField(const HpForest& forest, const Box3& solid) : forest_(forest), solid_(solid) {
  if (solid_.empty()) solid_ = forest_.domain;
  prepare();
  const std::vector<HpCell> cells = leafCells(forest);
  const std::span<const MultiIndex> indices = multiIndices();
  for (size_t leaf = 0; leaf < cells.size(); ++leaf) {
    const double scale = 1 / rootOfVolume(forest, cells[leaf]);
    const std::span<const double> from = forest.of(leaf);
    const std::span<double> to = forest_.of(leaf);
    const std::vector<uint32_t>& order = nestedOrder(forest.degree[leaf]);
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = from[order[i]] * (normalisation(indices[order[i]]) * scale);
  }
}

HpForest HpField::forest() const {
  HpForest result = forest_;
  const std::vector<HpCell> cells = leafCells(forest_);
  const std::span<const MultiIndex> indices = multiIndices();
  for (size_t leaf = 0; leaf < cells.size(); ++leaf) {
    const double scale = 1 / rootOfVolume(forest_, cells[leaf]);
    const std::span<const double> from = forest_.of(leaf);
    const std::span<double> to = result.of(leaf);
    const std::vector<uint32_t>& order = nestedOrder(forest_.degree[leaf]);
    for (size_t i = 0; i < to.size(); ++i)
      to[order[i]] = from[i] / (normalisation(indices[order[i]]) * scale);
  }
  return result;
}

void HpField::values(std::span<const Vec3> points, std::span<double> out) const {
  requireSameSize(points.size(), out.size());
  const Descent descent(forest_, perCell_);
  Workspace& w = workspace();
  for (size_t first = 0; first < points.size(); first += kBatch) {
    const std::span<const Vec3> block = points.subspan(first, std::min(kBatch, points.size() - first));
    byLeaf(
        descent, block, w,
        [&](uint64_t leaf, size_t count) {
          const double* const arrays[3] = {w.local[0].data(), w.local[1].data(), w.local[2].data()};
          kernels::polynomialValues(forest_.coefficients.data() + forest_.begin[leaf], forest_.degree[leaf],
                                    arrays, count, w.value.data());
        },
        [&](uint64_t, uint32_t point, size_t slot) { out[first + point] = w.value[slot]; });
    for (const uint32_t i : w.outside) out[first + i] += wayOut(forest_.domain, block[i]).norm();
  }
}

void HpField::samples(std::span<const Vec3> points, std::span<FieldSample> out) const {
  requireSameSize(points.size(), out.size());
  const Descent descent(forest_, perCell_);
  Workspace& w = workspace();
  for (size_t first = 0; first < points.size(); first += kBatch) {
    const std::span<const Vec3> block = points.subspan(first, std::min(kBatch, points.size() - first));
    Vec3 perLocal;
    byLeaf(
        descent, block, w,
        [&](uint64_t leaf, size_t count) {
          const double* const arrays[3] = {w.local[0].data(), w.local[1].data(), w.local[2].data()};
          double* const gradients[3] = {w.gradient[0].data(), w.gradient[1].data(), w.gradient[2].data()};
          kernels::polynomialSamples(forest_.coefficients.data() + forest_.begin[leaf], forest_.degree[leaf],
                                     arrays, count, w.value.data(), gradients);
          perLocal = 2.0 * double(1u << level_[leaf]) * perCell_;
        },
        [&](uint64_t, uint32_t point, size_t slot) {
          FieldSample& sample = out[first + point];
          sample.value = w.value[slot];
          for (int d = 0; d < 3; ++d) sample.gradient[d] = w.gradient[d][slot] * perLocal[d];
        });
    for (const uint32_t i : w.outside) {
      const Vec3 away = wayOut(forest_.domain, block[i]);
      const double distance = away.norm();
      if (!(distance > 0)) continue;  // rounding at the rim
      out[first + i].value += distance;
      out[first + i].gradient = away / distance;
    }
  }
}

void HpField::prepare() {
  perCell_ = forest_.baseSize().cwiseInverse();
  level_.resize(forest_.leafCount());
  const std::vector<HpCell> cells = leafCells(forest_);
  for (size_t leaf = 0; leaf < cells.size(); ++leaf) level_[leaf] = static_cast<uint8_t>(cells[leaf].level);
}

}  // namespace sunder::sdf
