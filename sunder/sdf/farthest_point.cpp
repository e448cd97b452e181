#include "sunder/sdf/farthest_point.h"

#include "sunder/base/box.h"
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace sunder::sdf {

namespace {

constexpr size_t kPointBlock = 64;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Points in Morton order, in blocks of kPointBlock, coordinates apart.
struct PointBlocks {
  size_t count = 0;
  std::vector<uint32_t> id;  // of the slot's point
  std::vector<double> x, y, z;
  std::vector<Box3> box;

  explicit PointBlocks(std::span<const Vec3> points) : count(points.size()) {
    Box3 all;
    for (size_t i = 0; i < count; ++i) {
      if (!points[i].allFinite()) throw Error(ErrorKind::Usage, fmt::format("point {} is not finite", i));
      all.grow(points[i]);
    }
    std::vector<std::pair<uint64_t, uint32_t>> keys(count);
    const double extent = count > 0 ? all.extent().maxCoeff() : 0;
    const double scale = extent > 0 ? 1023 / extent : 0;
    for (size_t i = 0; i < count; ++i) {
      uint64_t code = 0;
      for (int d = 0; d < 3; ++d) {
        const auto c = uint32_t(std::min(1023.0, (points[i][d] - all.lower[d]) * scale));
        for (unsigned bit = 0; bit < 10; ++bit) code |= uint64_t(c >> bit & 1) << (3 * bit + unsigned(d));
      }
      keys[i] = {code, uint32_t(i)};
    }
    std::sort(keys.begin(), keys.end());
    id.resize(count);
    x.resize(count);
    y.resize(count);
    z.resize(count);
    box.resize((count + kPointBlock - 1) / kPointBlock);
    for (size_t slot = 0; slot < count; ++slot) {
      id[slot] = keys[slot].second;
      const Vec3& p = points[id[slot]];
      x[slot] = p.x();
      y[slot] = p.y();
      z[slot] = p.z();
      box[slot / kPointBlock].grow(p);
    }
  }

  size_t begin(size_t block) const { return block * kPointBlock; }
  size_t end(size_t block) const { return std::min(count, (block + 1) * kPointBlock); }

  double squared(size_t a, size_t b) const { return squared(a, x[b], y[b], z[b]); }
  double squared(size_t slot, double px, double py, double pz) const {
    const double dx = x[slot] - px, dy = y[slot] - py, dz = z[slot] - pz;
    return dx * dx + dy * dy + dz * dz;
  }
};

// A squared distance that can be compared with those of points: the box's own is computed from its corners
// with the same roundings, so it is never above (below) that of a point in it.
double squaredToBox(const Box3& box, double x, double y, double z) {
  const double dx = std::max({box.lower.x() - x, x - box.upper.x(), 0.0});
  const double dy = std::max({box.lower.y() - y, y - box.upper.y(), 0.0});
  const double dz = std::max({box.lower.z() - z, z - box.upper.z(), 0.0});
  return dx * dx + dy * dy + dz * dz;
}

double largestSquared(const Box3& a, const Box3& b) {
  const auto along = [&](int d) { return std::max(a.upper[d] - b.lower[d], b.upper[d] - a.lower[d]); };
  const double dx = along(0), dy = along(1), dz = along(2);
  return dx * dx + dy * dy + dz * dz;
}

struct Pair {
  double squared = -1;
  uint32_t a = 0, b = 0;  // a < b

  bool betterThan(const Pair& o) const {
    return squared != o.squared ? squared > o.squared : std::pair(a, b) < std::pair(o.a, o.b);
  }
};

Pair farthestPairOf(const PointBlocks& blocks) {
  // Two hops from the first point: a lower bound that leaves few pairs of blocks.
  const auto farthestFrom = [&](size_t from) {
    size_t best = 0;
    for (size_t slot = 1; slot < blocks.count; ++slot)
      if (blocks.squared(slot, from) > blocks.squared(best, from)) best = slot;
    return best;
  };
  const size_t one = farthestFrom(0), other = farthestFrom(one);
  const double known = blocks.squared(one, other);
  const auto search = [&](size_t begin, size_t end) {
    Pair best;
    for (size_t p = begin; p < end; ++p) {
      for (size_t q = p; q < blocks.box.size(); ++q) {
        if (largestSquared(blocks.box[p], blocks.box[q]) < std::max(known, best.squared)) continue;
        for (size_t i = blocks.begin(p); i < blocks.end(p); ++i) {
          for (size_t j = q == p ? i + 1 : blocks.begin(q); j < blocks.end(q); ++j) {
            const double d = blocks.squared(i, j);
            if (d < best.squared) continue;
            const auto [a, b] = std::minmax(blocks.id[i], blocks.id[j]);
            const Pair pair{d, a, b};
            if (pair.betterThan(best)) best = pair;
          }
        }
      }
    }
    return best;
  };
  return parallelReduce(
      blocks.box.size(), Pair{}, search, [](Pair a, Pair b) { return b.betterThan(a) ? b : a; }, 8);
}

class Greedy {
 public:
  Greedy(std::span<const Vec3> points, size_t count)
      : blocks_(points),
        wanted_(std::min(count, points.size())),
        squared_(points.size(), kInfinity),
        nearest_(points.size(), 0),
        blockBest_(blocks_.box.size()) {
    for (size_t b = 0; b < blockBest_.size(); ++b) refresh(b);
  }

  FarthestPointOrder run() {
    FarthestPointOrder result;
    if (wanted_ == 0) return result;
    const Pair first = blocks_.count > 1 ? farthestPairOf(blocks_) : Pair{0, 0, 0};
    std::vector<uint32_t> slotOf(blocks_.count), above(blocks_.count, 0);
    for (size_t slot = 0; slot < blocks_.count; ++slot) slotOf[blocks_.id[slot]] = uint32_t(slot);
    uint32_t next = slotOf[first.a];
    for (size_t rank = 0; rank < wanted_; ++rank) {
      if (rank == 1) next = slotOf[first.b];
      // Ranks 2^l .. 2^(l + 1) - 1 hang below what was nearest when 2^l points had been taken.
      if (std::has_single_bit(rank)) above = nearest_;
      result.order.push_back(blocks_.id[next]);
      result.gap.push_back(std::sqrt(squared_[next]));
      result.parent.push_back(above[next]);
      take(next, uint32_t(rank));
      next = farthest();
    }
    return result;
  }

 private:
  static constexpr double kTaken = -1;

  struct Best {
    double squared = kTaken;
    uint32_t slot = 0;
  };

  bool better(const Best& a, const Best& b) const {
    return a.squared != b.squared ? a.squared > b.squared : blocks_.id[a.slot] < blocks_.id[b.slot];
  }

  void refresh(size_t block) {
    Best best{squared_[blocks_.begin(block)], uint32_t(blocks_.begin(block))};
    for (size_t slot = blocks_.begin(block) + 1; slot < blocks_.end(block); ++slot) {
      const Best one{squared_[slot], uint32_t(slot)};
      if (better(one, best)) best = one;
    }
    blockBest_[block] = best;
  }

  void take(uint32_t taken, uint32_t rank) {
    squared_[taken] = kTaken;
    const double x = blocks_.x[taken], y = blocks_.y[taken], z = blocks_.z[taken];
    const size_t home = taken / kPointBlock;
    const auto update = [&](size_t block) {
      bool changed = block == home;
      if (squaredToBox(blocks_.box[block], x, y, z) < blockBest_[block].squared) {
        for (size_t slot = blocks_.begin(block); slot < blocks_.end(block); ++slot) {
          const double d = blocks_.squared(slot, x, y, z);
          if (d < squared_[slot]) {
            squared_[slot] = d;
            nearest_[slot] = rank;
            changed = true;
          }
        }
      }
      if (changed) refresh(block);
    };
    // Only the first points reach most blocks; later ones are too little work to share.
    if (rank < 64)
      parallelFor(blockBest_.size(), update, 64);
    else
      for (size_t block = 0; block < blockBest_.size(); ++block) update(block);
  }

  uint32_t farthest() const {
    Best best = blockBest_[0];
    for (size_t block = 1; block < blockBest_.size(); ++block)
      if (better(blockBest_[block], best)) best = blockBest_[block];
    return best.slot;
  }

  PointBlocks blocks_;
  size_t wanted_;
  std::vector<double> squared_;  // by slot: to the nearest point taken
  std::vector<uint32_t> nearest_;
  std::vector<Best> blockBest_;
};

}  // namespace

FarthestPointOrder farthestPointOrder(std::span<const Vec3> points, size_t count) {
  if (points.size() > 0xffffffffu) throw Error(ErrorKind::Limit, "more than 2^32 points to order");
  return Greedy(points, count).run();
}

std::pair<uint32_t, uint32_t> farthestPair(std::span<const Vec3> points) {
  if (points.empty()) throw Error(ErrorKind::Usage, "no points to take the farthest of");
  if (points.size() == 1) return {0, 0};
  const Pair pair = farthestPairOf(PointBlocks(points));
  return {pair.a, pair.b};
}

}  // namespace sunder::sdf
