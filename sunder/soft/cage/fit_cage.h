// Moves the vertices on the outside of a cage towards the surface within it, so that less of the cage is
// empty.
//
// A move is made only if what it takes away from the cage holds nothing of the surface, the free space stays
// and no tetrahedron gets worse than kLeastQuality, or than it was. Vertices are taken one by one, by number,
// in a few rounds: deterministic.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/soft/cage/clip_triangle.h"
#include "sunder/soft/cage/solid.h"

#include <cstdint>

namespace sunder::soft {

// Mean ratio (Liu and Joe 1994): 1 of a regular tetrahedron, 0 of a flat one.
double meanRatio(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);
inline constexpr double kLeastQuality = 0.45;

// Returns how many vertices moved.
uint32_t fitCage(const ClipSurface& surface, const Solid& solid, double margin, geometry::TetMesh& cage);

}  // namespace sunder::soft
