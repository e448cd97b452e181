#include "sunder/fluid/surface/marching_cubes.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/prefix_sum.h"
#include "sunder/base/profiler.h"
#include "sunder/fluid/surface/marching_cubes_table.h"
#include "sunder/fluid/surface/shape_field.h"

#include <algorithm>
#include <bit>

namespace sunder::fluid {

namespace {

constexpr int32_t kSide = int32_t(BlockGrid::kSide);
constexpr int32_t kRow = kSide + 1;  // nodes of a block and the first of those above
constexpr float kLevel = float(kSurfaceLevel);
constexpr float kEnd = 0.01f;  // vertices keep this share of an edge away from its ends: no triangle vanishes
constexpr int kNewtonSteps = 2;

constexpr int32_t widened(int32_t x, int32_t y, int32_t z) { return x + kRow * (y + kRow * z); }
constexpr uint32_t nodeOf(int32_t x, int32_t y, int32_t z) {
  constexpr int32_t kMask = kSide - 1;
  return uint32_t((x & kMask) + kSide * ((y & kMask) + kSide * (z & kMask)));
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
  Marching(const BlockGrid& grid, std::span<const ParticleShape> shapes, std::span<const Vec3f> velocities)
      : grid_(grid), shapes_(shapes), velocities_(velocities) {}

  LiquidSurface run() {
    const size_t blocks = grid_.size();
    lowest_.resize(blocks);
    highest_.resize(blocks);
    parallelFor(
        blocks,
        [&](size_t b) {
          const auto values = grid_.values(b);
          const auto [low, high] = std::minmax_element(values.begin(), values.end());
          lowest_[b] = *low;
          highest_[b] = *high;
        },
        256);
    edges_.resize(blocks);
    start_.assign(blocks + 1, 0);
    std::vector<uint32_t> triangles(blocks + 1, 0);
    parallelFor(
        blocks, [&](size_t b) { count(b, start_[b], triangles[b]); }, 16);
    LiquidSurface surface;
    const uint32_t vertices = exclusiveScan(std::span<const uint32_t>(start_).first(blocks), start_);
    const uint32_t faces = exclusiveScan(std::span<const uint32_t>(triangles).first(blocks), triangles);
    surface.mesh.positions.resize(vertices);
    surface.normals.resize(vertices);
    if (!velocities_.empty()) surface.velocities.resize(vertices);
    surface.mesh.triangles.resize(faces);
    parallelFor(
        blocks,
        [&](size_t b) {
          if (triangles[b + 1] == triangles[b] && start_[b + 1] == start_[b]) return;
          writeVertices(b, surface);
          writeTriangles(b, std::span(surface.mesh.triangles).subspan(triangles[b]));
        },
        4);
    return surface;
  }

 private:
  // A block with the nodes above it.
  struct Wide {
    uint32_t blocks[8];  // bit k of the place: one further along axis k
    float values[kRow * kRow * kRow];
  };

  // Whether the level lies between values of the block and of those above it.
  bool crossed(size_t b, Wide& wide) const {
    const BlockGrid::Place at = grid_.place(b);
    bool inside = false, outside = false;
    for (int32_t k = 0; k < 8; ++k) {
      const uint32_t block =
          k == 0 ? uint32_t(b) : grid_.find({at[0] + (k & 1), at[1] + (k >> 1 & 1), at[2] + (k >> 2)});
      wide.blocks[k] = block;
      inside = inside || (block != kNoIndex && highest_[block] >= kLevel);
      outside = outside || block == kNoIndex || lowest_[block] < kLevel;
    }
    return inside && outside;
  }

  void fill(Wide& wide) const {
    for (int32_t z = 0; z < kRow; ++z)
      for (int32_t y = 0; y < kRow; ++y)
        for (int32_t x = 0; x < kRow; ++x) {
          const uint32_t block = wide.blocks[x / kSide + 2 * (y / kSide) + 4 * (z / kSide)];
          wide.values[widened(x, y, z)] = block == kNoIndex ? 0.0f : grid_.values(block)[nodeOf(x, y, z)];
        }
  }

  static uint32_t code(const Wide& wide, int32_t x, int32_t y, int32_t z) {
    uint32_t result = 0;
    for (int32_t c = 0; c < 8; ++c)
      result |= uint32_t(wide.values[widened(x + (c & 1), y + (c >> 1 & 1), z + (c >> 2))] >= kLevel) << c;
    return result;
  }
  // Whether the edge from the lowest corner along the axis has a vertex.
  static bool cut(uint32_t code, int axis) { return (code & 1) != (code >> (1u << axis) & 1); }

  template <class Visit>
  static void everyCube(const Wide& wide, Visit&& visit) {
    for (int32_t z = 0; z < kSide; ++z)
      for (int32_t y = 0; y < kSide; ++y)
        for (int32_t x = 0; x < kSide; ++x)
          if (const uint32_t signs = code(wide, x, y, z); signs != 0 && signs != 255) visit(x, y, z, signs);
  }

  void count(size_t b, uint32_t& vertices, uint32_t& triangles) {
    Wide wide;
    if (!crossed(b, wide)) return;
    fill(wide);
    everyCube(wide, [&](int32_t x, int32_t y, int32_t z, uint32_t signs) {
      triangles += kCubeTriangles[signs].count;
      for (int axis = 0; axis < 3; ++axis)
        if (cut(signs, axis)) edges_[b].insert(3 * nodeOf(x, y, z) + uint32_t(axis));
    });
    vertices = edges_[b].count();
  }

  void writeVertices(size_t b, LiquidSurface& surface) const {
    Wide wide;
    crossed(b, wide);
    fill(wide);
    const BlockGrid::Place at = grid_.place(b);
    ShapeField field(shapes_, grid_.members(b), grid_.node(at, Vec3::Zero()), grid_.cell());
    uint32_t vertex = start_[b];
    int32_t row = -1;
    everyCube(wide, [&](int32_t x, int32_t y, int32_t z, uint32_t signs) {
      const Vec3f node{float(x), float(y), float(z)};
      if (row != y + kSide * z) {
        row = y + kSide * z;
        field.focusRow({0, node.y(), node.z()}, {float(kSide), node.y() + 1, node.z() + 1});
      }
      for (int axis = 0; axis < 3; ++axis) {
        if (!cut(signs, axis)) continue;
        const Vec3f end = node + Vec3f::Unit(axis);
        field.focus(node, end);
        Vec3f place = node;
        place[axis] += crossing(field, node, axis, wide.values[widened(x, y, z)],
                                wide.values[widened(x + (axis == 0), y + (axis == 1), z + (axis == 2))]);
        const ShapeField::Sample sample = field.at(place);
        surface.mesh.positions[vertex] = grid_.node(at, place.cast<double>());
        const float steepness = sample.gradient.norm();
        // In the middle of a drop that a node happens to lie in, there may be no slope at all.
        surface.normals[vertex] = steepness > 0 ? Vec3f(-sample.gradient / steepness)
                                                : Vec3f((signs & 1 ? 1.0f : -1.0f) * Vec3f::Unit(axis));
        if (!velocities_.empty()) surface.velocities[vertex] = field.mean(place, velocities_);
        ++vertex;
      }
    });
  }

  // How far along an edge the field has the level, given its values at the ends: Newton's steps that stay
  // between bounds.
  static float crossing(const ShapeField& field, const Vec3f& node, int axis, float first, float second) {
    float low = 0, high = 1;
    const bool falls = first > second;
    float t = (kLevel - first) / (second - first);
    for (int k = 0; k < kNewtonSteps; ++k) {
      Vec3f place = node;
      place[axis] += t;
      const ShapeField::Sample sample = field.at(place);
      const float error = sample.value - kLevel, newton = t - error / sample.gradient[axis];
      ((error > 0) == falls ? low : high) = t;
      t = newton > low && newton < high ? newton : (low + high) / 2;
    }
    return std::clamp(t, kEnd, 1 - kEnd);
  }

  void writeTriangles(size_t b, std::span<geometry::Triangle> triangles) const {
    Wide wide;
    crossed(b, wide);
    fill(wide);
    size_t next = 0;
    everyCube(wide, [&](int32_t x, int32_t y, int32_t z, uint32_t signs) {
      const CubeTriangles& pieces = kCubeTriangles[signs];
      for (uint32_t k = 0; k < pieces.count; ++k, ++next)
        for (uint32_t c = 0; c < 3; ++c) triangles[next][c] = vertexOf(wide, x, y, z, pieces.edges[k][c]);
    });
  }

  // The vertex on an edge of the cube at (x, y, z), which may belong to a block above.
  uint32_t vertexOf(const Wide& wide, int32_t x, int32_t y, int32_t z, uint32_t edge) const {
    const uint32_t axis = edge / 4;
    int32_t at[3] = {x, y, z};
    at[(axis + 1) % 3] += int32_t(edge & 1);
    at[(axis + 2) % 3] += int32_t(edge >> 1 & 1);
    const uint32_t block = wide.blocks[at[0] / kSide + 2 * (at[1] / kSide) + 4 * (at[2] / kSide)];
    return start_[block] + edges_[block].rank(3 * nodeOf(at[0], at[1], at[2]) + axis);
  }

  const BlockGrid& grid_;
  std::span<const ParticleShape> shapes_;
  std::span<const Vec3f> velocities_;
  std::vector<float> lowest_, highest_;
  std::vector<EdgeSet> edges_;
  std::vector<uint32_t> start_;  // first vertex of each block
};

}  // namespace

LiquidSurface marchingCubes(const BlockGrid& grid, std::span<const ParticleShape> shapes,
                            std::span<const Vec3f> velocities) {
  const ProfileScope scope("triangles");
  return Marching(grid, shapes, velocities).run();
}

}  // namespace sunder::fluid
