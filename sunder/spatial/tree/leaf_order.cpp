#include "sunder/spatial/tree/leaf_order.h"

#include "sunder/base/parallel.h"
#include "sunder/spatial/tree/tree_kernels.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace sunder::spatial {

namespace {

// 21 bits spread three apart.
uint64_t spread(uint64_t x) {
  x = (x | x << 32) & 0x001f00000000ffffu;
  x = (x | x << 16) & 0x001f0000ff0000ffu;
  x = (x | x << 8) & 0x100f00f00f00f00fu;
  x = (x | x << 4) & 0x10c30c30c30c30c3u;
  return (x | x << 2) & 0x1249249249249249u;
}

}  // namespace

void sortByLongCodes(std::span<const PaddedBox> boxes, const PaddedBox& bounds, bool commonScale,
                     std::span<uint64_t> keys, std::span<uint32_t> order, RadixScratch& scratch) {
  const kernels::CodeScale scale = kernels::codeScale(bounds, commonScale, 21);
  parallelFor(boxes.size(), [&](size_t i) {
    uint64_t code = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const float sum = boxes[i].lower[axis] + boxes[i].upper[axis];
      const float cell = (sum - scale.twiceOrigin[axis]) * scale.scale[axis];
      code |= spread(static_cast<uint64_t>(std::clamp(cell, 0.0f, 2097151.0f))) << (2 - axis);
    }
    keys[i] = code;
    order[i] = static_cast<uint32_t>(i);
  });
  radixSortPairs(keys, order, scratch, 63);
}

namespace {

struct Centre {
  float at[3];
  uint32_t leaf;
};

constexpr size_t kSerialRun = 4096;

// Splits the run; returns where.
size_t split(std::span<Centre> run) {
  float lower[3], upper[3];
  for (int k = 0; k < 3; ++k) lower[k] = upper[k] = run[0].at[k];
  for (const Centre& c : run)
    for (int k = 0; k < 3; ++k) {
      lower[k] = std::min(lower[k], c.at[k]);
      upper[k] = std::max(upper[k], c.at[k]);
    }
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (upper[k] - lower[k] > upper[axis] - lower[axis]) axis = k;
  const size_t middle = std::bit_ceil(run.size()) / 2;
  std::nth_element(run.begin(), run.begin() + static_cast<std::ptrdiff_t>(middle), run.end(),
                   [axis](const Centre& a, const Centre& b) {
                     return a.at[axis] != b.at[axis] ? a.at[axis] < b.at[axis] : a.leaf < b.leaf;
                   });
  return middle;
}

void splitAll(std::span<Centre> run) {
  while (run.size() > 1) {
    const size_t middle = split(run);
    splitAll(run.subspan(middle));
    run = run.first(middle);
  }
}

}  // namespace

void orderBySelection(std::span<const PaddedBox> boxes, std::span<uint32_t> order) {
  std::vector<Centre> centres(order.size());
  parallelFor(order.size(), [&](size_t i) {
    const PaddedBox& box = boxes[order[i]];
    for (int k = 0; k < 3; ++k) centres[i].at[k] = box.lower[k] + box.upper[k];
    centres[i].leaf = order[i];
  });
  // Level by level, all runs of a level in parallel, until they are small enough for one task each.
  std::vector<std::span<Centre>> runs{centres}, next;
  while (!runs.empty() && runs.front().size() > kSerialRun) {
    next.assign(2 * runs.size(), {});
    parallelFor(
        runs.size(),
        [&](size_t r) {
          if (runs[r].size() <= 1) {
            next[2 * r] = runs[r];
            return;
          }
          const size_t middle = split(runs[r]);
          next[2 * r] = runs[r].first(middle);
          next[2 * r + 1] = runs[r].subspan(middle);
        },
        1);
    runs.swap(next);
  }
  parallelFor(
      runs.size(), [&](size_t r) { splitAll(runs[r]); }, 1);
  parallelFor(order.size(), [&](size_t i) { order[i] = centres[i].leaf; });
}

}  // namespace sunder::spatial
