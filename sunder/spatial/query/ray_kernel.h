// The traversal of ray_queries.h in vector form. Private to the room.
#pragma once

#include "sunder/spatial/query/query_blocks.h"

#include <cstdint>

namespace sunder::spatial::kernels {

// A ray as the kernel sees it: the direction scaled by a power of two so that its largest coordinate is in
// [1, 2), distances along it in that unit.
struct ScaledRay {
  double origin[3];
  double direction[3];
  double tMin, tMax;
};

// Tests one triangle exactly; returns the tMax to go on with, or a negative number to stop.
struct RaySink {
  virtual double leaf(uint32_t leaf) = 0;

 protected:
  ~RaySink() = default;
};

void traverseRay(const QueryView& view, const ScaledRay& ray, RaySink& sink);

}  // namespace sunder::spatial::kernels
