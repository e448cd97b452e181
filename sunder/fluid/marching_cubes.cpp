#include "sunder/fluid/marching_cubes.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/prefix_sum.h"
#include "sunder/base/profiler.h"
#include "sunder/fluid/marching_cubes_table.h"

#include <algorithm>
#include <bit>

namespace sunder::fluid {

namespace {

constexpr int32_t kSide = int32_t(BlockGrid::kSide);
constexpr int32_t kRow = kSide + 3;  // nodes -1 to 9
constexpr float kEnd = 0.01f;        // vertices keep this share of an edge away from its ends
constexpr int32_t kStep[3] = {1, kRow, kRow * kRow};

constexpr int32_t padded(int32_t x, int32_t y, int32_t z) {
  return (x + 1) + kRow * ((y + 1) + kRow * (z + 1));
}
constexpr uint32_t nodeOf(int32_t x, int32_t y, int32_t z) {
  return uint32_t(x + kSide * (y + kSide * z));
}

// Which edges of a block have a vertex, by 3 * node + axis, with the number of those before.
struct EdgeSet {
  static constexpr uint32_t kWords = 3 * BlockGrid::kNodes / 64;
  std::array<uint64_t, kWords> bits{};
  std::array<uint16_t, kWords> before{};

  void insert(uint32_t edge) { bits[edge / 64] |= uint64_t(1) << edge % 64; }
  uint32_t count() {
    uint32_t sum = 0;
    for (uint32_t w = 0; w < kWords; ++w) {
      before[w] = uint16_t(sum);
      sum += uint32_t(std::popcount(bits[w]));
    }
    return sum;
  }
  uint32_t rank(uint32_t edge) const {
    const uint64_t below = bits[edge / 64] & ((uint64_t(1) << edge % 64) - 1);
    return before[edge / 64] + uint32_t(std::popcount(below));
  }
};

class Marching {
 public:
  Marching(const BlockGrid& grid, float level) : grid_(grid), level_(level) {}

  GridSurface run() {
    const size_t blocks = grid_.size();
    lowest_.resize(blocks);
    highest_.resize(blocks);
    parallelFor(blocks, [&](size_t b) {
      const auto values = grid_.values(b);
      const auto [low, high] = std::minmax_element(values.begin(), values.end());
      lowest_[b] = *low;
      highest_[b] = *high;
    }, 256);
    edges_.resize(blocks);
    std::vector<uint32_t> vertices(blocks + 1, 0), triangles(blocks + 1, 0);
    parallelFor(blocks, [&](size_t b) { count(b, vertices[b], triangles[b]); }, 16);
    GridSurface surface;
    const uint32_t all = exclusiveScan(std::span<const uint32_t>(vertices).first(blocks), vertices);
    const uint32_t faces = exclusiveScan(std::span<const uint32_t>(triangles).first(blocks), triangles);
    surface.mesh.positions.resize(all);
    surface.normals.resize(all);
    surface.mesh.triangles.resize(faces);
    surface.blockStart = std::move(vertices);
    parallelFor(blocks, [&](size_t b) {
      if (triangles[b + 1] != triangles[b] || surface.blockStart[b + 1] != surface.blockStart[b])
        write(b, triangles[b], surface);
    }, 16);
    return surface;
  }

 private:
  struct Around {
    uint32_t blocks[27];  // x fastest
    float values[kRow * kRow * kRow];
  };

  // Whether the level lies between values of the block and of those above it.
  bool crossed(size_t b, Around& around) const {
    const BlockGrid::Place at = grid_.place(b);
    bool inside = false, outside = false;
    for (uint32_t k = 0; k < 27; ++k) {
      const int32_t x = int32_t(k % 3) - 1, y = int32_t(k / 3 % 3) - 1, z = int32_t(k / 9) - 1;
      around.blocks[k] = k == 13 ? uint32_t(b) : grid_.find({at[0] + x, at[1] + y, at[2] + z});
      if (x < 0 || y < 0 || z < 0) continue;
      const uint32_t other = around.blocks[k];
      inside = inside || (other != kNoIndex && highest_[other] >= level_);
      outside = outside || other == kNoIndex || lowest_[other] < level_;
    }
    return inside && outside;
  }

  void fill(Around& around) const {
    for (uint32_t k = 0; k < 27; ++k) {
      int32_t from[3], to[3];
      const uint32_t side[3] = {k % 3, k / 3 % 3, k / 9};
      for (int d = 0; d < 3; ++d) {
        from[d] = side[d] == 0 ? -1 : side[d] == 1 ? 0 : kSide;
        to[d] = side[d] == 0 ? 0 : side[d] == 1 ? kSide : kSide + 2;
      }
      const uint32_t block = around.blocks[k];
      const float* values = block == kNoIndex ? nullptr : grid_.values(block).data();
      for (int32_t z = from[2]; z < to[2]; ++z)
        for (int32_t y = from[1]; y < to[1]; ++y)
          for (int32_t x = from[0]; x < to[0]; ++x)
            around.values[padded(x, y, z)] =
                values ? values[nodeOf(x & (kSide - 1), y & (kSide - 1), z & (kSide - 1))] : 0.0f;
    }
  }

  bool inside(const Around& around, int32_t place) const { return around.values[place] >= level_; }

