// What the kernels of the mesh queries read: the tree, the triangles by leaf in double, and blocks of eight
// triangles in float for the bounds. Private to the room.
//
// A block's floats are relative to an origin of its own near its triangles, so that their rounding errors are
// of the size of the block, not of the distance from the origin of the world.
#pragma once

#include "sunder/spatial/query/nearest_on_triangle.h"
#include "sunder/spatial/query/oriented_blocks.h"
#include "sunder/spatial/tree/oi_tree.h"

#include <cstdint>
#include <limits>
#include <span>
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

// A disc that holds a block: centre and unit normal, no corner further than `half` from its plane nor than
// `radius` from its axis. A patch of surface is flat, so it bounds distances well.
struct BlockDisc {
  float centre[3], normal[3], half, radius;
};
static_assert(sizeof(BlockDisc) == 32);

struct QueryView {
  const OiTree* tree;
  const PlainTriangle* triangles;
  const TriangleBlock* blocks;
  const BlockDisc* discs;
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
// The blocks with triangles that may be within the distance, nearest first but for ties of whole subtrees;
// returns their number, or SIZE_MAX where they do not fit.
size_t blocksWithin(const QueryView& view, D3 point, double distance, std::span<uint32_t> blocks);
// The triangles of these blocks, 1 to 256 of them, that are nearest as float finds it: their distances may be
// some 1e-6 larger than the least.
void nearestAmong(const QueryView& view, std::span<const uint32_t> blocks, std::span<const D3> points,
                  NearestLeaf* results);
// Ends sorted; found is replaced.
void nearestLeaves(const QueryView& view, D3 point, size_t k, std::vector<TriangleAtDistance>& found);

}  // namespace kernels

}  // namespace sunder::spatial
