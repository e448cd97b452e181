#include "bench/scene_frame.h"

namespace sunder::bench {

using namespace spatial;
using namespace published;

SceneFrame::SceneFrame(SceneKind kind, const TreeSettings& settings)
    : scene_(makeBenchmarkScene(kind)),
      settings_(settings),
      trees_(scene_.bodies.size()),
      positions_(scene_.bodies.size()),
      world_(scene_.bodies.size()) {
  for (size_t b = 0; b < scene_.bodies.size(); ++b) {
    world_[b].tree = &trees_[b];
    world_[b].self = scene_.bodies[b].self;
  }
}

void SceneFrame::move(uint32_t frame) {
  frame_ = frame;
  items_.clear();
  for (size_t b = 0; b < scene_.bodies.size(); ++b) {
    scene_.positions(b, frame, positions_[b]);
    items_.push_back({&trees_[b], {positions_[b], scene_.bodies[b].triangles}});
  }
}

void SceneFrame::show(uint32_t frame) {
  move(frame);
  build();
  findJobs();
}

uint32_t SceneFrame::frameOfMostPairs(uint32_t samples) {
  SceneFrame wide(scene_.kind, {.margin = settings_.margin});
  PairList pairs;
  uint32_t best = 0;
  size_t most = 0;
  for (uint32_t i = 0; i < samples; ++i) {
    wide.show(sample(i, samples));
    overlapPairs(wide.jobs(), pairs);
    if (pairs.size() < most) continue;
    most = pairs.size();
    best = wide.frame();
  }
  return best;
}

size_t SceneFrame::treeBytes() const {
  size_t bytes = 0;
  for (const OiTree& tree : trees_) bytes += tree.bytes();
  return bytes;
}

}  // namespace sunder::bench