  uint32_t code(const Around& around, int32_t place) const {
    uint32_t result = 0;
    for (uint32_t c = 0; c < 8; ++c)
      result |= uint32_t(inside(around, place + int32_t(c & 1) + kRow * int32_t(c >> 1 & 1) +
                                            kRow * kRow * int32_t(c >> 2)))
                << c;
    return result;
  }

  template <class Visit>
  static void everyNode(Visit&& visit) {
    for (int32_t z = 0; z < kSide; ++z)
      for (int32_t y = 0; y < kSide; ++y)
        for (int32_t x = 0; x < kSide; ++x) visit(x, y, z);
  }

  void count(size_t b, uint32_t& vertices, uint32_t& triangles) {
    Around around;
    if (!crossed(b, around)) return;
    fill(around);
    EdgeSet& set = edges_[b];
    everyNode([&](int32_t x, int32_t y, int32_t z) {
      const int32_t place = padded(x, y, z);
      const uint32_t signs = code(around, place);
      triangles += kCubeTriangles[signs].count;
      for (uint32_t axis = 0; axis < 3; ++axis)
        if ((signs & 1) != (signs >> (1u << axis) & 1)) set.insert(3 * nodeOf(x, y, z) + axis);
    });
    vertices = set.count();
  }

  // The vertex of an edge: how far along it, and the gradient there, in values a cell.
  float crossing(const Around& around, int32_t place, int axis, Vec3f& gradient) const {
    const float* v = around.values + place;
    const int32_t step = kStep[axis];
    const float f0 = v[-step], f1 = v[0], f2 = v[step], f3 = v[2 * step];
    // Lagrange's cubic, a + t (b + t (c + t d)).
    const float a = f1, d = (f3 - f0) / 6 + (f1 - f2) / 2, c = (f0 + f2) / 2 - f1, b = f2 - f1 - c - d;
    float low = 0, high = 1;  // the level lies between
    const bool falls = f1 > f2;
    float t = (level_ - f1) / (f2 - f1);
    for (int k = 0; k < 6; ++k) {
      const float error = a + t * (b + t * (c + t * d)) - level_, slope = b + t * (2 * c + t * 3 * d);
      ((error > 0) == falls ? low : high) = t;
      const float newton = t - error / slope;
      t = newton > low && newton < high ? newton : (low + high) / 2;
    }
    t = std::clamp(t, kEnd, 1 - kEnd);
    for (int k = 0; k < 3; ++k) {
      const int32_t across = kStep[k];
      if (k == axis)
        gradient[k] = b + t * (2 * c + t * 3 * d);
      else
        gradient[k] = ((1 - t) * (v[across] - v[-across]) + t * (v[step + across] - v[step - across])) / 2;
    }
    // A cubic may turn near the end of an edge; the two values never lie.
    if ((gradient[axis] < 0) != falls) gradient[axis] = f2 - f1;
    return t;
  }

  void write(size_t b, uint32_t triangle, GridSurface& surface) const {
    Around around;
    crossed(b, around);
    fill(around);
    const BlockGrid::Place at = grid_.place(b);
    uint32_t vertex = surface.blockStart[b];
    everyNode([&](int32_t x, int32_t y, int32_t z) {
      const int32_t place = padded(x, y, z);
      const uint32_t signs = code(around, place);
      for (int axis = 0; axis < 3; ++axis) {
        if ((signs & 1) == (signs >> (1u << axis) & 1)) continue;
        Vec3f gradient;
        Vec3 inside(x, y, z);
        inside[axis] += double(crossing(around, place, axis, gradient));
        surface.mesh.positions[vertex] = grid_.node(at, inside);
        surface.normals[vertex++] = -gradient.normalized();
      }
      const CubeTriangles& pieces = kCubeTriangles[signs];
      for (uint32_t k = 0; k < pieces.count; ++k)
        for (uint32_t c = 0; c < 3; ++c)
          surface.mesh.triangles[triangle + k][c] = vertexOf(around, x, y, z, pieces.edges[k][c], surface);
      triangle += pieces.count;
    });
  }

  // The vertex on an edge of the cube at (x, y, z), which may belong to a block above.
  uint32_t vertexOf(const Around& around, int32_t x, int32_t y, int32_t z, uint32_t edge,
                    const GridSurface& surface) const {
    const uint32_t axis = edge / 4;
    int32_t at[3] = {x, y, z};
    at[(axis + 1) % 3] += int32_t(edge & 1);
    at[(axis + 2) % 3] += int32_t(edge >> 1 & 1);
    const int32_t side = (at[0] / kSide + 1) + 3 * (at[1] / kSide + 1) + 9 * (at[2] / kSide + 1);
    const uint32_t block = around.blocks[side];
    const uint32_t node = nodeOf(at[0] & (kSide - 1), at[1] & (kSide - 1), at[2] & (kSide - 1));
    return surface.blockStart[block] + edges_[block].rank(3 * node + axis);
  }

  const BlockGrid& grid_;
  float level_;
  std::vector<float> lowest_, highest_;
  std::vector<EdgeSet> edges_;
};

}  // namespace

GridSurface marchingCubes(const BlockGrid& grid, float level) {
  const ProfileScope scope("triangles");
  return Marching(grid, level).run();
}

}  // namespace sunder::fluid
