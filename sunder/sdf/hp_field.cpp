#include "sunder/sdf/hp_field.h"

#include "sunder/base/error.h"
#include "sunder/base/radix_sort.h"
#include "sunder/sdf/hp_kernel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>

namespace sunder::sdf {

namespace {

using kernels::kPointGroup;

constexpr size_t kBlock = 8192;  // points that are sorted by leaf together
constexpr size_t kFew = 32;      // fewer are answered one by one

// For each coefficient in nested order, its place in the order by shells.
const std::vector<uint32_t>& nestedOrder(int degree) {
  static std::array<std::vector<uint32_t>, kLargestDegree + 1> orders;
  static std::array<std::once_flag, kLargestDegree + 1> made;
  const auto p = static_cast<size_t>(degree);
  std::call_once(made[p], [&] {
    const std::span<const MultiIndex> indices = multiIndices().first(coefficientCount(degree));
    std::vector<uint32_t>& order = orders[p];
    order.resize(indices.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return indices[a] < indices[b]; });
  });
  return orders[p];
}

// The factor of each coefficient in shell order, but for one over the root of the cell's volume.
double normalisation(const MultiIndex& i) {
  return std::sqrt((2.0 * i[0] + 1) * (2.0 * i[1] + 1) * (2.0 * i[2] + 1));
}

double rootOfVolume(const HpForest& forest, const HpCell& cell) {
  return std::sqrt(std::ldexp(forest.baseSize().prod(), -3 * static_cast<int>(cell.level)));
}

struct Place {
  uint32_t leaf;
  uint32_t level;
  double t[3];
};

struct Descent {
  const HpForest& forest;
  Vec3 lower, perCell;

  // `outside` becomes the way from the domain to the point.
  Place operator()(const Vec3& point, Vec3& outside) const {
    Place place;
    uint32_t index[3];
    for (int d = 0; d < 3; ++d) {
      const double inside = std::clamp(point[d], forest.domain.lower[d], forest.domain.upper[d]);
      outside[d] = point[d] - inside;
      const double u = (inside - lower[d]) * perCell[d];
      index[d] = std::min(static_cast<uint32_t>(std::max(u, 0.0)), forest.base[size_t(d)] - 1);
      place.t[d] = 2 * (u - index[d]) - 1;
    }
    size_t node = index[0] + forest.base[0] * (index[1] + size_t(forest.base[1]) * index[2]);
    const int32_t* child = forest.child.data();
    place.level = 0;
    int32_t next;
    while ((next = child[node]) >= 0) {
      uint32_t which = 0;
      for (int d = 0; d < 3; ++d) {
        const bool upper = place.t[d] >= 0;
        which |= uint32_t(upper) << d;
        place.t[d] = 2 * place.t[d] - (upper ? 1.0 : -1.0);
      }
      node = static_cast<size_t>(next) + which;
      ++place.level;
    }
    for (double& t : place.t) t = std::clamp(t, -1.0, 1.0);
    place.leaf = static_cast<uint32_t>(-1 - next);
    return place;
  }
};

// Memory of a thread for batches, kept from call to call.
struct Workspace {
  std::vector<Place> places;
  std::vector<Vec3> outside;
  std::vector<uint64_t> words;
  RadixScratch scratch;
  std::vector<double> local[3], value, gradient[3];

  void reserve(size_t count) {
    const size_t padded = count + kPointGroup;
    if (places.size() >= count && value.size() >= padded) return;
    places.resize(count);
    outside.resize(count);
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

void checkSizes(size_t points, size_t results) {
  if (points != results) throw Error(ErrorKind::Usage, "a field needs as many results as points");
}

// Sorts a block of points by leaf and evaluates leaf by leaf: evaluate(leaf, count) works on the workspace's
// arrays, store(point, slot) takes a result.
template <class Evaluate, class Store>
void byLeaf(const Descent& descent, std::span<const Vec3> points, Workspace& w, Evaluate&& evaluate,
            Store&& store) {
  const size_t count = points.size();
  w.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    w.places[i] = descent(points[i], w.outside[i]);
    w.words[i] = uint64_t(w.places[i].leaf) << 32 | i;
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
      const Place& place = w.places[static_cast<uint32_t>(order[end])];
      for (int d = 0; d < 3; ++d) w.local[d][end - begin] = place.t[d];
    }
    const size_t found = end - begin;
    for (size_t i = found; i % kPointGroup != 0; ++i)
      for (int d = 0; d < 3; ++d) w.local[d][i] = w.local[d][0];
    evaluate(leaf, found);
    for (size_t i = begin; i < end; ++i) store(static_cast<uint32_t>(order[i]), i - begin);
    begin = end;
  }
}

}  // namespace

HpField::HpField(const HpForest& forest, const Box3& solid) : forest_(forest), solid_(solid) {
  if (solid_.empty()) solid_ = forest_.domain;
  perCell_ = forest_.baseSize().cwiseInverse();
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
  checkSizes(points.size(), out.size());
  const Descent descent{forest_, forest_.domain.lower, perCell_};
  Workspace& w = workspace();
  for (size_t first = 0; first < points.size(); first += kBlock) {
    const std::span<const Vec3> block = points.subspan(first, std::min(kBlock, points.size() - first));
    byLeaf(
        descent, block, w,
        [&](uint64_t leaf, size_t count) {
          const double* const arrays[3] = {w.local[0].data(), w.local[1].data(), w.local[2].data()};
          kernels::polynomialValues(forest_.coefficients.data() + forest_.begin[leaf], forest_.degree[leaf],
                                    arrays, count, w.value.data());
        },
        [&](uint32_t point, size_t slot) {
          const Vec3& away = w.outside[point];
          out[first + point] = w.value[slot] + (away.isZero(0) ? 0.0 : away.norm());
        });
  }
}

void HpField::samples(std::span<const Vec3> points, std::span<FieldSample> out) const {
  checkSizes(points.size(), out.size());
  const Descent descent{forest_, forest_.domain.lower, perCell_};
  Workspace& w = workspace();
  const Vec3 perLocal = 2 * perCell_;
  for (size_t first = 0; first < points.size(); first += kBlock) {
    const std::span<const Vec3> block = points.subspan(first, std::min(kBlock, points.size() - first));
    byLeaf(
        descent, block, w,
        [&](uint64_t leaf, size_t count) {
          const double* const arrays[3] = {w.local[0].data(), w.local[1].data(), w.local[2].data()};
          double* const gradients[3] = {w.gradient[0].data(), w.gradient[1].data(), w.gradient[2].data()};
          kernels::polynomialSamples(forest_.coefficients.data() + forest_.begin[leaf], forest_.degree[leaf],
                                     arrays, count, w.value.data(), gradients);
        },
        [&](uint32_t point, size_t slot) {
          FieldSample& sample = out[first + point];
          const double zoom = std::ldexp(1.0, static_cast<int>(w.places[point].level));
          sample.value = w.value[slot];
          for (int d = 0; d < 3; ++d) sample.gradient[d] = w.gradient[d][slot] * perLocal[d] * zoom;
          const Vec3& away = w.outside[point];
          if (away.isZero(0)) return;
          const double distance = away.norm();
          sample.value += distance;
          sample.gradient = away / distance;
        });
  }
}

}  // namespace sunder::sdf
