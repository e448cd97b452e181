#include "bench/published/build_schedule.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>

namespace sunder::published {
using namespace spatial;

std::vector<BuildLaunch> buildLaunches(uint32_t leafCount, uint32_t groupSize, BuildSchedule schedule) {
  if (groupSize < 2 || !std::has_single_bit(groupSize))
    throw Error(ErrorKind::Usage, "the group size of a build is a power of two, at least 2");
  const OiLayout layout(leafCount);
  std::vector<BuildLaunch> launches;
  if (layout.levels() < 2) return launches;
  if (schedule == BuildSchedule::ByInputLevel) {
    for (uint32_t input = layout.leafLevel(); input > 0;) {
      const uint32_t known = layout.levelSize(input);
      const uint32_t group = std::min(groupSize, std::bit_ceil(known));
      const auto climbed = static_cast<uint32_t>(std::bit_width(group) - 1);
      launches.push_back({input - 1, input - climbed, group, group * ((known + group - 1) / group)});
      input -= climbed;
    }
    return launches;
  }
  const auto climb = static_cast<uint32_t>(std::bit_width(groupSize) - 1);
  for (uint32_t level = layout.leafLevel(); level > 0;) {
    const uint32_t entry = level - 1;
    const uint32_t last = entry > climb ? entry - climb : 0;
    const uint32_t size = layout.levelSize(entry);
    launches.push_back({entry, last, groupSize, groupSize * ((size + groupSize - 1) / groupSize)});
    level = last;
  }
  return launches;
}

void emulateBuild(const OiLayout& layout, std::span<const BuildLaunch> launches, std::span<Box3f> nodes,
                  std::span<uint32_t> writes, RandomStream& random) {
  assert(layout.arity() == 2 && nodes.size() == layout.nodeCount() && writes.size() == nodes.size());
  const auto makeNode = [&](uint32_t level, uint32_t position) {
    const uint32_t child = layout.slot(level + 1, 2 * position);
    Box3f box = nodes[child];
    if (layout.childCount(level, position) == 2) box.grow(nodes[child + 1]);
    nodes[layout.slot(level, position)] = box;
    ++writes[layout.slot(level, position)];
  };
  std::vector<uint32_t> arrived(nodes.size(), 0);
  std::vector<uint32_t> threads;
  for (const BuildLaunch& launch : launches) {
    threads.resize(launch.threads);
    std::iota(threads.begin(), threads.end(), 0u);
    for (size_t i = threads.size(); i > 1; --i)
      std::swap(threads[i - 1], threads[random.below(static_cast<uint32_t>(i))]);
    for (uint32_t first : threads) {
      if (first >= layout.levelSize(launch.entryLevel)) continue;
      makeNode(launch.entryLevel, first);
      for (uint32_t level = launch.entryLevel; level-- > launch.lastLevel;) {
        const uint32_t position = first >> (launch.entryLevel - level);
        // Of two children the first to arrive leaves the parent to the other.
        if (layout.childCount(level, position) == 2 && arrived[layout.slot(level, position)]++ == 0) break;
        makeNode(level, position);
      }
    }
  }
}

}  // namespace sunder::published
