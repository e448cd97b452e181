// Ostensibly-implicit layout: which nodes of a perfect tree exist for `leafCount` leaves, and where each one
// lives in memory. The leaves fill the last level from the left; a node exists when a leaf lies below it.
// Only existing nodes have a slot, level by level, without pointers or gaps. Follows Chitalu et al. 2020
// (Computer Graphics Forum 39-2) and the k-ary appendix of Chitalu's thesis (2020), with the errata of both
// (E10, E16, E20 to E22: levels, multiset of digits).
//
// Nodes are addressed by (level, position): level 0 is the root, position counts from the left among the
// nodes of the perfect tree. slot() is a bijection from the existing nodes onto [0, nodeCount()). No leaves:
// no levels, no nodes. Cost: O(levels) to make, O(1) a look-up.
#pragma once

#include <array>
#include <cstdint>

namespace sunder::spatial {

class OiLayout {
 public:
  static constexpr uint32_t kMostLevels = 33;

  OiLayout() = default;
  explicit OiLayout(uint32_t leafCount, uint32_t arity = 2);  // arity >= 2

  uint32_t leafCount() const { return leafCount_; }
  uint32_t arity() const { return arity_; }
  uint32_t levels() const { return levels_; }  // leaves are on level levels() - 1; 0 when there are no leaves
  uint32_t leafLevel() const { return levels_ - 1; }
  uint32_t nodeCount() const { return offset_[levels_]; }
  uint64_t virtualLeaves() const { return virtualLeaves_; }  // leaves that the perfect tree has beyond ours
  uint64_t perfectNodeCount() const;                         // what a padded tree would store

  uint32_t levelSize(uint32_t level) const { return size_[level]; }
  uint32_t levelOffset(uint32_t level) const { return offset_[level]; }
  bool levelFull(uint32_t level) const;

  bool exists(uint32_t level, uint32_t position) const { return position < size_[level]; }
  uint32_t slot(uint32_t level, uint32_t position) const { return offset_[level] + position; }

  struct Node {
    uint32_t level, position;
    bool operator==(const Node&) const = default;
  };
  Node nodeAt(uint32_t slot) const;  // inverse of slot()

  // Existing children, or existing descendants n levels down: a contiguous run of positions that starts at
  // position * arity^n. Never empty for an existing node.
  uint32_t childCount(uint32_t level, uint32_t position) const { return descendantCount(level, position, 1); }
  uint32_t descendantCount(uint32_t level, uint32_t position, uint32_t n) const;

  struct Range {
    uint32_t begin, end;
  };
  Range leavesBelow(uint32_t level, uint32_t position) const;

  // By labels of the perfect tree (index_algebra.h), as the source writes it: slot = label - virtual nodes
  // before it.
  uint64_t slotOfLabel(uint64_t label) const;
  uint64_t labelOfSlot(uint32_t slot) const;

 private:
  uint32_t leafCount_ = 0, arity_ = 2, levels_ = 0;
  uint64_t virtualLeaves_ = 0;
  std::array<uint32_t, kMostLevels> size_{};
  std::array<uint32_t, kMostLevels + 1> offset_{};
  std::array<uint64_t, kMostLevels + 1> power_{};  // arity^n
};

}  // namespace sunder::spatial
