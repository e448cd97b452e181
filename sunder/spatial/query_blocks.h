// What the kernels of the mesh queries read: the tree, the triangles by leaf in double, and blocks of eight
// triangles in float for the bounds. Private to the room.
//
// A block's floats are relative to an origin of its own near its triangles, so that their rounding errors are
// of the size of the block, not of the distance from the origin of the world.
#pragma once

#include "sunder/spatial/nearest_on_triangle.h"
#include "sunder/spatial/oi_tree.h"
#include "sunder/spatial/oriented_blocks.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace sunder::spatial {

struct alignas(64) TriangleBlock {
  float a[3][kBlockLanes];   // first corner minus origin
  float ab[3][kBlockLanes];  // second minus first
  float ac[3][kBlockLanes];  // third minus first
  double origin[3];
  float reach;  // no coordinate above is larger than half of this, sums of two not larger than this
};
static_assert(sizeof(TriangleBlock) == 320);

struct QueryView {
  const OiTree* tree;
  const PlainTriangle* triangles;
  const TriangleBlock* blocks;
  const OrientedTree* oriented;
  double scale;  // largest absolute coordinate of the mesh
};

struct NearestLeaf {
  double squared = std::numeric_limits<double>::infinity();
  uint32_t triangle = 0xffffffffu;
  uint32_t leaf = 0;
};

struct TriangleAtDistance;

namespace kernels {

// `result` may hold an answer to start from.
void nearestLeaf(const QueryView& view, D3 point, NearestLeaf& result);
void leavesWithin(const QueryView& view, D3 point, double distance, std::vector<TriangleAtDistance>& found);
// Ends sorted; found is replaced.
void nearestLeaves(const QueryView& view, D3 point, size_t k, std::vector<TriangleAtDistance>& found);

}  // namespace kernels

}  // namespace sunder::spatial
