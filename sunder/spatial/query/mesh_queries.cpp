#include "sunder/spatial/query/mesh_queries.h"

#include "sunder/base/bounds.h"
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/prefix_sum.h"
#include "sunder/base/radix_sort.h"
#include "sunder/base/stop.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace sunder::spatial {

namespace {

constexpr double kLargestQuery = 1e37;
constexpr size_t kQueriesOfWork = 256;

D3 toD3(const Vec3& v) { return {v.x(), v.y(), v.z()}; }
Vec3 toVec3(D3 v) { return {v.x, v.y, v.z}; }

TriangleBlock makeBlock(const PlainTriangle* triangles, size_t count) {
  TriangleBlock block{};
  D3 lower = triangles[0].corner[0], upper = lower;
  for (size_t i = 0; i < count; ++i)
    for (const D3& c : triangles[i].corner) {
      lower = {std::min(lower.x, c.x), std::min(lower.y, c.y), std::min(lower.z, c.z)};
      upper = {std::max(upper.x, c.x), std::max(upper.y, c.y), std::max(upper.z, c.z)};
    }
  const D3 origin = 0.5 * lower + 0.5 * upper;
  block.origin[0] = origin.x, block.origin[1] = origin.y, block.origin[2] = origin.z;
  const D3 size = upper - lower;
  const double reach = 2 * std::max({size.x, size.y, size.z});
  block.reach = static_cast<float>(reach * (1 + 1e-6));
  for (uint32_t lane = 0; lane < kBlockLanes; ++lane) {
    const PlainTriangle& t = triangles[std::min<size_t>(lane, count - 1)];
    const D3 rows[3] = {t.corner[0] - origin, t.corner[1] - t.corner[0], t.corner[2] - t.corner[0]};
    float(*target[3])[kBlockLanes] = {block.a, block.ab, block.ac};
    for (int r = 0; r < 3; ++r) {
      target[r][0][lane] = static_cast<float>(rows[r].x);
      target[r][1][lane] = static_cast<float>(rows[r].y);
      target[r][2][lane] = static_cast<float>(rows[r].z);
    }
  }
  return block;
}

BlockDisc makeDisc(const TriangleBlock& block, const PlainTriangle* triangles, size_t count) {
  D3 normal{0, 0, 0};
  for (size_t i = 0; i < count; ++i) {
    const D3* c = triangles[i].corner;
    normal = normal + cross(c[1] - c[0], c[2] - c[0]);
  }
  const double length = std::sqrt(dot(normal, normal));
  normal = length > 0 && std::isfinite(length) ? (1 / length) * normal : D3{0, 0, 1};
  const D3 centre{block.origin[0], block.origin[1], block.origin[2]};
  double half = 0, radius = 0,
         largest = std::max({std::abs(centre.x), std::abs(centre.y), std::abs(centre.z)});
  for (size_t i = 0; i < count; ++i)
    for (const D3& c : triangles[i].corner) {
      const D3 way = c - centre;
      const double along = dot(way, normal);
      const D3 side = way - along * normal;
      half = std::max(half, std::abs(along));
      radius = std::max(radius, std::sqrt(dot(side, side)));
    }
  // Rounding of the centre to float, and of the normal across the disc.
  const double slack = 0x1p-22 * (largest + half + radius);
  return {{static_cast<float>(centre.x), static_cast<float>(centre.y), static_cast<float>(centre.z)},
          {static_cast<float>(normal.x), static_cast<float>(normal.y), static_cast<float>(normal.z)},
          static_cast<float>(half + 2 * slack),
          static_cast<float>(radius + 2 * slack)};
}

// Where points near each other come near each other; equal codes by index.
std::vector<uint32_t> mortonOrder(std::span<const Vec3> points) {
  const Box3 box = boundsOf(points);
  const double extent = std::max(box.extent().maxCoeff(), std::numeric_limits<double>::min());
  std::vector<uint32_t> codes(points.size()), order(points.size());
  const auto spread = [](uint32_t x) {
    x = (x | x << 16) & 0x030000ffu;
    x = (x | x << 8) & 0x0300f00fu;
    x = (x | x << 4) & 0x030c30c3u;
    return (x | x << 2) & 0x09249249u;
  };
  parallelFor(points.size(), [&](size_t i) {
    uint32_t code = 0;
    for (int k = 0; k < 3; ++k) {
      const double cell = (points[i][k] - box.lower[k]) / extent * 1024;
      code |= spread(std::min(static_cast<uint32_t>(cell), 1023u)) << (2 - k);
    }
    codes[i] = code;
  });
  RadixScratch scratch;
  radixSortPermutation(codes, order, scratch, 30);
  return order;
}

void checkQueryPoints(std::span<const Vec3> points) {
  parallelFor(points.size(), [&](size_t i) { checkQueryPoint(points[i]); });
}

void checkDistance(double distance) {
  if (!(distance >= 0)) throw Error(ErrorKind::Usage, "a distance to search within is not negative");
}

}  // namespace

