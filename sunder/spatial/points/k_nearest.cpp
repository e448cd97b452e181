#include "sunder/spatial/points/k_nearest.h"

#include "sunder/base/bounds.h"
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/spatial/points/k_nearest_shells.h"
#include "sunder/spatial/points/sphere_set.h"
#include "sunder/spatial/tree/radix_tree.h"

#include <array>
#include <limits>
#include <string>

namespace sunder::spatial {

namespace {

using detail::NearestHeap;

double squaredDistance(const Box3f& box, const Vec3& p) {
  double d[3];
  for (int k = 0; k < 3; ++k)
    d[k] = std::max({double(box.lower[k]) - p[k], p[k] - double(box.upper[k]), 0.0});
  return (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
}

// Rounding is monotone, so a box is never farther than the points in it, as computed.
void searchTree(const RadixTree& tree, std::span<const Vec3> points, const Vec3& query, uint32_t skip,
                NearestHeap& best) {
  struct Entry {
    uint32_t node;
    double squared;
  };
  std::array<Entry, 96> stack;
  size_t top = 0;
  stack[top++] = {0, squaredDistance(tree.box(0), query)};
  while (top > 0) {
    Entry at = stack[--top];
    if (at.squared > best.worst()) continue;
    while (!tree.isLeaf(at.node)) {
      const uint32_t left = tree.left(at.node), right = tree.right(at.node);
      Entry nearer{left, squaredDistance(tree.box(left), query)};
      Entry farther{right, squaredDistance(tree.box(right), query)};
      if (farther.squared < nearer.squared) std::swap(nearer, farther);
      if (farther.squared <= best.worst()) stack[top++] = farther;
      at = nearer;
      if (at.squared > best.worst()) break;
    }
    if (at.squared > best.worst() || !tree.isLeaf(at.node)) continue;
    const uint32_t point = tree.primitive(tree.leafOfNode(at.node));
    if (point != skip) best.offer(detail::squaredDistance(points[point], query), point);
  }
}

void check(std::span<const Vec3> points, const char* what) {
  const size_t bad = parallelReduce(
      points.size(), points.size(),
      [&](size_t begin, size_t end) {
        constexpr double kLargest = std::numeric_limits<float>::max() / 2;
        for (size_t i = begin; i < end; ++i)
          if (!(points[i].cwiseAbs().maxCoeff() < kLargest) || !points[i].allFinite()) return i;
        return points.size();
      },
      [](size_t a, size_t b) { return std::min(a, b); });
  if (bad < points.size())
    throw Error(ErrorKind::Geometry, std::string(what) + " " + std::to_string(bad) +
                                         " is not finite or beyond the range of float");
}

}  // namespace

void kNearest(std::span<const Vec3> points, std::span<const Vec3> queries, uint32_t k, NearestPoints& result,
              const NearestSettings& settings) {
  result = {};
  if (points.size() >= size_t(1) << 31)
    throw Error(ErrorKind::Limit, "a search for nearest points takes at most 2^31 - 1 points");
  if (settings.skipSame && points.size() != queries.size())
    throw Error(ErrorKind::Usage, "skipSame wants the points themselves as queries, but there are " +
                                      std::to_string(points.size()) + " points and " +
                                      std::to_string(queries.size()) + " queries");
  check(points, "point");
  check(queries, "query");
  const size_t available = points.size() - (settings.skipSame && !points.empty() ? 1 : 0);
  const auto count = static_cast<uint32_t>(std::min<size_t>(k, available));
  if (count == 0 || queries.empty()) return;

  detail::ShellGrid grid;
  bool byGrid = settings.method != NearestMethod::Tree;
  if (byGrid) {
    grid.build(points);
    if (settings.method == NearestMethod::Automatic && grid.crowding() > 16) byGrid = false;
  }
  RadixTree tree;
  if (!byGrid) {
    std::vector<Box3f> boxes(points.size());
    parallelFor(points.size(), [&](size_t i) { boxes[i] = boxAround(points[i], 0); });
    buildRadixTree(tree, std::span<const Box3f>(boxes));
  }
  result.perQuery = count;
  result.points.resize(queries.size() * count);
  result.squaredDistances.resize(queries.size() * count);
  parallelBlocks(queries.size(), 256, [&](size_t begin, size_t end) {
    NearestHeap best(count);
    for (size_t q = begin; q < end; ++q) {
      best.clear();
      const uint32_t skip = settings.skipSame ? static_cast<uint32_t>(q) : kNoIndex;
      if (byGrid)
        grid.search(queries[q], skip, best);
      else
        searchTree(tree, points, queries[q], skip, best);
      best.take(result.points.data() + q * count, result.squaredDistances.data() + q * count);
    }
  });
}

}  // namespace sunder::spatial
