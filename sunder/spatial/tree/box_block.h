// Eight boxes side by side, each coordinate in a row of its own: 192 bytes, three cache lines, 24 bytes a
// box. A vector unit tests one box against all eight at once. Lanes without a box hold an empty one (lower
// +inf, upper -inf), which overlaps nothing, so that no test needs to know how many are there.
#pragma once

#include "sunder/base/box.h"

#include <cstdint>
#include <limits>

namespace sunder::spatial {

inline constexpr uint32_t kBlockLanes = 8;

struct alignas(64) BoxBlock {
  float lower[3][kBlockLanes];
  float upper[3][kBlockLanes];

  void set(uint32_t lane, const Box3f& box) {
    for (int axis = 0; axis < 3; ++axis) {
      lower[axis][lane] = box.lower[axis];
      upper[axis][lane] = box.upper[axis];
    }
  }
  Box3f get(uint32_t lane) const {
    return {{lower[0][lane], lower[1][lane], lower[2][lane]},
            {upper[0][lane], upper[1][lane], upper[2][lane]}};
  }
  void clear() {
    for (int axis = 0; axis < 3; ++axis)
      for (uint32_t lane = 0; lane < kBlockLanes; ++lane) {
        lower[axis][lane] = std::numeric_limits<float>::infinity();
        upper[axis][lane] = -std::numeric_limits<float>::infinity();
      }
  }
};
static_assert(sizeof(BoxBlock) == 24 * kBlockLanes, "24 bytes a box");

}  // namespace sunder::spatial
