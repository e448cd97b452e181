#include "sunder/sdf/voxel/voxel_merge.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/prefix_sum.h"

#include <bit>
#include <cmath>

namespace sunder::sdf {

namespace {

struct Level {
  VoxelGrid grid;
  std::vector<float> phi;  // by voxel number; meaningful where the bit was set
  std::vector<Vec3f> gradient;
};

// The even bits of a word, moved together.
uint64_t evenBits(uint64_t x) {
  x &= 0x5555555555555555u;
  x = (x | x >> 1) & 0x3333333333333333u;
  x = (x | x >> 2) & 0x0f0f0f0f0f0f0f0fu;
  x = (x | x >> 4) & 0x00ff00ff00ff00ffu;
  x = (x | x >> 8) & 0x0000ffff0000ffffu;
  return (x | x >> 16) & 0x00000000ffffffffu;
}

uint64_t spreadBits(uint64_t x) {
  x = (x | x << 16) & 0x0000ffff0000ffffu;
  x = (x | x << 8) & 0x00ff00ff00ff00ffu;
  x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fu;
  x = (x | x << 2) & 0x3333333333333333u;
  return (x | x << 1) & 0x5555555555555555u;
}

class Merger {
 public:
  Merger(const VoxelGrid& grid, const DistanceVolume& volume, const MergeSettings& settings)
      : volume_(volume), settings_(settings) {
    levels_.push_back({grid, {}, {}});
  }

  void run() {
    while (levels_.back().grid.count() >= 8 && coarsen()) {
    }
  }

  const std::vector<Level>& levels() const { return levels_; }

  float phi(size_t level, size_t voxel) const {
    return level == 0 ? volume_.phi[voxel] : levels_[level].phi[voxel];
  }
  Vec3 gradient(size_t level, uint32_t i, uint32_t j, uint32_t k) const {
    if (level == 0) return volume_.gradient(i, j, k);
    return levels_[level].gradient[levels_[level].grid.frame().number(i, j, k)].cast<double>();
  }

 private:
  // False where no level above is possible.
  bool coarsen() {
    const size_t below = levels_.size() - 1;
    VoxelFrame frame = levels_[below].grid.frame();
    frame.edge *= 2;
    for (uint32_t& side : frame.dims) side /= 2;
    if (frame.voxelCount() == 0) return false;
    levels_.push_back(
        {VoxelGrid(frame), std::vector<float>(frame.voxelCount()), std::vector<Vec3f>(frame.voxelCount())});
    // Slices 2k and 2k + 1 below belong to slice k alone.
    parallelFor(
        frame.dims[2],
        [&](size_t k) {
          for (uint32_t j = 0; j < frame.dims[1]; ++j) coarsenRow(below, j, uint32_t(k));
        },
        2);
    return true;
  }

  void coarsenRow(size_t below, uint32_t j, uint32_t k) {
    VoxelGrid& fine = levels_[below].grid;
    Level& coarse = levels_[below + 1];
    const std::span<uint64_t> rows[4] = {fine.row(2 * j, 2 * k), fine.row(2 * j + 1, 2 * k),
                                         fine.row(2 * j, 2 * k + 1), fine.row(2 * j + 1, 2 * k + 1)};
    const std::span<uint64_t> out = coarse.grid.row(j, k);
    for (size_t w = 0; w < fine.rowWords(); ++w) {
      uint64_t all = rows[0][w] & rows[1][w] & rows[2][w] & rows[3][w];
      all = evenBits(all & all >> 1);
      uint64_t merged = 0;
      for (uint64_t rest = all; rest != 0; rest &= rest - 1) {
        const int bit = std::countr_zero(rest);
        if (merge(below, uint32_t(32 * w) + uint32_t(bit), j, k)) merged |= uint64_t(1) << bit;
      }
      if (merged == 0) continue;
      out[w / 2] |= merged << (w % 2 * 32);
      const uint64_t gone = spreadBits(merged) * 3;
      for (const std::span<uint64_t>& row : rows) row[w] &= ~gone;
    }
  }

