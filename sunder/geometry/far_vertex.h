// Vertices that lie absurdly far from the rest, most often a number that was damaged: sizes taken from the
// box around such a mesh (a thousandth of its diagonal, a hundredth of its longest side) are larger than all
// else in it.
#pragma once

#include "sunder/base/math.h"

#include <optional>
#include <span>
#include <string>

namespace sunder::geometry {

struct FarVertex {
  size_t vertex = 0;   // the farthest
  double extent = 0;   // diagonal of the box around all vertices
  double typical = 0;  // diagonal of the box around the middle nine tenths, axis by axis

  // "vertex 52 makes the mesh 1e+30 m large, while nine tenths of it lie within 1.7 m"
  std::string text() const;
};

inline constexpr double kFarRatio = 1e6;

// The farthest vertex where `extent` is more than kFarRatio times `typical`; nothing where it is not, and for
// fewer than 20 vertices. Cost: O(vertices).
std::optional<FarVertex> farVertex(std::span<const Vec3> positions);

}  // namespace sunder::geometry
