#include "sunder/fluid/surface/block_grid.h"

#include "sunder/base/bounds.h"
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/prefix_sum.h"
#include "sunder/base/profiler.h"
#include "sunder/base/radix_sort.h"
#include "sunder/fluid/surface/shape_field.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::fluid {

namespace {

constexpr unsigned kAxisBits = 21;  // of a key
constexpr double kMostBlocks = (1 << kAxisBits) - 2;
constexpr double kMostPairs = 0x1p29;  // of shape and block, 12 bytes each

uint64_t keyOf(const BlockGrid::Place& place) {
  return uint64_t(place[0]) | uint64_t(place[1]) << kAxisBits | uint64_t(place[2]) << 2 * kAxisBits;
}

[[noreturn]] void refuse(double cells, uint64_t most) {
  throw Error(ErrorKind::Limit,
              fmt::format("the grid of the surface would have up to {:.3g} cells, the limit is {:.3g}", cells,
                          double(most)))
      .hint("take larger cells");
}

}  // namespace

BlockGrid::BlockGrid(std::span<const ParticleShape> shapes, double cell, uint64_t mostCells)
    : cell_(cell), origin_(Vec3::Zero()), offsets_{0} {
  if (shapes.empty()) return;
  Box3 box;
  for (const ParticleShape& s : shapes)
    box.grow(Box3{s.centre - s.reach.cast<double>(), s.centre + s.reach.cast<double>()});
  // Half a cell off: symmetric pools do not lie along the grid then.
  origin_ = box.lower.array() - 2.5 * cell;
  const double longest = (box.upper - origin_).maxCoeff() / (cell * kSide);
  if (!(longest < kMostBlocks)) refuse(std::pow(longest * kSide, 3), mostCells);
  collect(shapes, mostCells);
  values_.assign(keys_.size() * kNodes, 0);
  const ProfileScope scope("field");
  parallelFor(
      keys_.size(), [&](size_t b) { add(shapes, b); }, 8);
}

BlockGrid::Place BlockGrid::place(size_t block) const {
  constexpr uint64_t kMask = (uint64_t(1) << kAxisBits) - 1;
  const uint64_t key = keys_[block];
  return {int32_t(key & kMask), int32_t(key >> kAxisBits & kMask), int32_t(key >> 2 * kAxisBits & kMask)};
}

uint32_t BlockGrid::find(const Place& place) const {
  if (place[0] < 0 || place[1] < 0 || place[2] < 0) return kNoIndex;
  const auto found = std::lower_bound(keys_.begin(), keys_.end(), keyOf(place));
  return found == keys_.end() || *found != keyOf(place) ? kNoIndex : uint32_t(found - keys_.begin());
}

Vec3 BlockGrid::node(const Place& block, const Vec3& inside) const {
  const Vec3 corner(double(block[0]) * kSide, double(block[1]) * kSide, double(block[2]) * kSide);
  return origin_ + cell_ * (corner + inside);
}

