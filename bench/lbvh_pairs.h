// Overlapping pairs of leaves of two radix trees (the linear BVH of Karras 2012), going down both at once
// with a stack: what depth_first.h does on implicit trees, for the comparison. A leaf waits while the other
// side goes on; both go down where both can.
#pragma once

#include "sunder/spatial/tree/radix_tree.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace sunder::bench {

// emit(primitiveOfA, primitiveOfB). Returns the number of box tests. Within one tree every pair once.
template <class Emit>
uint64_t radixPairs(const spatial::RadixTree& a, const spatial::RadixTree& b, Emit&& emit) {
  if (a.empty() || b.empty()) return 0;
  const bool self = &a == &b;
  uint64_t tests = 0;
  std::vector<std::pair<uint32_t, uint32_t>> stack;
  const auto take = [&](uint32_t x, uint32_t y) {
    ++tests;
    if (overlap(a.box(x), b.box(y))) stack.push_back({x, y});
  };
  take(0, 0);
  while (!stack.empty()) {
    const auto [x, y] = stack.back();
    stack.pop_back();
    const bool leafX = a.isLeaf(x), leafY = b.isLeaf(y);
    if (self && x == y) {
      if (leafX) continue;
      take(a.left(x), a.left(x));
      take(a.left(x), a.right(x));
      take(a.right(x), a.right(x));
    } else if (leafX && leafY) {
      emit(a.primitive(a.leafOfNode(x)), b.primitive(b.leafOfNode(y)));
    } else if (leafX) {
      take(x, b.left(y));
      take(x, b.right(y));
    } else if (leafY) {
      take(a.left(x), y);
      take(a.right(x), y);
    } else {
      take(a.left(x), b.left(y));
      take(a.left(x), b.right(y));
      take(a.right(x), b.left(y));
      take(a.right(x), b.right(y));
    }
  }
  return tests;
}

}  // namespace sunder::bench
