// Signed distances to the contour on a face, in texels, for masks that are read with linear filtering. Used
// by masks.h.
#pragma once

#include "sunder/soft/walls/masks.h"

namespace sunder::soft {

// Half a square of n texels an edge with a margin of one: columns u and rows v from -1 to n, u <= v + 1.
struct DistanceMask {
  uint32_t n = 0;
  std::vector<float> texels;  // n + 2 a row

  float& at(int64_t u, int64_t v) { return texels[static_cast<size_t>((v + 1) * (n + 2) + u + 1)]; }
  float at(int64_t u, int64_t v) const { return texels[static_cast<size_t>((v + 1) * (n + 2) + u + 1)]; }
  uint8_t byte(int64_t u, int64_t v) const;
};

inline constexpr float kMostTexels = 4;  // distances beyond are cut off

// `corners` of the face in space; `filled` says which texels are inside (masks.h). Texels beyond the face go
// on from those in it, in a straight line.
DistanceMask distanceMask(std::span<const ContourSegment> contour, const std::array<Vec3, 3>& corners,
                          uint32_t n, std::span<const uint8_t> filled);

}  // namespace sunder::soft
