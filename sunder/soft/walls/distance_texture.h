// Distances to a surface on a grid around it, for a texture in space: what is inside at any wall is read at
// the place at rest of each of its points, whatever the walls are (rough ones too). Linear between the grid's
// points the error is about a tenth of a cell where the surface is smooth; edges sharper than a cell are
// rounded.
#pragma once

#include "sunder/base/box.h"
#include "sunder/sdf/field.h"

#include <array>
#include <cstdint>
#include <vector>

namespace sunder::soft {

struct DistanceTexture {
  Vec3 first = Vec3::Zero();         // point 0
  double spacing = 0;                // m, in all directions
  std::array<uint32_t, 3> points{};  // along x, y, z
  std::vector<float> distances;      // m, negative inside; x fastest

  // Linear between the eight points around; the nearest point of the grid counts for points outside it.
  double at(const Vec3& point) const;
};

// `points` along the longest side of the box, 4 to 512; one cell of margin on every side. Throws Error
// (Usage).
DistanceTexture makeDistanceTexture(const sdf::Field& field, const Box3& box, uint32_t points = 64);

}  // namespace sunder::soft
