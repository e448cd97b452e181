#include "sunder/fem/solid/gather_tables.h"

#include <algorithm>

namespace sunder::fem {

namespace {

uint32_t rankOf(uint8_t ranks, uint32_t corner) { return (ranks >> (2 * corner)) & 3; }

}  // namespace

void GatherTables::build(const SparsePattern& pattern, std::span<const uint32_t> place,
                         std::span<const uint8_t> ranks, size_t batches) {
  const size_t vertices = pattern.rows();
  stars.offsets.resize(vertices + 1);
  stars.offsets[0] = 0;
  stars.items.resize(4 * place.size());
  uint32_t written = 0;
  for (size_t v = 0; v < vertices; ++v) {
    for (const uint32_t entry : pattern.star(v))
      stars.items[written++] = 4 * place[entry / 4] + rankOf(ranks[entry / 4], entry % 4);
    stars.offsets[v + 1] = written;
  }

  const size_t chunkCount = (batches + kChunkBatches - 1) / kChunkBatches;
  constexpr uint32_t kPlaces = kChunkBatches * kBatchTets;
  // Counts, then cursors: of entries and of codes of each chunk. `last` is the slot a chunk met last.
  std::vector<uint32_t> entries(chunkCount + 1, 0), sums(chunkCount + 1, 0), last(chunkCount, kNoIndex);
  const auto slotCount = static_cast<uint32_t>(pattern.slots());
  for (uint32_t slot = 0; slot < slotCount; ++slot)
    for (const SparsePattern::Source source : pattern.sources(slot)) {
      const uint32_t chunk = place[source.tet()] / kPlaces;
      ++sums[chunk];
      if (last[chunk] != slot) last[chunk] = slot, ++entries[chunk];
    }
  geometry::countsToOffsets(entries);
  geometry::countsToOffsets(sums);
  chunks.resize(chunkCount);
  for (size_t c = 0; c < chunkCount; ++c)
    chunks[c] = {static_cast<uint32_t>(c * kChunkBatches),
                 static_cast<uint32_t>(std::min(batches, (c + 1) * kChunkBatches)), entries[c],
                 entries[c + 1]};
  slots.resize(entries.back());
  starts.resize(entries.back() + 1);
  starts.back() = sums.back();
  codes.resize(sums.back());
  last.assign(chunkCount, kNoIndex);
  for (uint32_t slot = 0; slot < slotCount; ++slot)
    for (const SparsePattern::Source source : pattern.sources(slot)) {
      const uint32_t t = source.tet(), chunk = place[t] / kPlaces;
      if (last[chunk] != slot) {
        last[chunk] = slot;
        slots[entries[chunk]] = slot;
        starts[entries[chunk]++] = sums[chunk];
      }
      codes[sums[chunk]++] =
          16 * (place[t] % kPlaces) + 4 * rankOf(ranks[t], source.row()) + rankOf(ranks[t], source.column());
    }
}

}  // namespace sunder::fem
