// Which results of tetrahedra add up to what: to the forces of each vertex and to each block of the matrix.
// Blocks are filled in chunks of tetrahedra, so that the work space for their parts stays in the caches and
// does not grow with the mesh; in a chunk, blocks are filled independently of each other, and the order of a
// block's sum is fixed. Private to the room.
#pragma once

#include "sunder/fem/solid/element_batch.h"
#include "sunder/fem/sparse_pattern.h"
#include "sunder/geometry/rows.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::fem {

// The blocks of 1024 tetrahedra fit the second cache; chunks of four times as many were half as fast.
inline constexpr size_t kChunkBatches = 128;

struct GatherTables {
  // Of each vertex: 4 * place + corner, by ascending tetrahedron.
  geometry::Rows stars;

  struct Chunk {
    uint32_t firstBatch, lastBatch, firstEntry, lastEntry;
  };
  std::vector<Chunk> chunks;
  // Entry e adds codes[starts[e]] to codes[starts[e + 1]] to block slots[e]. A code is
  // 16 * (place - the chunk's first) + 4 * corner of the row + corner of the column.
  std::vector<uint32_t> slots, starts, codes;

  // `place` of every tetrahedron, `ranks` the place of each of its corners among them in ascending order, two
  // bits each.
  void build(const SparsePattern& pattern, std::span<const uint32_t> place, std::span<const uint8_t> ranks,
             size_t batches);
};

}  // namespace sunder::fem
