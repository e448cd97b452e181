// Boxes of the features of triangles side by side, and the test of all fifteen pairs of features of two
// triangles at once. Private to the room; mesh_ccd.h uses it. The same answer on every machine: comparisons
// only.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/spatial/pairs/overlap_pairs.h"
#include "sunder/spatial/tree/box_block.h"
#include "sunder/spatial/tree/oi_tree.h"

#include <cstddef>
#include <cstdint>

namespace sunder::spatial::kernels {

// Lanes of the block of a triangle: edges 0 to 2 (edge i from corner i to the next), corners 3 to 5, the face
// 6. Edges and corners that are not the triangle's own are empty boxes. `owned`: bits 0 to 2 its corners,
// bits 3 to 5 its edges.
void boxFeatures(const geometry::Triangle* triangles, const PaddedBox* vertexBoxes, const uint8_t* owned,
                 size_t begin, size_t end, BoxBlock* blocks);

// A triangle's vertices and one number more, to be loaded as a whole.
struct alignas(16) PaddedTriangle {
  uint32_t corner[4];
};

// patterns[i]: which corners of the triangles of pair i are the same vertex; bit 3 * j + k: corner j of the
// first is corner k of the second.
void equalCorners(const PaddedTriangle* triangles, const PrimitivePair* pairs, size_t count,
                  uint16_t* patterns);

// Bits of a pair of triangles (a, b).
inline constexpr uint32_t kFirstCornerOfA = 9, kFirstCornerOfB = 12;  // edges: bit 3 * edge of a + edge of b

// masks[i]: which features of pair i have boxes that overlap.
void overlappingFeatures(const BoxBlock* a, const BoxBlock* b, const PrimitivePair* pairs, size_t count,
                         uint16_t* masks);

}  // namespace sunder::spatial::kernels
