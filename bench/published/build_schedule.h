// How many launches a device needs to build a tree bottom-up with groups of g threads, what each launch does,
// and an emulation of it, thread by thread in random order. Two consistent schedules, g a power of two:
//
// ByInputLevel: groups take g neighbours of a level that is known and write log2(g) levels above it:
//   ceil(h / log2 g) launches for leaves on level h.
// ByEntryLevel: a thread makes one node of the level above and its group climbs log2(g) levels further:
//   ceil(h / (1 + log2 g)) launches.
//
// Follows Chitalu et al. 2020 (CGF 39-2, eqs. 3.11 to 3.13 and Algorithm 3) with the errata: thread counts
// are multiples of the group, climbing starts above the entry level, surplus threads leave. Guarantee: every
// inner node is written once. Our own build is oi_tree.h; this is what a device port is checked against.
#pragma once

#include "sunder/base/box.h"
#include "sunder/base/random.h"
#include "sunder/spatial/tree/oi_layout.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::published {
using namespace spatial;

enum class BuildSchedule : uint8_t { ByInputLevel, ByEntryLevel };

struct BuildLaunch {
  uint32_t entryLevel;  // the first level that is written
  uint32_t lastLevel;   // the highest level that is written
  uint32_t groupSize;
  uint32_t threads;  // a multiple of groupSize
};

// Binary trees. Throws Error (Usage) unless groupSize is a power of two, at least 2.
std::vector<BuildLaunch> buildLaunches(uint32_t leafCount, uint32_t groupSize, BuildSchedule schedule);

// Fills the inner nodes of `nodes` (all of them in slot order, leaves given) as the launches do it, and adds
// one to writes[slot] for every write.
void emulateBuild(const OiLayout& layout, std::span<const BuildLaunch> launches, std::span<Box3f> nodes,
                  std::span<uint32_t> writes, RandomStream& random);

}  // namespace sunder::published