void checkQueryPoint(const Vec3& point, const char* what) {
  for (int k = 0; k < 3; ++k)
    if (!(std::abs(point[k]) <= kLargestQuery))
      throw Error(ErrorKind::Usage,
                  std::string("a coordinate of a ") + what + " is not finite, or is larger than 1e37");
}

MeshQuery::MeshQuery(std::span<const Vec3> positions, std::span<const geometry::Triangle> triangles,
                     const TreeSettings& settings) {
  if (settings.arity != kBlockLanes || settings.margin != 0)
    throw Error(ErrorKind::Usage, "trees for queries have arity 8 and no margin");
  for (size_t t = 0; t < triangles.size(); ++t)
    for (const uint32_t v : triangles[t])
      if (v >= positions.size())
        throw Error(ErrorKind::Usage, "triangle " + std::to_string(t) + " refers to vertex " +
                                          std::to_string(v) + ", but there are only " +
                                          std::to_string(positions.size()));
  OiTreeBuilder().build(tree_, {positions, triangles}, settings);
  const size_t count = triangles.size();
  triangles_.resize(count);
  blocks_.resize((count + kBlockLanes - 1) / kBlockLanes);
  discs_.resize(blocks_.size());
  parallelFor(blocks_.size(), [&](size_t b) {
    const size_t first = b * kBlockLanes, size = std::min<size_t>(kBlockLanes, count - first);
    for (size_t i = first; i < first + size; ++i) {
      const geometry::Triangle& t = triangles[tree_.primitive(static_cast<uint32_t>(i))];
      triangles_[i] = {{toD3(positions[t[0]]), toD3(positions[t[1]]), toD3(positions[t[2]])}};
    }
    blocks_[b] = makeBlock(&triangles_[first], size);
    discs_[b] = makeDisc(blocks_[b], &triangles_[first], size);
  });
  oriented_ = makeOrientedTree(tree_, triangles_.data());
  const Box3f box = tree_.bounds();
  if (count > 0) scale_ = std::max(box.lower.cwiseAbs().maxCoeff(), box.upper.cwiseAbs().maxCoeff());
}

size_t MeshQuery::bytes() const {
  return tree_.bytes() + sizeof(PlainTriangle) * triangles_.size() +
         (sizeof(TriangleBlock) + sizeof(BlockDisc)) * blocks_.size() +
         sizeof(OrientedBlock) * oriented_.blocks.size();
}

QueryView MeshQuery::view() const {
  return {&tree_, triangles_.data(), blocks_.data(), discs_.data(), &oriented_, scale_};
}

ClosestPoint MeshQuery::answer(const Vec3& point, const NearestLeaf& nearest) const {
  if (nearest.triangle == kNoIndex) return {};
  const PlainTriangle& t = triangles_[nearest.leaf];
  const PointOnTriangle on =
      closestPointOnTriangle(point, toVec3(t.corner[0]), toVec3(t.corner[1]), toVec3(t.corner[2]));
  return {nearest.triangle, on.feature, on.squaredDistance, on.point, on.barycentric};
}

ClosestPoint MeshQuery::next(const Vec3& point, NearestLeaf& nearest) const {
  if (nearest.triangle != kNoIndex)
    nearest.squared = nearestOnTriangle(toD3(point), triangles_[nearest.leaf]).squared;
  kernels::nearestLeaf(view(), toD3(point), nearest);
  return answer(point, nearest);
}

ClosestPoint MeshQuery::closest(const Vec3& point) const {
  checkQueryPoint(point);
  NearestLeaf nearest;
  kernels::nearestLeaf(view(), toD3(point), nearest);
  return answer(point, nearest);
}

