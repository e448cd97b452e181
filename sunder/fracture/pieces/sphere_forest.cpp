#include "sunder/fracture/pieces/sphere_forest.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sunder::fracture {

namespace {

float roundedUp(double value) {
  const auto result = float(value);
  return double(result) < value ? std::nextafter(result, std::numeric_limits<float>::infinity()) : result;
}

struct Splitter {
  const sdf::SphereTree& old;
  std::span<const uint32_t> label;
  std::vector<sdf::SphereTree> trees;
  std::vector<uint32_t> rank;        // by old rank, in its fragment
  std::vector<uint32_t> occurrence;  // by old occurrence
  std::vector<uint32_t> top;         // by old rank: its first occurrence, in its fragment

  Splitter(const sdf::SphereTree& parent, std::span<const uint32_t> labels, size_t fragments)
      : old(parent), label(labels), trees(fragments) {}

  void takePoints() {
    rank.assign(old.pointCount(), kNoIndex);
    top.assign(old.pointCount(), kNoIndex);
    for (uint32_t r = 0; r < old.pointCount(); ++r) {
      if (label[r] == kNoIndex) continue;
      sdf::SphereTree& tree = trees[label[r]];
      rank[r] = uint32_t(tree.order.size());
      tree.order.push_back(rank[r]);
      tree.position.push_back(old.position[r]);
      tree.surface.push_back(old.surface[r]);
      tree.gap.push_back(r < old.gap.size() ? old.gap[r] : 0);
    }
  }

  static uint32_t append(sdf::SphereTree& tree, uint32_t rank, uint32_t parent, float radius) {
    const auto self = uint32_t(tree.rank.size());
    tree.rank.push_back(rank);
    tree.parent.push_back(parent);
    tree.firstChild.push_back(kNoIndex);
    tree.nextSibling.push_back(kNoIndex);
    tree.radius.push_back(radius);
    if (parent == kNoIndex) tree.roots.push_back(self);
    return self;
  }

  // Parents before their children, coarse before fine.
  std::vector<uint32_t> inOrder() const {
    std::vector<uint32_t> queue(old.roots);
    queue.reserve(old.occurrenceCount());
    for (size_t i = 0; i < queue.size(); ++i)
      for (uint32_t c = old.firstChild[queue[i]]; c != kNoIndex; c = old.nextSibling[c]) queue.push_back(c);
    return queue;
  }

  void takeOccurrences() {
    occurrence.assign(old.occurrenceCount(), kNoIndex);
    for (auto& tree : trees) {
      const size_t most = tree.order.size() * 3;
      for (auto* list : {&tree.rank, &tree.parent, &tree.firstChild, &tree.nextSibling}) list->reserve(most);
      tree.radius.reserve(most);
    }
    for (const uint32_t o : inOrder()) {
      const uint32_t r = old.rank[o], fragment = label[r];
      if (fragment == kNoIndex) continue;
      uint32_t up = old.parent[o];
      while (up != kNoIndex && label[old.rank[up]] != fragment) up = old.parent[up];
      const uint32_t above = up == kNoIndex ? kNoIndex : occurrence[up];
      occurrence[o] = append(trees[fragment], rank[r], above, old.radius[o]);
      if (top[r] == kNoIndex) top[r] = occurrence[o];
    }
    // Children by ascending number: the last one first, each in front of those before.
    for (auto& tree : trees)
      for (auto o = uint32_t(tree.rank.size()); o-- > 0;) {
        const uint32_t up = tree.parent[o];
        if (up == kNoIndex) continue;
        tree.nextSibling[o] = tree.firstChild[up];
        tree.firstChild[up] = o;
      }
  }

  // A few roots with large spheres; the others below the first.
  static void joinRoots(sdf::SphereTree& tree) {
    std::stable_sort(tree.roots.begin(), tree.roots.end(),
                     [&](uint32_t a, uint32_t b) { return tree.radius[a] > tree.radius[b]; });
    if (tree.roots.size() <= kMostRoots) return;
    const uint32_t first = tree.roots[0];
    const Vec3& centre = tree.position[tree.rank[first]];
    for (size_t i = kMostRoots; i < tree.roots.size(); ++i) {
      const uint32_t root = tree.roots[i];
      hang(tree, root, first);
      const double reach = (tree.position[tree.rank[root]] - centre).norm() + double(tree.radius[root]);
      tree.radius[first] = std::max(tree.radius[first], roundedUp(reach));
    }
    tree.roots.resize(kMostRoots);
  }

  // Behind the first child, which is the point's own next occurrence.
  static void hang(sdf::SphereTree& tree, uint32_t self, uint32_t above) {
    tree.parent[self] = above;
    uint32_t& slot = tree.firstChild[above] == kNoIndex ? tree.firstChild[above]
                                                        : tree.nextSibling[tree.firstChild[above]];
    tree.nextSibling[self] = slot;
    slot = self;
  }

  void addPoint(uint32_t fragment, const NewPoint& point) {
    sdf::SphereTree& tree = trees[fragment];
    const auto r = uint32_t(tree.order.size());
    tree.order.push_back(r);
    tree.position.push_back(point.position);
    tree.surface.push_back(1);
    tree.gap.push_back(0);
    uint32_t above = kNoIndex;
    if (point.below != kNoIndex && label[point.below] == fragment) above = top[point.below];
    if (above == kNoIndex && !tree.roots.empty()) above = tree.roots[0];
    const uint32_t self = append(tree, r, kNoIndex, 0);
    if (above == kNoIndex) return;
    tree.roots.pop_back();
    hang(tree, self, above);
    // Spheres are not nested, so all of them are asked.
    uint32_t last = kNoIndex;
    float reach = 0;
    for (uint32_t up = above; up != kNoIndex; up = tree.parent[up]) {
      if (tree.rank[up] != last) {
        last = tree.rank[up];
        reach = roundedUp((point.position - tree.position[last]).norm());
      }
      tree.radius[up] = std::max(tree.radius[up], reach);
    }
  }

  void findParentRanks() {
    for (auto& tree : trees) {
      tree.parentRank.assign(tree.order.size(), 0);
      std::vector<char> seen(tree.order.size(), 0);
      for (size_t o = 0; o < tree.rank.size(); ++o) {
        if (seen[tree.rank[o]]) continue;
        seen[tree.rank[o]] = 1;
        if (tree.parent[o] != kNoIndex) tree.parentRank[tree.rank[o]] = tree.rank[tree.parent[o]];
      }
    }
  }
};

}  // namespace

std::vector<sdf::SphereTree> splitForest(const sdf::SphereTree& parent, std::span<const uint32_t> label,
                                         std::span<const std::vector<NewPoint>> added,
                                         std::vector<uint32_t>* rankOf) {
  if (label.size() != parent.pointCount())
    throw Error(ErrorKind::Usage, "every point of a tree that breaks needs the fragment it goes to");
  for (const uint32_t l : label)
    if (l != kNoIndex && l >= added.size())
      throw Error(ErrorKind::Usage, "a point goes to a fragment that is not there");
  Splitter splitter(parent, label, added.size());
  splitter.takePoints();
  splitter.takeOccurrences();
  for (auto& tree : splitter.trees) Splitter::joinRoots(tree);
  for (uint32_t f = 0; f < added.size(); ++f)
    for (const NewPoint& point : added[f]) splitter.addPoint(f, point);
  splitter.findParentRanks();
  if (rankOf) *rankOf = std::move(splitter.rank);
  return std::move(splitter.trees);
}

}  // namespace sunder::fracture
