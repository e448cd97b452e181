#include "sunder/sdf/sphere_tree.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/sdf/farthest_point.h"

#include <cmath>
#include <limits>

namespace sunder::sdf {

namespace {

float roundedUp(double value) {
  const auto result = float(value);
  return double(result) < value ? std::nextafter(result, std::numeric_limits<float>::infinity()) : result;
}

// Occurrences and links; everything by rank is there already.
void link(SphereTree& tree) {
  const size_t n = tree.pointCount();
  tree.levelStart = {0};
  for (uint32_t level = 0;; ++level) {
    const size_t size = std::min(size_t(1) << level, n);
    for (size_t r = 0; r < size; ++r) tree.rank.push_back(uint32_t(r));
    tree.levelStart.push_back(uint32_t(tree.rank.size()));
    if (size == n) break;
  }
  tree.parent.assign(tree.rank.size(), kNoIndex);
  tree.firstChild.assign(tree.rank.size(), kNoIndex);
  tree.nextSibling.assign(tree.rank.size(), kNoIndex);
  tree.roots = {0};
  for (uint32_t level = 0; level + 1 < tree.levels(); ++level) {
    const uint32_t size = tree.levelSize(level);
    for (uint32_t r = 0; r < size; ++r) {
      const uint32_t self = tree.occurrence(level, r), next = tree.occurrence(level + 1, r);
      tree.firstChild[self] = next;
      tree.parent[next] = self;
    }
    // From the last to the first, each right behind the point's own occurrence: siblings by rank.
    for (uint32_t r = tree.levelSize(level + 1); r-- > size;) {
      const uint32_t above = tree.occurrence(level, tree.parentRank[r]), self = tree.occurrence(level + 1, r);
      uint32_t& own = tree.nextSibling[tree.firstChild[above]];
      tree.parent[self] = above;
      tree.nextSibling[self] = own;
      own = self;
    }
  }
}

void findRadii(SphereTree& tree) {
  tree.radius.assign(tree.rank.size(), 0);
  parallelFor(
      tree.levels(),
      [&](size_t level) {
        const size_t size = tree.levelSize(uint32_t(level)), n = tree.pointCount();
        std::vector<uint32_t> ancestor(n);  // on this level
        std::vector<double> farthest(size, 0);
        for (size_t r = 0; r < n; ++r) {
          ancestor[r] = r < size ? uint32_t(r) : ancestor[tree.parentRank[r]];
          const double d = (tree.position[r] - tree.position[ancestor[r]]).norm();
          farthest[ancestor[r]] = std::max(farthest[ancestor[r]], d);
        }
        for (size_t r = 0; r < size; ++r) tree.radius[tree.levelStart[level] + r] = roundedUp(farthest[r]);
      },
      1);
}

}  // namespace

SphereTree buildSphereTree(std::span<const Vec3> points, std::span<const uint8_t> surface) {
  if (!surface.empty() && surface.size() != points.size())
    throw Error(ErrorKind::Usage, "a sphere tree needs one surface mark a point, or none at all");
  if (points.size() > (size_t(1) << 29)) throw Error(ErrorKind::Limit, "too many points for one sphere tree");
  SphereTree tree;
  if (points.empty()) return tree;
  FarthestPointOrder order = farthestPointOrder(points);
  tree.order = std::move(order.order);
  tree.gap = std::move(order.gap);
  tree.parentRank = std::move(order.parent);
  for (const uint32_t id : tree.order) {
    tree.position.push_back(points[id]);
    tree.surface.push_back(surface.empty() || surface[id] != 0);
  }
  link(tree);
  findRadii(tree);
  return tree;
}

size_t SphereTree::bytes() const {
  const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return of(order) + of(position) + of(surface) + of(gap) + of(parentRank) + of(rank) + of(parent) +
         of(firstChild) + of(nextSibling) + of(radius) + of(levelStart) + of(roots);
}

}  // namespace sunder::sdf
