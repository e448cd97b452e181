// Disjoint sets over 0 .. n-1 (union-find, Tarjan 1975). The root of a set is always its smallest member, so
// the outcome does not depend on the order of the unions. Path halving alone: O(log n) amortised, close to
// constant in use. find() shortens paths: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace sunder {

class DisjointSets {
 public:
  DisjointSets() = default;
  explicit DisjointSets(size_t count) { reset(count); }

  // `count` sets of one member each; keeps its memory.
  void reset(size_t count) {
    parent_.resize(count);
    std::iota(parent_.begin(), parent_.end(), 0u);
  }

  // One more member, in a set of its own; returns its number.
  uint32_t add() {
    parent_.push_back(static_cast<uint32_t>(parent_.size()));
    return parent_.back();
  }

  uint32_t find(uint32_t i) {
    while (parent_[i] != i) {
      parent_[i] = parent_[parent_[i]];
      i = parent_[i];
    }
    return i;
  }

  bool isRoot(uint32_t i) const { return parent_[i] == i; }

  // True when the two were apart.
  bool unite(uint32_t a, uint32_t b) {
    a = find(a);
    b = find(b);
    if (a == b) return false;
    if (a > b) std::swap(a, b);
    parent_[b] = a;
    return true;
  }

  size_t size() const { return parent_.size(); }

 private:
  std::vector<uint32_t> parent_;
};

}  // namespace sunder
