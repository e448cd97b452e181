// What to do with a deforming body's tree this frame: keep the order of its leaves and refit, rebuild it in
// Morton order, or re-order the leaves by selection, which gives half the box tests at ten times the price.
// The decision comes from what was measured in earlier frames: a measure of quality, lower being better,
// which is the number of box tests of the body's searches or, where those are not at hand, the surface area
// cost of its tree.
//
// Two rules. Amortise (for box tests): a better tree is made when the tests that the present one has cost too
// many, summed since it was made, are worth more than making it, so building never costs more than bad trees
// did (the ski-rental argument: at most twice the cost of the best choice in hindsight for a steady rate of
// decay). Threshold (for surface area cost): when quality has fallen by a set factor against the fresh tree.
//
// No clocks: the same measurements give the same decisions on every machine. Cost: O(1).
#pragma once

#include <cstdint>

namespace sunder::published {

enum class TreeAction : uint8_t { Refit, Rebuild, Reorder };

struct RebuildSettings {
  enum class Rule : uint8_t { Amortise, Threshold } rule = Rule::Amortise;

  // Prices in box tests for each leaf, as measured with overlap_pairs.h (1 ns a test).
  double refitPrice = 12;
  double rebuildPrice = 25;
  double reorderPrice = 200;

  // Threshold: rebuild when the measure exceeds this many times that of the fresh tree, and by selection when
  // even a fresh Morton tree is worse than the last selection by the second factor, at most every so many
  // frames.
  double rebuildFactor = 1.3;
  double reorderFactor = 1.4;
  uint32_t reorderInterval = 60;

  // A selection tree's measure as part of a Morton tree's, until one has been measured.
  double expectedSelection = 0.6;
};

class RebuildPolicy {
 public:
  explicit RebuildPolicy(const RebuildSettings& settings = {}) : settings_(settings) {}

  // What to do before the next search. The first answer is Rebuild.
  TreeAction next() const { return next_; }

  // After the search: what was done, the measure that came out, and the number of leaves. Throws Error
  // (Usage) for a measure that is negative or not finite.
  void measured(TreeAction done, double measure, uint32_t leaves);

  // The order of the leaves is lost or the topology has changed: start again.
  void reset() { *this = RebuildPolicy(settings_); }

  double lossAgainstMorton() const { return mortonLoss_; }  // summed, in box tests
  double lossAgainstSelection() const { return selectionLoss_; }

 private:
  RebuildSettings settings_;
  TreeAction next_ = TreeAction::Rebuild;
  double freshMorton_ = -1, freshSelection_ = -1;  // last measure after that action, -1: never done
  double fresh_ = -1;                              // of the tree in use, when it was made
  bool selected_ = false;                          // the tree in use is a selection tree
  double mortonLoss_ = 0, selectionLoss_ = 0;
  uint32_t sinceReorder_ = 0;
};

}  // namespace sunder::published
