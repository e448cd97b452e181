// A field on the nodes of a cubic grid, kept only in blocks of 8 x 8 x 8 nodes that some shape reaches;
// elsewhere it is zero. Blocks are sorted by place, and each knows the shapes that reach it.
//
// Each block adds its shapes by ascending index, so the bits do not depend on the number of threads.
// Memory: 4 bytes a node, 12 a pair of shape and block.
#pragma once

#include "sunder/base/index.h"
#include "sunder/fluid/surface/particle_shapes.h"

#include <array>

namespace sunder::fluid {

class BlockGrid {
 public:
  static constexpr uint32_t kSide = 8;  // nodes along a block
  static constexpr uint32_t kNodes = kSide * kSide * kSide;
  using Place = std::array<int32_t, 3>;

  // Throws Error (Limit) where there would be more than `mostCells` nodes.
  BlockGrid(std::span<const ParticleShape> shapes, double cell, uint64_t mostCells);

  double cell() const { return cell_; }
  size_t size() const { return keys_.size(); }
  Place place(size_t block) const;                          // in blocks
  uint32_t find(const Place&) const;                        // kNoIndex where there is none
  Vec3 node(const Place& block, const Vec3& inside) const;  // position; `inside` in cells
  std::span<const float, kNodes> values(size_t block) const {
    return std::span<const float, kNodes>(values_.data() + block * kNodes, kNodes);
  }
  // Of every shape that is felt at a node of the block or within a cell above one.
  std::span<const uint32_t> members(size_t block) const {
    return {members_.data() + offsets_[block], offsets_[block + 1] - offsets_[block]};
  }

 private:
  void collect(std::span<const ParticleShape> shapes, uint64_t mostCells);
  void add(std::span<const ParticleShape> shapes, size_t block);

  double cell_;
  Vec3 origin_;
  std::vector<uint64_t> keys_;
  std::vector<size_t> offsets_;
  std::vector<uint32_t> members_;
  std::vector<float> values_;
};

}  // namespace sunder::fluid