  bool merge(size_t below, uint32_t i, uint32_t j, uint32_t k) {
    const VoxelFrame& fine = levels_[below].grid.frame();
    float values[8];
    uint32_t shallowest = 0;
    for (uint32_t c = 0; c < 8; ++c) {
      values[c] = phi(below, fine.number(2 * i + (c & 1), 2 * j + (c >> 1 & 1), 2 * k + (c >> 2)));
      if (!(double(values[c]) < settings_.deeperThan)) return false;
      if (values[c] > values[shallowest]) shallowest = c;
    }
    const auto childGradient = [&](uint32_t c) {
      return gradient(below, 2 * i + (c & 1), 2 * j + (c >> 1 & 1), 2 * k + (c >> 2));
    };
    double value = 0;
    Vec3 direction = Vec3::Zero();
    if (settings_.value == MergedValue::Mean) {
      for (uint32_t c = 0; c < 8; ++c) {
        value += double(values[c]) / 8;
        direction += childGradient(c);
      }
      const double norm = direction.norm();
      if (norm > 0) direction /= norm;
    } else {
      value = double(values[shallowest]) - std::sqrt(3.0) * std::ldexp(1.0, int(below) - 1);
      direction = childGradient(shallowest);
    }
    Level& coarse = levels_[below + 1];
    const size_t number = coarse.grid.frame().number(i, j, k);
    coarse.phi[number] = float(value);
    coarse.gradient[number] = direction.cast<float>();
    return true;
  }

  const DistanceVolume& volume_;
  MergeSettings settings_;
  std::vector<Level> levels_;
};

void checkFrames(const VoxelGrid& grid, const DistanceVolume& volume) {
  if (!(grid.frame() == volume.frame) || volume.phi.size() != grid.voxelCount())
    throw Error(ErrorKind::Usage, "merging needs the distances of the same voxels");
}

void emit(const Merger& merger, const DistanceVolume& volume, size_t level, std::vector<VoxelParticle>& out) {
  const VoxelGrid& grid = merger.levels()[level].grid;
  const double edge = volume.frame.edge, radius = grid.frame().edge / 2;
  const uint32_t ny = grid.dims()[1];
  std::vector<uint64_t> offsets(grid.rows() + 1);
  for (size_t r = 0; r < grid.rows(); ++r)
    for (const uint64_t word : grid.row(uint32_t(r % ny), uint32_t(r / ny)))
      offsets[r] += uint64_t(std::popcount(word));
  exclusiveScan(std::span(offsets));
  const size_t start = out.size();
  out.resize(start + offsets.back());
  parallelFor(
      grid.rows(),
      [&](size_t r) {
        const auto j = uint32_t(r % ny), k = uint32_t(r / ny);
        const std::span<const uint64_t> row = grid.row(j, k);
        size_t slot = start + offsets[r];
        for (size_t w = 0; w < row.size(); ++w) {
          for (uint64_t rest = row[w]; rest != 0; rest &= rest - 1) {
            const uint32_t i = uint32_t(64 * w) + uint32_t(std::countr_zero(rest));
            const size_t number = grid.frame().number(i, j, k);
            VoxelParticle& p = out[slot++];
            p.centre = grid.frame().centre(i, j, k);
            p.radius = radius;
            p.phi = edge * double(merger.phi(level, number));
            p.gradient = merger.gradient(level, i, j, k);
            p.level = uint8_t(level);
            p.boundary = level == 0 && volume.isSite(number);
          }
        }
      },
      64);
}

}  // namespace

MergedVoxels mergeVoxels(const VoxelGrid& grid, const DistanceVolume& volume, const MergeSettings& settings) {
  checkFrames(grid, volume);
  Merger merger(grid, volume, settings);
  merger.run();
  MergedVoxels result;
  for (size_t level = 0; level < merger.levels().size(); ++level) {
    const size_t before = result.particles.size();
    emit(merger, volume, level, result.particles);
    result.perLevel.push_back(result.particles.size() - before);
  }
  while (result.perLevel.size() > 1 && result.perLevel.back() == 0) result.perLevel.pop_back();
  return result;
}

uint32_t findPadding(const VoxelGrid& grid, const MergeSettings& settings, uint32_t most) {
  uint32_t best = 1;
  size_t fewest = ~size_t(0);
  for (uint32_t padding = 1; padding <= most; ++padding) {
    const VoxelGrid wide = padded(grid, padding);
    const DistanceVolume volume = distanceTransform(wide);
    Merger merger(wide, volume, settings);
    merger.run();
    size_t count = 0;
    for (const Level& level : merger.levels()) count += level.grid.count();
    if (count >= fewest) continue;
    fewest = count;
    best = padding;
  }
  return best;
}

}  // namespace sunder::sdf
