// Which bodies may touch: pairs of boxes grown by their margins, through an ostensibly-implicit tree;
// half-spaces apart.
//
// Pairs of larger boxes are kept for as long as every body stays within its own; what is handed out is always
// chosen from them by the boxes of the moment, so results do not depend on what was kept. Where bodies leave
// theirs at once, the tree is made anew each time. Cost: O(bodies + pairs); with kept pairs about a tenth of
// that of a new tree.
//
// Bodies in one place make every pair: 2000 of them two million, each with contacts. So the number of pairs
// is limited to what the memory has room for (memoryLimit() of base, asked once): more throw Error (Limit)
// that names two of the bodies, before contacts are made.
#pragma once

#include "sunder/base/radix_sort.h"
#include "sunder/rigid/solver/body_set.h"
#include "sunder/spatial/pairs/overlap_pairs.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::rigid {

// What a pair of overlapping bodies takes in a simulation, with its contacts; measured with boxes and solids
// that lie in one place.
inline constexpr double kBytesAPair = 2500;

inline uint64_t pairKey(uint32_t a, uint32_t b) {
  return a < b ? uint64_t(a) << 32 | b : uint64_t(b) << 32 | a;
}

// The box with its corners rounded outwards.
Box3f outwards(const Box3& box);

class BroadPhase {
 public:
  // Whether two bodies may touch at all: kinds, filters, joints. `unlinked`: sorted keys of pairs that joints
  // keep from touching.
  static bool meet(const BodySet& bodies, uint32_t a, uint32_t b, std::span<const uint64_t> unlinked);

  // Keys (a << 32 | b, a < b) in rising order of the pairs with at least one active body. margin[i] is
  // added to the box of body i.
  std::span<const uint64_t> find(const BodySet& bodies, std::span<const double> margin,
                                 std::span<const uint64_t> unlinked, bool onlyActive = true);

  // Instead of what the memory has room for.
  void setMostPairs(uint64_t count) { mostPairs_ = count; }

 private:
  void findOverlapping(std::span<const double> margin);
  bool keptHold() const;

  std::vector<uint32_t> bodies_, planes_;
  std::vector<Box3f> boxes_;
  std::vector<uint64_t> overlapping_;  // numbers of two boxes that overlap, rising
  std::vector<uint32_t> keptBodies_;
  std::vector<Box3f> keptBoxes_;
  std::vector<uint64_t> kept_;  // pairs of kept boxes, rising
  std::vector<uint32_t> counts_;
  uint64_t mostPairs_ = 0;  // 0: not known yet
  uint32_t age_ = 0;        // how often what is kept has been of use
  uint32_t wait_ = 0;       // times until keeping is tried again
  spatial::OiTree tree_;
  spatial::OiTreeBuilder builder_;
  spatial::PairList list_;
  std::vector<uint64_t> keys_;
  RadixScratch scratch_;
};

}  // namespace sunder::rigid
