// One frame of a benchmark scene as trees and jobs, ready to be measured: positions are made, trees built,
// and the pairs of bodies found by a top-level tree.
#pragma once

#include "sunder/spatial/pairs/top_level.h"
#include "sunder/spatial/tree/batch_build.h"

#include "bench/published/benchmark_scenes.h"

#include <cstddef>
#include <span>
#include <vector>

namespace sunder::bench {

class SceneFrame {
 public:
  SceneFrame(published::SceneKind kind, const spatial::TreeSettings& settings);

  // Moves the bodies to a frame, builds the trees and finds the jobs.
  void show(uint32_t frame);
  // Moves the bodies only: trees stay as they are until build() or refit().
  void move(uint32_t frame);
  void build() { batch_.build(items_, settings_); }
  void refit() { batch_.refit(items_, settings_.margin); }
  void findJobs() { top_.update(world_); }

  // Among `samples` evenly spaced frames the one with most overlapping leaves. Leaves another frame shown.
  uint32_t frameOfMostPairs(uint32_t samples = 16);
  uint32_t sample(uint32_t index, uint32_t samples) const {
    return index * (scene_.frames - 1) / (samples - 1);
  }

  uint32_t frame() const { return frame_; }
  const published::BenchmarkScene& scene() const { return scene_; }
  std::span<const spatial::OiTree> trees() const { return trees_; }
  std::span<const spatial::BatchItem> items() const { return items_; }
  std::span<const spatial::TreePair> jobs() const { return top_.jobs(); }
  const spatial::TopLevel& top() const { return top_; }
  size_t treeBytes() const;
  size_t workBytes() const { return batch_.bytes(); }

 private:
  published::BenchmarkScene scene_;
  spatial::TreeSettings settings_;
  uint32_t frame_ = 0;
  std::vector<spatial::OiTree> trees_;
  std::vector<std::vector<Vec3>> positions_;
  std::vector<spatial::BatchItem> items_;
  std::vector<spatial::TopLevelBody> world_;
  spatial::BatchBuilder batch_;
  spatial::TopLevel top_;
};

}  // namespace sunder::bench
