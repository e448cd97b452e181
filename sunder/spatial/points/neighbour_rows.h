// Who is near whom, as compressed rows: one array of neighbours, and offsets that say where the row of each
// element begins. What point_grid.h, sphere_neighbours.h and radix_traversal.h return. An element is never in
// its own row, and whoever has a neighbour is a neighbour of it. Memory is kept for the next use.
//
// Offsets have 64 bits, since a million elements in one place make 10^12 neighbours; how many a search may
// return is bounded by its settings (Error Limit).
#pragma once

#include "sunder/base/array/reusable_array.h"
#include "sunder/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sunder::spatial {

inline constexpr uint64_t kMostNeighbours = 1'000'000'000;  // 4 GB of indices

class NeighbourRows {
 public:
  size_t size() const { return size_; }
  uint64_t total() const { return size_ == 0 ? 0 : offsets_.data()[size_]; }
  std::span<const uint64_t> offsets() const { return {offsets_.data(), size_ == 0 ? 0 : size_ + 1}; }
  std::span<const uint32_t> items() const { return {items_.data(), total()}; }
  std::span<const uint32_t> row(size_t i) const {
    const uint64_t* o = offsets_.data() + i;
    return {items_.data() + o[0], o[1] - o[0]};
  }
  size_t bytes() const { return counts_.bytes() + offsets_.bytes() + items_.bytes(); }

  // For searches: begin() gives the place for the lengths of all rows, allocate() makes offsets of them and
  // gives the place for the neighbours; it throws Error (Limit) before it allocates when there are more than
  // `most`.
  uint32_t* begin(size_t rows);
  uint32_t* allocate(uint64_t most);
  void clear() { size_ = 0; }

 private:
  size_t size_ = 0;
  ReusableArray<uint32_t> counts_;
  ReusableArray<uint64_t> offsets_;
  ReusableArray<uint32_t> items_;
};

[[noreturn]] void refuseNeighbours(const char* howMany, uint64_t needed, uint64_t most);

// Rows by one traversal: fill(slot, out) appends the neighbours of element order[slot] to `out`. Blocks of
// slots write to buffers of their own, which are then copied to where the rows belong. Each row is sorted.
template <class Fill>
void makeRows(NeighbourRows& rows, std::span<const uint32_t> order, uint64_t most, Fill&& fill) {
  constexpr size_t kGrain = 1024;
  rows.clear();
  std::vector<std::vector<uint32_t>> buffers((order.size() + kGrain - 1) / kGrain);
  uint32_t* counts = rows.begin(order.size());
  std::atomic<uint64_t> total{0};
  parallelBlocks(order.size(), kGrain, [&](size_t begin, size_t end) {
    std::vector<uint32_t>& out = buffers[begin / kGrain];
    for (size_t slot = begin; slot < end; ++slot) {
      const size_t before = out.size();
      fill(slot, out);
      std::sort(out.begin() + static_cast<std::ptrdiff_t>(before), out.end());
      const size_t count = out.size() - before;
      counts[order[slot]] = static_cast<uint32_t>(count);
      if (total.fetch_add(count, std::memory_order_relaxed) + count > most)
        refuseNeighbours("more than", most, most);
    }
  });
  uint32_t* items = rows.allocate(most);
  const std::span<const uint64_t> offsets = rows.offsets();
  parallelBlocks(order.size(), kGrain, [&](size_t begin, size_t end) {
    const uint32_t* from = buffers[begin / kGrain].data();
    for (size_t slot = begin; slot < end; ++slot) {
      const uint64_t to = offsets[order[slot]], count = offsets[order[slot] + 1] - to;
      std::copy_n(from, count, items + to);
      from += count;
    }
  });
}

}  // namespace sunder::spatial