void MeshQuery::closest(std::span<const Vec3> points, std::span<ClosestPoint> results) const {
  if (points.size() != results.size())
    throw Error(ErrorKind::Usage, "as many results as query points are needed");
  checkQueryPoints(points);
  const std::vector<uint32_t> order = mortonOrder(points);
  parallelBlocks(points.size(), kQueriesOfWork, [&](size_t begin, size_t end) {
    NearestLeaf nearest;
    for (size_t i = begin; i < end; ++i) results[order[i]] = next(points[order[i]], nearest);
  });
}

void MeshQuery::closestInOrder(std::span<const Vec3> points, std::span<ClosestPoint> results) const {
  if (points.size() != results.size())
    throw Error(ErrorKind::Usage, "as many results as query points are needed");
  NearestLeaf nearest;
  for (size_t i = 0; i < points.size(); ++i) {
    checkStop();
    checkQueryPoint(points[i]);
    results[i] = next(points[i], nearest);
  }
}

uint32_t MeshQuery::closestBlock(const Vec3& point, ClosestPoint& result) const {
  checkQueryPoint(point);
  NearestLeaf nearest;
  kernels::nearestLeaf(view(), toD3(point), nearest);
  result = answer(point, nearest);
  return nearest.leaf / kBlockLanes;
}

size_t MeshQuery::blocksWithin(const Vec3& point, double distance, std::span<uint32_t> blocks) const {
  checkQueryPoint(point);
  checkDistance(distance);
  return kernels::blocksWithin(view(), toD3(point), distance, blocks);
}

void MeshQuery::nearestAmong(std::span<const uint32_t> blocks, std::span<const D3> points,
                             std::span<NearestLeaf> results) const {
  if (blocks.empty() || blocks.size() > kMostBlocks || points.size() != results.size())
    throw Error(ErrorKind::Usage, "a search among blocks needs 1 to 256 of them and a result for each point");
  kernels::nearestAmong(view(), blocks, points, results.data());
}

std::vector<TriangleAtDistance> MeshQuery::within(const Vec3& point, double distance) const {
  checkQueryPoint(point);
  checkDistance(distance);
  std::vector<TriangleAtDistance> found;
  kernels::leavesWithin(view(), toD3(point), distance, found);
  return found;
}

std::vector<TriangleAtDistance> MeshQuery::nearest(const Vec3& point, size_t k) const {
  checkQueryPoint(point);
  std::vector<TriangleAtDistance> found;
  kernels::nearestLeaves(view(), toD3(point), k, found);
  return found;
}

// Each block of queries, in Morton order, fills a list of its own; the counts give every query its place.
template <class Query>
TriangleLists MeshQuery::lists(std::span<const Vec3> points, Query&& query) const {
  checkQueryPoints(points);
  const std::vector<uint32_t> order = mortonOrder(points);
  std::vector<std::vector<TriangleAtDistance>> parts((points.size() + kQueriesOfWork - 1) / kQueriesOfWork);
  std::vector<uint64_t> counts(points.size());
  parallelBlocks(points.size(), kQueriesOfWork, [&](size_t begin, size_t end) {
    std::vector<TriangleAtDistance>& part = parts[begin / kQueriesOfWork];
    std::vector<TriangleAtDistance> found;
    for (size_t i = begin; i < end; ++i) {
      query(toD3(points[order[i]]), found);
      counts[order[i]] = found.size();
      part.insert(part.end(), found.begin(), found.end());
    }
  });
  TriangleLists result;
  result.offsets.resize(points.size() + 1);
  result.items.resize(exclusiveScan(std::span<const uint64_t>(counts), std::span<uint64_t>(result.offsets)));
  parallelBlocks(points.size(), kQueriesOfWork, [&](size_t begin, size_t end) {
    auto next = parts[begin / kQueriesOfWork].cbegin();
    for (size_t i = begin; i < end; ++i) {
      const auto count = static_cast<std::ptrdiff_t>(counts[order[i]]);
      std::copy(next, next + count,
                result.items.begin() + static_cast<std::ptrdiff_t>(result.offsets[order[i]]));
      next += count;
    }
  });
  return result;
}

TriangleLists MeshQuery::within(std::span<const Vec3> points, double distance) const {
  checkDistance(distance);
  return lists(points, [&](D3 point, std::vector<TriangleAtDistance>& found) {
    kernels::leavesWithin(view(), point, distance, found);
  });
}

TriangleLists MeshQuery::nearest(std::span<const Vec3> points, size_t k) const {
  return lists(points, [&](D3 point, std::vector<TriangleAtDistance>& found) {
    kernels::nearestLeaves(view(), point, k, found);
  });
}

}  // namespace sunder::spatial
