#include "sunder/spatial/pairs/top_level.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <string>

namespace sunder::spatial {

namespace {

void check(std::span<const TopLevelBody> bodies) {
  std::vector<const OiTree*> trees(bodies.size());
  for (size_t i = 0; i < bodies.size(); ++i) {
    trees[i] = bodies[i].tree;
    if (!trees[i]) throw Error(ErrorKind::Usage, "body " + std::to_string(i) + " has no tree");
  }
  std::sort(trees.begin(), trees.end(), std::less<>());
  if (std::adjacent_find(trees.begin(), trees.end()) != trees.end())
    throw Error(ErrorKind::Usage, "two bodies share a tree")
        .hint("a job of a tree with itself means a search within it; give each body its own tree");
}

bool mayMeet(const TopLevelBody& a, const TopLevelBody& b) {
  return (a.category & b.mask) != 0 && (b.category & a.mask) != 0 && (a.group == 0 || a.group != b.group);
}

}  // namespace

void TopLevel::update(std::span<const TopLevelBody> bodies, const BodyFilter& filter) {
  check(bodies);
  boxes_.clear();
  present_.clear();
  bodies_.clear();
  for (uint32_t i = 0; i < bodies.size(); ++i) {
    if (bodies[i].tree->empty()) continue;
    boxes_.push_back(bodies[i].tree->bounds());
    present_.push_back(i);
    if (bodies[i].self) bodies_.push_back({i, i});
  }
  builder_.build(tree_, boxes_);
  selfOverlapPairs(tree_, pairs_);
  for (const PrimitivePair& pair : pairs_.pairs()) {
    const uint32_t a = present_[std::min(pair.a, pair.b)], b = present_[std::max(pair.a, pair.b)];
    if (mayMeet(bodies[a], bodies[b]) && (!filter || filter(a, b))) bodies_.push_back({a, b});
  }
  std::sort(bodies_.begin(), bodies_.end());
  jobs_.clear();
  for (const PrimitivePair& pair : bodies_) jobs_.push_back({bodies[pair.a].tree, bodies[pair.b].tree});
}

}  // namespace sunder::spatial
