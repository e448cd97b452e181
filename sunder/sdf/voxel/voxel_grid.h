// A volume of bits: which voxels of a regular lattice are inside. One bit a voxel, 64 voxels to a word along
// x; bits beyond the last voxel of a row are always 0. Voxel (i, j, k) is the cube with the given edge whose
// lowest corner is origin + edge (i, j, k); its number, where one is asked for, is i + nx (j + ny k).
//
// Memory: rows() * rowWords() words. Limits: at most 32,767 voxels along an axis and 2^31 - 1 in all, so that
// numbers and squared distances fit 32 bits; the constructor throws Error (Limit) beyond, (Usage) for an edge
// that is not positive and finite.
#pragma once

#include "sunder/base/box.h"
#include "sunder/base/math.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace sunder::sdf {

// Where the voxels are.
struct VoxelFrame {
  Vec3 origin = Vec3::Zero();
  double edge = 1;                        // m
  std::array<uint32_t, 3> dims{0, 0, 0};  // voxels along x, y, z

  size_t voxelCount() const { return size_t(dims[0]) * dims[1] * dims[2]; }
  size_t number(uint32_t i, uint32_t j, uint32_t k) const {
    return i + size_t(dims[0]) * (j + size_t(dims[1]) * k);
  }
  std::array<uint32_t, 3> place(size_t number) const {
    const size_t row = number / dims[0];
    return {uint32_t(number % dims[0]), uint32_t(row % dims[1]), uint32_t(row / dims[1])};
  }
  Vec3 centre(uint32_t i, uint32_t j, uint32_t k) const {
    return origin + edge * Vec3(i + 0.5, j + 0.5, k + 0.5);
  }
  Box3 box() const { return {origin, origin + edge * Vec3(dims[0], dims[1], dims[2])}; }
  bool operator==(const VoxelFrame&) const = default;
};

// The longest side of the box in exactly n voxels, the others in as many as cover them; `padding` more on
// every side. Throws Error (Usage) for n < 1 and (Geometry) for a box that is empty, not finite or a point.
VoxelFrame frameAround(const Box3& box, uint32_t n, uint32_t padding = 0);

class VoxelGrid {
 public:
  VoxelGrid() = default;
  explicit VoxelGrid(const VoxelFrame& frame);

  const VoxelFrame& frame() const { return frame_; }
  const std::array<uint32_t, 3>& dims() const { return frame_.dims; }
  size_t voxelCount() const { return frame_.voxelCount(); }

  size_t rowWords() const { return rowWords_; }
  size_t rows() const { return size_t(frame_.dims[1]) * frame_.dims[2]; }
  std::span<uint64_t> row(uint32_t j, uint32_t k) {
    return {words_.data() + rowWords_ * (j + size_t(frame_.dims[1]) * k), rowWords_};
  }
  std::span<const uint64_t> row(uint32_t j, uint32_t k) const {
    return {words_.data() + rowWords_ * (j + size_t(frame_.dims[1]) * k), rowWords_};
  }
  std::span<uint64_t> words() { return words_; }
  std::span<const uint64_t> words() const { return words_; }
  // Which bits of word `w` of a row are voxels.
  uint64_t validBits(size_t w) const {
    const uint32_t rest = frame_.dims[0] % 64;
    return w + 1 == rowWords_ && rest != 0 ? (uint64_t(1) << rest) - 1 : ~uint64_t(0);
  }

  bool at(uint32_t i, uint32_t j, uint32_t k) const { return row(j, k)[i / 64] >> (i % 64) & 1; }
  void set(uint32_t i, uint32_t j, uint32_t k, bool inside) {
    const uint64_t bit = uint64_t(1) << (i % 64);
    uint64_t& word = row(j, k)[i / 64];
    word = inside ? word | bit : word & ~bit;
  }

  size_t count() const;      // voxels inside
  Box3 solidBounds() const;  // of the cubes inside; empty where there are none
  size_t bytes() const { return words_.capacity() * sizeof(uint64_t); }

  bool operator==(const VoxelGrid& other) const { return frame_ == other.frame_ && words_ == other.words_; }

 private:
  VoxelFrame frame_;
  size_t rowWords_ = 0;
  std::vector<uint64_t> words_;
};

// The same solid with `layers` more empty voxels on every side.
VoxelGrid padded(const VoxelGrid& grid, uint32_t layers);

}  // namespace sunder::sdf
