// Questions of points to a triangle mesh: the closest point, all triangles within a distance, the k nearest
// triangles. MeshQuery owns a tree of arity 8 over the triangles and copies of them in the order of its
// leaves; rays (ray_queries.h) and winding numbers (winding_number.h) use the same object.
//
// Guarantees: answers are those of the loop over all triangles with closestPointOnTriangle
// (triangle_distance.h), bit for bit, ties going to the smaller triangle; so they depend neither on the
// tree's settings nor on the number of threads nor on the vector unit. Any triangles will do: open, crossing,
// without area, repeated. A mesh without triangles answers "nothing": no triangle, infinite distance.
// Throws Error (Usage) for query points that are not finite or beyond 1e37, for triangles that refer to
// vertices that are not there, and Error (Geometry) for vertices that a tree cannot hold (oi_tree.h).
//
// Method: depth first, nearest child first, eight oriented boxes at a time (oriented_blocks.h); in a leaf
// bounds for eight triangles at a time in float, from below by the plane through the approximate nearest
// point, and the full computation in double only for triangles that the bounds leave. Boxes and bounds are
// rounded so that they never exclude the answer. Batches are answered in Morton order, each query starting
// from its predecessor's triangle.
//
// Cost: 1.6 us a closest point in a batch, 2.8 us alone in random order (500,000 triangles, random points
// around the mesh, one core of a busy machine); 0.3 s to make and 156 bytes a triangle. All queries are const
// and may run at the same time.
#pragma once

#include "sunder/base/array/large_pages.h"
#include "sunder/base/index.h"
#include "sunder/spatial/query/query_blocks.h"
#include "sunder/spatial/query/triangle_distance.h"
#include "sunder/spatial/tree/oi_tree.h"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace sunder::spatial {

struct ClosestPoint {
  uint32_t triangle = kNoIndex;
  geometry::TriangleFeature feature;
  double squaredDistance = std::numeric_limits<double>::infinity();
  Vec3 point = Vec3::Zero();
  Vec3 barycentric = Vec3::Zero();
};

struct TriangleAtDistance {
  double squaredDistance;
  uint32_t triangle;
  bool operator==(const TriangleAtDistance&) const = default;
};

// Answers to many queries: those of query i are items[offsets[i]] .. items[offsets[i + 1] - 1].
struct TriangleLists {
  std::vector<uint64_t> offsets{0};
  std::vector<TriangleAtDistance> items;

  size_t size() const { return offsets.size() - 1; }
  std::span<const TriangleAtDistance> of(size_t query) const {
    return {items.data() + offsets[query], static_cast<size_t>(offsets[query + 1] - offsets[query])};
  }
};

// The settings' order and codes count; the arity is 8 and the margin 0, anything else is an Error (Usage).
inline constexpr TreeSettings kQueryTreeSettings{.order = LeafOrder::Selection};

class MeshQuery {
 public:
  MeshQuery() = default;  // no triangles
  MeshQuery(std::span<const Vec3> positions, std::span<const geometry::Triangle> triangles,
            const TreeSettings& settings = kQueryTreeSettings);
  explicit MeshQuery(const geometry::TriMesh& mesh, const TreeSettings& settings = kQueryTreeSettings)
      : MeshQuery(mesh.positions, mesh.triangles, settings) {}

  size_t triangleCount() const { return tree_.leafCount(); }
  bool empty() const { return tree_.empty(); }
  Box3f bounds() const { return tree_.bounds(); }
  size_t bytes() const;

  ClosestPoint closest(const Vec3& point) const;
  void closest(std::span<const Vec3> points, std::span<ClosestPoint> results) const;  // of the same size
  // In the calling thread and in the given order, each query starting from its predecessor's triangle: for
  // points that lie next to each other, and for callers that are parallel themselves.
  void closestInOrder(std::span<const Vec3> points, std::span<ClosestPoint> results) const;

  // For callers that ask much about a small region: triangles come in blocks of eight neighbours, and an
  // answer may be sought among the triangles of a few blocks alone (near_mesh_field.h of the room sdf).
  size_t blockCount() const { return blocks_.size(); }
  // Block of the closest triangle.
  uint32_t closestBlock(const Vec3& point, ClosestPoint& result) const;
  // All blocks that may have triangles within the distance; returns their number, or SIZE_MAX where they are
  // more than fit.
  size_t blocksWithin(const Vec3& point, double distance, std::span<uint32_t> blocks) const;
  // Triangles of the given blocks, 1 to kMostBlocks of them, that are nearest to the points, and their
  // squared distances: where several are equally near up to a millionth it may be any of them. Several times
  // faster than closest() for points that lie next to each other.
  static constexpr size_t kMostBlocks = 256;
  void nearestAmong(std::span<const uint32_t> blocks, std::span<const D3> points,
                    std::span<NearestLeaf> results) const;
  ClosestPoint answer(const Vec3& point, const NearestLeaf& nearest) const;  // the closest point of a leaf

  // Triangles with squaredDistance <= distance * distance, by triangle. `distance` >= 0, may be infinite.
  std::vector<TriangleAtDistance> within(const Vec3& point, double distance) const;
  TriangleLists within(std::span<const Vec3> points, double distance) const;

  // The k nearest triangles, or all if there are fewer, by (squaredDistance, triangle).
  std::vector<TriangleAtDistance> nearest(const Vec3& point, size_t k) const;
  TriangleLists nearest(std::span<const Vec3> points, size_t k) const;

  // What the other queries and their kernels work on.
  const OiTree& tree() const { return tree_; }
  QueryView view() const;

 private:
  ClosestPoint next(const Vec3& point, NearestLeaf& nearest) const;  // starting from `nearest`
  template <class Query>
  TriangleLists lists(std::span<const Vec3> points, Query&& query) const;

  OiTree tree_;
  LargeVector<PlainTriangle> triangles_;  // by leaf
  LargeVector<TriangleBlock> blocks_;     // eight leaves each
  std::vector<BlockDisc> discs_;          // by block
  OrientedTree oriented_;
  double scale_ = 0;  // largest absolute coordinate
};

// Throws Error (Usage) unless the point is finite and within 1e37; `what` names it.
void checkQueryPoint(const Vec3& point, const char* what = "query point");

}  // namespace sunder::spatial
