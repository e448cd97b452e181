#include "sunder/sdf/voxel/voxel_grid.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

namespace sunder::sdf {

namespace {

constexpr uint32_t kLargestSide = 32767;
constexpr uint64_t kLargestCount = 0x7fffffff;

}  // namespace

VoxelFrame frameAround(const Box3& box, uint32_t n, uint32_t padding) {
  if (n < 1) throw Error(ErrorKind::Usage, "a voxel grid needs at least one voxel along its longest side");
  const double longest = box.empty() ? 0 : box.extent().maxCoeff();
  if (!(longest > 0) || !std::isfinite(longest) || !box.lower.allFinite())
    throw Error(ErrorKind::Geometry, "voxels need a box of finite size around them");
  VoxelFrame frame;
  frame.edge = longest / n;
  frame.origin = box.lower - Vec3::Constant(frame.edge * padding);
  for (int d = 0; d < 3; ++d) {
    // A side of whole voxels must not get one more because its quotient was rounded up.
    const double voxels = std::ceil(box.extent()[d] / frame.edge * (1 - 1e-12));
    frame.dims[size_t(d)] = std::max(1u, uint32_t(voxels)) + 2 * padding;
  }
  return frame;
}

VoxelGrid::VoxelGrid(const VoxelFrame& frame) : frame_(frame) {
  if (!(frame.edge > 0) || !std::isfinite(frame.edge) || !frame.origin.allFinite())
    throw Error(ErrorKind::Usage, fmt::format("voxels cannot have the edge length {}", frame.edge))
        .hint("the edge must be positive, the origin finite");
  const auto& n = frame.dims;
  const bool tooLong = std::any_of(n.begin(), n.end(), [](uint32_t side) { return side > kLargestSide; });
  if (tooLong || frame.voxelCount() > kLargestCount)
    throw Error(ErrorKind::Limit, fmt::format("{} x {} x {} voxels are too many", n[0], n[1], n[2]))
        .hint("at most 32767 along an axis and 2147483647 in all; take a coarser grid");
  rowWords_ = (size_t(n[0]) + 63) / 64;
  words_.resize(rowWords_ * rows());
}

size_t VoxelGrid::count() const {
  size_t count = 0;
  for (const uint64_t word : words_) count += size_t(std::popcount(word));
  return count;
}

Box3 VoxelGrid::solidBounds() const {
  Box3 box;
  for (uint32_t k = 0; k < frame_.dims[2]; ++k) {
    for (uint32_t j = 0; j < frame_.dims[1]; ++j) {
      const std::span<const uint64_t> words = row(j, k);
      for (size_t w = 0; w < words.size(); ++w) {
        if (words[w] == 0) continue;
        const double first = double(64 * w) + std::countr_zero(words[w]);
        const double last = double(64 * w) + 63 - std::countl_zero(words[w]);
        box.grow(Vec3(first, j, k));
        box.grow(Vec3(last + 1, j + 1, k + 1));
      }
    }
  }
  if (box.empty()) return box;
  return {frame_.origin + frame_.edge * box.lower, frame_.origin + frame_.edge * box.upper};
}

VoxelGrid padded(const VoxelGrid& grid, uint32_t layers) {
  VoxelFrame frame = grid.frame();
  if (layers > kLargestSide) throw Error(ErrorKind::Limit, "a voxel grid cannot be padded by so many layers");
  frame.origin -= Vec3::Constant(frame.edge * layers);
  for (uint32_t& side : frame.dims) side += 2 * layers;
  VoxelGrid result(frame);
  const size_t shift = layers % 64, skip = layers / 64;
  for (uint32_t k = 0; k < grid.dims()[2]; ++k) {
    for (uint32_t j = 0; j < grid.dims()[1]; ++j) {
      const std::span<const uint64_t> from = grid.row(j, k);
      const std::span<uint64_t> to = result.row(j + layers, k + layers);
      for (size_t w = 0; w < from.size(); ++w) {
        to[w + skip] |= from[w] << shift;
        if (shift != 0 && w + skip + 1 < to.size()) to[w + skip + 1] |= from[w] >> (64 - shift);
      }
    }
  }
  return result;
}

}  // namespace sunder::sdf
