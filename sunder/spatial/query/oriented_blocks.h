// Oriented boxes of the inner nodes of a tree over triangles, eight side by side. On a smooth surface they
// hug their patch far better than boxes along the axes, their thickness shrinking with the square of the
// patch's size (Gottschalk, Lin and Manocha 1996, "OBBTree"), which is what a search for nearest points
// needs: it has to look into every node whose box comes nearer than the answer. Private to the room.
//
// Cost: 64 bytes a node, 9 bytes a triangle; O(n log n) to make, in parallel.
#pragma once

#include "sunder/base/array/large_pages.h"
#include "sunder/spatial/query/nearest_on_triangle.h"
#include "sunder/spatial/tree/oi_tree.h"

#include <cstdint>
#include <vector>

namespace sunder::spatial {

// Axes are of unit length and orthogonal up to 2^-21; a corner x of the node has |axis . (x - centre)| <=
// half for the floats as they are stored, up to rounding in double.
struct alignas(64) OrientedBlock {
  float centre[3][kBlockLanes];
  float axis[3][3][kBlockLanes];  // which, coordinate
  float half[3][kBlockLanes];
};
static_assert(sizeof(OrientedBlock) == 512);

struct OrientedTree {
  LargeVector<OrientedBlock> blocks;  // levels above the leaves, each starting with a block
  std::vector<uint32_t> firstBlock;   // by level
};

OrientedTree makeOrientedTree(const OiTree& tree, const PlainTriangle* triangles);

}  // namespace sunder::spatial
