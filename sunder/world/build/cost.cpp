#include "sunder/world/build/cost.h"

#include "sunder/base/error.h"
#include "sunder/base/memory_limit.h"
#include "sunder/world/build/cost_parts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>

namespace sunder::world {

namespace {

constexpr double kProcessSeconds = 0.01;                            // before it has a scene
constexpr double kCheckpointBody = 2500, kCheckpointParticle = 60;  // bytes of a checkpoint
constexpr double kLeastOfRecording = 0.1;  // of the most: what is left of frames when they are compressed
constexpr double kMostScale = 1e24;        // numbers of a scene reach to 1e30

// With all items but those that have a lever at `pointer`; an empty one leaves out none.
double memoryWithout(const Cost& cost, const std::string& pointer) {
  double kept = kProcessBytes, passing = 0;
  for (const CostItem& item : cost.items) {
    const auto hasIt = [&](const CostLever& lever) { return lever.pointer == pointer; };
    if (std::any_of(item.levers.begin(), item.levers.end(), hasIt)) continue;
    kept += item.kept;
    passing = std::max(passing, item.passing);
  }
  return kept + passing;
}

// Of a kind that every estimate has once.
const CostItem& itemOf(const Cost& cost, CostItem::Kind kind) {
  return *std::find_if(cost.items.begin(), cost.items.end(),
                       [kind](const CostItem& item) { return item.kind == kind; });
}

// Bodies in one place, which the memory would have room for.
[[noreturn]] void refuseCrowd(const Scene& scene, const Cost& cost) {
  const CostItem& pairs = itemOf(cost, CostItem::Kind::Pairs);
  const CostLever* lever = pairs.levers.empty() ? nullptr : &pairs.levers.front();
  std::string better;
  if (lever && lever->bytes) {
    double scale = 1.01;
    while (scale < kMostScale && !std::isfinite(lever->bytes(scale))) scale *= 1.01;
    better = lever->value(scale);
  }
  throw scene.document
      .error(lever ? lever->pointer : "",
             fmt::format("{}{}: the {} bodies overlap {:.0f} others each",
                         lever ? lever->value(1) + " makes " : "", pairs.what, cost.dynamicBodies,
                         2 * pairs.count / double(cost.dynamicBodies)),
             ErrorKind::Limit)
      .hint(lever && lever->bytes ? better + " would keep them apart"
                                  : "move them apart, or give those that may overlap the same \"group\"");
}

}  // namespace

Cost estimateCost(const Scene& scene, uint64_t memory) {
  return estimateCost(scene, sizesOfShapes(scene, memory), memory);
}

Cost estimateCost(const Scene& scene, std::span<const ShapeSize> sizes, uint64_t memory) {
  Cost cost;
  addShapeCost(scene, sizes, cost);
  addBodyCost(scene, sizes, memory, cost);
  addFractureCost(scene, sizes, cost);
  addSoftCost(scene, sizes, cost);
  addFluidCost(scene, sizes, cost);
  for (const PartBlock& block : scene.parts) {
    CostItem item;
    item.what = fmt::format("the block \"{}\"", block.key);
    item.count = 1;
    item.kept = block.bytes;
    cost.items.push_back(std::move(item));
  }
  cost.memoryBroken = cost.memoryBytes = cost.memoryUnbroken = memoryWithout(cost, "");
  for (const CostItem& item : cost.items) {
    cost.memoryBytes -= item.unlikely;
    cost.memoryUnbroken -= item.byBreaking;
  }
  cost.buildSeconds = kProcessSeconds;
  for (const CostItem& item : cost.items) cost.buildSeconds += item.buildSeconds;
  for (const ShapeSize& size : sizes) cost.recordingBytes += 36 * size.triangles;
  const double checkpoints =
      2 + double(scene.world.frames) / double(std::max<uint64_t>(scene.recording.checkpointFrames, 1));
  cost.recordingBytes += checkpoints * (kCheckpointBody * double(cost.bodies) +
                                        kCheckpointParticle * (double(cost.particles) + cost.particlesLater));
  return cost;
}

void requireAffordable(const Scene& scene, const Cost& cost, uint64_t memory) {
  const auto impossible = std::find_if(cost.items.begin(), cost.items.end(),
                                       [](const CostItem& item) { return !item.impossible.empty(); });
  if (cost.memoryBroken <= double(memory) && impossible == cost.items.end()) {
    if (cost.crowded) refuseCrowd(scene, cost);
    return;
  }
  std::map<std::string, Blame> byPointer;
  for (const CostItem& item : cost.items)
    for (const CostLever& lever : item.levers) {
      Blame& blame = byPointer[lever.pointer];
      blame.pointer = lever.pointer;
      blame.levers.push_back(&lever);
    }
  std::vector<Blame> blames;
  for (auto& [pointer, blame] : byPointer) {
    blame.besides = memoryWithout(cost, pointer);
    blames.push_back(std::move(blame));
  }
  // The largest item decides; of its levers the first comes first.
  const auto largest =
      impossible != cost.items.end()
          ? impossible
          : std::max_element(cost.items.begin(), cost.items.end(), [](const CostItem& a, const CostItem& b) {
              return a.kept + a.passing < b.kept + b.passing;
            });
  const auto rank = [&](const Blame& blame) {
    for (size_t i = 0; i < largest->levers.size(); ++i)
      if (largest->levers[i].pointer == blame.pointer) return i;
    return largest->levers.size();
  };
  std::erase_if(blames, [&](const Blame& blame) { return rank(blame) == largest->levers.size(); });
  for (Blame& blame : blames) {
    blame.largest = &*largest;
    blame.named = &largest->levers[rank(blame)];
  }
  std::sort(blames.begin(), blames.end(), [&](const Blame& a, const Blame& b) { return rank(a) < rank(b); });
  if (blames.empty()) refuseItem(scene.document, *largest, cost.memoryBroken - largest->kept, memory);
  refuse(scene.document, std::move(blames), cost.memoryBroken, cost.memoryUnbroken, memory);
}

void requireDiskSpace(const Scene& scene, const Cost& cost, double freeBytes) {
  const double least = kLeastOfRecording * cost.recordingBytes;
  if (least <= freeBytes) return;
  const CostLever& lever = itemOf(cost, CostItem::Kind::Length).levers.front();
  throw scene.document
      .error(lever.pointer,
             fmt::format("{} makes a recording of at least {}, and the disk has {}", lever.value(1),
                         bytesWords(least), bytesWords(freeBytes)),
             ErrorKind::Limit)
      .hint(fmt::format("{} would fit", lever.value(1.5 * least / std::max(freeBytes, 1.0))));
}

}  // namespace sunder::world