// Pairs of block and shape, sorted: the blocks, and the shapes of each.
void BlockGrid::collect(std::span<const ParticleShape> shapes, uint64_t mostCells) {
  const ProfileScope scope("blocks");
  const double scale = 1 / (cell_ * kSide);
  // A block more where a shape begins within a cell above its last nodes: cells hold to the block of their
  // lowest node.
  const auto range = [&](const ParticleShape& s, Place& first, Place& last) {
    for (size_t k = 0; k < 3; ++k) {
      const double centre = s.centre[Eigen::Index(k)] - origin_[Eigen::Index(k)],
                   reach = double(s.reach[Eigen::Index(k)]);
      first[k] = int32_t(std::floor((centre - reach - 1.01 * cell_) * scale));
      last[k] = int32_t(std::floor((centre + reach + 0.01 * cell_) * scale));
    }
  };
  std::vector<uint64_t> starts(shapes.size() + 1, 0);
  struct Count {
    double all = 0, most = 0;
  };
  const Count count = parallelReduce(
      shapes.size(), Count{},
      [&](size_t begin, size_t end) {
        Count sum;
        for (size_t i = begin; i < end; ++i) {
          Place a, b;
          range(shapes[i], a, b);
          const double here = double(b[0] - a[0] + 1) * double(b[1] - a[1] + 1) * double(b[2] - a[2] + 1);
          starts[i] = uint64_t(here);
          sum.all += here;
          sum.most = std::max(sum.most, here);
        }
        return sum;
      },
      [](const Count& x, const Count& y) {
        return Count{x.all + y.all, std::max(x.most, y.most)};
      });
  if (count.all > kMostPairs || count.most * kNodes > double(mostCells))
    refuse(count.all * kNodes, mostCells);
  const uint64_t pairs = exclusiveScan(std::span<const uint64_t>(starts).first(shapes.size()), starts);
  std::vector<uint64_t> keys(pairs);
  members_.resize(pairs);
  parallelFor(shapes.size(), [&](size_t i) {
    Place a, b, at;
    range(shapes[i], a, b);
    uint64_t slot = starts[i];
    for (at[2] = a[2]; at[2] <= b[2]; ++at[2])
      for (at[1] = a[1]; at[1] <= b[1]; ++at[1])
        for (at[0] = a[0]; at[0] <= b[0]; ++at[0]) {
          keys[slot] = keyOf(at);
          members_[slot++] = uint32_t(i);
        }
  });
  RadixScratch scratch;
  radixSortPairs(std::span<uint64_t>(keys), members_, scratch, 3 * kAxisBits);
  offsets_.clear();
  for (size_t p = 0; p < pairs; ++p)
    if (p == 0 || keys[p] != keys[p - 1]) {
      keys_.push_back(keys[p]);
      offsets_.push_back(p);
    }
  offsets_.push_back(pairs);
  if (keys_.size() * uint64_t(kNodes) > mostCells) refuse(double(keys_.size()) * kNodes, mostCells);
}

void BlockGrid::add(std::span<const ParticleShape> shapes, size_t block) {
  float* const values = values_.data() + block * kNodes;
  const std::span<const uint32_t> here = members(block);
  if (std::all_of(here.begin(), here.end(), [&](uint32_t m) { return shapes[m].deep; })) {
    std::fill_n(values, kNodes, 1.0f);
    return;
  }
  const Vec3 corner = node(place(block), Vec3::Zero());
  using Row = Eigen::Array<float, kSide, 1>;
  const Row nodes = Row::LinSpaced(0, kSide - 1);
  for (const uint32_t member : here) {
    const LocalShape s(shapes[member], corner, cell_);
    int32_t first[3], last[3];
    for (int k = 0; k < 3; ++k) {
      first[k] = std::max(int32_t(std::ceil(s.centre[k] - s.reach[k])), 0);
      last[k] = std::min(int32_t(std::floor(s.centre[k] + s.reach[k])), int32_t(kSide) - 1);
    }
    if (first[0] > last[0]) continue;
    const float* const m = s.metric;
    const float weight = s.weight, a = m[0];
    const Row along = nodes - s.centre.x();
    for (int32_t z = first[2]; z <= last[2]; ++z)
      for (int32_t y = first[1]; y <= last[1]; ++y) {
        const float dy = float(y) - s.centre.y(), dz = float(z) - s.centre.z();
        // Along the row, 1 - q^2 = c - x (b + a x).
        const float b = 2 * (m[3] * dy + m[4] * dz);
        const float c = 1 - (m[1] * dy * dy + m[2] * dz * dz + 2 * m[5] * dy * dz);
        if (4 * a * c + b * b <= 0) continue;  // q stays above 1
        const Row t = (c - along * (b + a * along)).max(0.0f);
        Eigen::Map<Row>(values + (uint32_t(z) * kSide + uint32_t(y)) * kSide) += weight * t * t * t;
      }
  }
}

}  // namespace sunder::fluid
