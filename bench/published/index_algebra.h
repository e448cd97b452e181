// Navigation in a perfect tree of any arity by arithmetic alone: the nodes are labelled in level order from
// the root (label 0), and any n-th descendant or ancestor of a label is a formula, no memory is read. Follows
// Chitalu's thesis (Edinburgh 2020, ch. 4) with its rounding mended: an ancestor is the floor, which the
// printed form leaves out.
//
// A node is a label, or equally a (level, position) pair; the pair is what the trees use, since with it going
// n levels down or up is one multiplication or division, a shift for arities that are powers of two. Labels
// are 64-bit here. Cost: O(1), level() O(number of levels). All constexpr.
#pragma once

#include <bit>
#include <cstdint>

namespace sunder::published {

template <uint32_t kArity>
struct IndexAlgebra {
  static_assert(kArity >= 2, "a tree needs at least two children a node");

  static constexpr uint64_t power(uint32_t n) {
    uint64_t result = 1;
    while (n-- > 0) result *= kArity;
    return result;
  }

  // Label of the first node of a level = number of nodes above it.
  static constexpr uint64_t firstOfLevel(uint32_t level) { return (power(level) - 1) / (kArity - 1); }

  static constexpr uint32_t level(uint64_t label) {
    if constexpr (kArity == 2) return static_cast<uint32_t>(std::bit_width(label + 1) - 1);
    uint32_t l = 0;
    for (uint64_t first = 1; first <= label; first = first * kArity + 1) ++l;
    return l;
  }

  static constexpr uint64_t position(uint64_t label) { return label - firstOfLevel(level(label)); }
  static constexpr uint64_t label(uint32_t level, uint64_t position) {
    return firstOfLevel(level) + position;
  }

  static constexpr uint64_t child(uint64_t label, uint32_t c) { return kArity * label + 1 + c; }
  static constexpr uint64_t parent(uint64_t label) { return (label - 1) / kArity; }  // label >= 1

  // The k-th of the kArity^n descendants n levels down, from the left.
  static constexpr uint64_t descendant(uint64_t label, uint32_t n, uint64_t k) {
    return power(n) * label + firstOfLevel(n) + k;
  }
  // The ancestor n levels up; label's level must be at least n.
  static constexpr uint64_t ancestor(uint64_t label, uint32_t n) {
    return (label - firstOfLevel(n)) / power(n);
  }
  static constexpr bool isDescendant(uint64_t label, uint64_t of) {
    const uint32_t low = level(label), high = level(of);
    return low >= high && ancestor(label, low - high) == of;
  }
};

using BinaryIndex = IndexAlgebra<2>;

// The other child of a binary node's parent; label >= 1.
constexpr uint64_t sibling(uint64_t label) { return ((label + 1) ^ 1) - 1; }

}  // namespace sunder::published
