#include "sunder/spatial/tree/oi_layout.h"

#include <algorithm>
#include <cassert>

namespace sunder::spatial {

OiLayout::OiLayout(uint32_t leafCount, uint32_t arity) : leafCount_(leafCount), arity_(arity) {
  assert(arity >= 2);
  if (leafCount == 0) return;
  power_[0] = 1;
  levels_ = 1;
  while (power_[levels_ - 1] < leafCount) {
    power_[levels_] = power_[levels_ - 1] * arity;
    ++levels_;
  }
  virtualLeaves_ = power_[levels_ - 1] - leafCount;
  uint32_t slot = 0;
  for (uint32_t level = 0; level < levels_; ++level) {
    const uint64_t leavesEach = power_[leafLevel() - level];
    size_[level] = static_cast<uint32_t>((leafCount + leavesEach - 1) / leavesEach);
    offset_[level] = slot;
    slot += size_[level];
  }
  offset_[levels_] = slot;
}

uint64_t OiLayout::perfectNodeCount() const {
  return levels_ == 0 ? 0 : (power_[leafLevel()] * arity_ - 1) / (arity_ - 1);
}

bool OiLayout::levelFull(uint32_t level) const { return size_[level] == power_[level]; }

OiLayout::Node OiLayout::nodeAt(uint32_t slot) const {
  const auto* end = offset_.data() + levels_;
  const auto* above = std::upper_bound(offset_.data(), end, slot);
  const auto level = static_cast<uint32_t>(above - offset_.data() - 1);
  return {level, slot - offset_[level]};
}

uint32_t OiLayout::descendantCount(uint32_t level, uint32_t position, uint32_t n) const {
  const uint64_t first = position * power_[n];
  return static_cast<uint32_t>(std::min(power_[n], size_[level + n] - first));
}

OiLayout::Range OiLayout::leavesBelow(uint32_t level, uint32_t position) const {
  const uint64_t each = power_[leafLevel() - level];
  return {static_cast<uint32_t>(position * each),
          static_cast<uint32_t>(std::min<uint64_t>(leafCount_, (position + uint64_t(1)) * each))};
}

namespace {

uint64_t digitSum(uint64_t value, uint32_t base) {
  uint64_t sum = 0;
  for (; value > 0; value /= base) sum += value % base;
  return sum;
}

}  // namespace

uint64_t OiLayout::slotOfLabel(uint64_t label) const {
  uint32_t level = 0;
  for (uint64_t first = 1; first <= label; first = first * arity_ + 1) ++level;
  // Virtual nodes above this level: each level up has a arity-th of the virtual nodes below it, rounded down,
  // and those floors sum up to (arity * v - digit sum of v) / (arity - 1).
  if (level == 0) return label;
  const uint64_t v = virtualLeaves_ / power_[leafLevel() - level + 1];
  return label - (arity_ * v - digitSum(v, arity_)) / (arity_ - 1);
}

uint64_t OiLayout::labelOfSlot(uint32_t slot) const {
  const Node node = nodeAt(slot);
  return (power_[node.level] - 1) / (arity_ - 1) + node.position;
}

}  // namespace sunder::spatial
