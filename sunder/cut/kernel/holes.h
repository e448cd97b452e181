// Which loop of a face a hole belongs to, and the bridge that joins the two. Both look at rounded positions
// in the plane, with exact turns (orient2d): whatever they choose, the result is connected in the same way
// along the seam, so rounding can misplace a bridge, never open a mesh.
//
// Bridges after Eberly 2002 ("Triangulation by ear clipping"): from the hole's rightmost corner to a visible
// corner of the loop. O(corners of the loop) a hole.
#pragma once

#include "sunder/base/math.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::cut {

// A corner of a loop: where it is, and what it stands for.
struct LoopCorner {
  Vec2 at;
  uint32_t tag;
};
using Loop = std::vector<LoopCorner>;

// Corners and middles of the edges of `hole` that are inside `loop` less those outside; on it counts nothing.
int64_t votesInside(const Loop& hole, const Loop& loop);

// Where a bridge leaves the loop and where it reaches the hole, as indices of corners.
struct Bridge {
  size_t loop, hole;
};
Bridge findBridge(const Loop& loop, const Loop& hole);

}  // namespace sunder::cut
