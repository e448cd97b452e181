// How far inside a surface the points of a grid lie: what solid textures that go by depth ask, and what
// limits how far walls may be displaced.
#pragma once

#include "sunder/record/body_meshes.h"

#include <array>
#include <cstdint>
#include <vector>

namespace sunder::show {

// 0 on the surface, 255 at `deepest`.
struct SoftDepths {
  std::array<uint32_t, 3> count{};
  Vec3f lower = Vec3f::Zero(), upper = Vec3f::Zero();  // of the first and the last point
  float deepest = 0;
  std::vector<uint8_t> shares;  // x fastest

  // Between the points of the grid, 0 to 1, linear; 0 without a grid. Outside as on the nearest side.
  float share(const Vec3f& place) const;
};

// Depths at rest below the outside of a surface in a cage, whose walls do not count. Cost: some tens of
// milliseconds.
SoftDepths depthsOf(const record::CagedSurface& caged);

}  // namespace sunder::show
