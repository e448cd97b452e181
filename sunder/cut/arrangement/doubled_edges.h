// A surface can have two edges with the same two ends: the lids of a sheet that ends inside a solid share the
// vertices along the sheet's border, and so the ends of edges between such vertices; a face that passes
// between two such lids has two segments of the seam with the same ends; triangles of faces without area can
// have diagonals in common. A list of corners cannot tell such edges apart, they look like
// one edge with four faces. Each gets a vertex in its middle, in the same place, so that lids stay alike.
//
// O(corners) where no vertices are suspect, and a sort of the edges between suspect ones.
#pragma once

#include "sunder/cut/arrangement/seam.h"
#include "sunder/cut/kernel/types.h"

namespace sunder::cut {

struct FaceOrigin {
  std::vector<uint8_t> use;     // which use of a mesh a face is of: edges pair within one where they can
  std::vector<uint32_t> piece;  // the ring that it is a triangle of, before all others; faces that cannot
                                // have doubled edges have kNoIndex
};

// Pairs of seam points that more than one segment joins, ascending, the lower point first.
using SeamEdges = std::vector<std::array<uint32_t, 2>>;
SeamEdges doubledSegments(const Seam& seam);

// `suspect` has a flag for every vertex. With `triangles` faces stay triangles. True when edges were split;
// triangles folded onto each other can then have new ones with the same ends, and it takes another call.
bool splitDoubledEdges(const SeamEdges& doubled, FaceOrigin& origin, std::vector<uint8_t>& suspect,
                       bool triangles, CutResult& result);

}  // namespace sunder::cut
