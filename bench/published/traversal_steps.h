// Which level every tree is on after how many passes. Private to the room.
#pragma once

#include "sunder/base/error.h"

#include "bench/published/traversal.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace sunder::published {
using namespace spatial;

class StepSchedule {
 public:
  explicit StepSchedule(const TraversalSettings& settings) {
    const auto step = [&](uint32_t level) {
      if (settings.stepTable.empty()) return settings.step;
      return settings.stepTable[std::min<size_t>(level, settings.stepTable.size() - 1)];
    };
    for (uint32_t leafLevel = 0; leafLevel < OiLayout::kMostLevels; ++leafLevel) {
      uint32_t level = std::min(settings.entryLevel, leafLevel);
      for (uint32_t& at : level_[leafLevel]) {
        at = level;
        if (step(level) == 0) throw Error(ErrorKind::Usage, "a depth-step must be at least 1");
        level += std::min(step(level), leafLevel - level);
      }
    }
  }

  uint32_t level(uint32_t leafLevel, uint32_t pass) const { return level_[leafLevel][pass]; }

  // First pass that finds the tree at its leaves.
  uint32_t passes(uint32_t leafLevel) const {
    uint32_t pass = 0;
    while (level_[leafLevel][pass] < leafLevel) ++pass;
    return pass;
  }

 private:
  std::array<std::array<uint32_t, OiLayout::kMostLevels + 1>, OiLayout::kMostLevels> level_;
};

}  // namespace sunder::published
