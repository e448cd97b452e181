// The inner loops of the tree build, in vector form, chosen for the machine at run time. Private to the room.
// All give the same bits on every machine: they are made of minima, maxima, comparisons and a fixed order of
// additions.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/spatial/tree/oi_tree.h"

#include <cstddef>
#include <cstdint>

namespace sunder::spatial::kernels {

// Boxes of moving points grown by a margin, rounded outwards to float, and the union of them all. `finish`
// may equal `start`. False when a coordinate is not finite as a float.
bool boxPoints(const Vec3* start, const Vec3* finish, size_t count, double margin, PaddedBox* out,
               PaddedBox& bounds);

// How box centres become Morton cells: cell = (lower + upper - twiceOrigin) * scale, per axis.
struct CodeScale {
  float twiceOrigin[4];
  float scale[4];
};
CodeScale codeScale(const PaddedBox& bounds, bool commonScale, unsigned bitsPerAxis);

// Boxes of triangles [begin, end) from the boxes of their corners, their union, and (code << 32 | triangle)
// words with 10 bits an axis.
void boxTriangles(const geometry::Triangle* triangles, const PaddedBox* vertexBoxes, size_t begin, size_t end,
                  const CodeScale& scale, PaddedBox* boxes, uint64_t* words, PaddedBox& bounds);

// The words alone, from boxes.
void codeBoxes(const PaddedBox* boxes, size_t begin, size_t end, const CodeScale& scale, uint64_t* words);

// Fills leaf blocks from boxes in primitive order: leaf i of [begin, end) is boxes[primitives[i]]. `begin` is
// a multiple of eight; lanes after `end` in the last block are cleared.
void gatherLeaves(const PaddedBox* boxes, const uint32_t* primitives, size_t begin, size_t end,
                  BoxBlock* blocks);

// The same, making each box from its triangle's corners.
void gatherTriangles(const geometry::Triangle* triangles, const PaddedBox* vertexBoxes,
                     const uint32_t* primitives, size_t begin, size_t end, BoxBlock* blocks);

// Parents [begin, end) as unions of their eight children: parent p's children are block p of `children`.
void mergeEight(const BoxBlock* children, size_t begin, size_t end, BoxBlock* parents);

// Parents [begin, end) as unions of two children: parents of block q have theirs in blocks 2q and 2q + 1 of
// `children`, the second of which may not exist. Whole blocks are written: `begin` is a multiple of eight,
// and `end` too unless the level ends there.
void mergeTwo(const BoxBlock* children, size_t childBlocks, size_t begin, size_t end, BoxBlock* parents);

}  // namespace sunder::spatial::kernels
