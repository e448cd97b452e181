// Long keys for radix_sort.cpp: sorting by the top bits alone puts nearly everything into place, because n
// keys that are spread at all differ in little more than their top log2(n) bits. What still ties is sorted by
// comparison, run by run.
#pragma once

#include "sunder/base/radix_passes.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace sunder::radix {

inline constexpr unsigned kTopBits = 30;   // three passes
inline constexpr unsigned kLongBits = 40;  // from here on the saved passes pay for looking at ties
inline constexpr size_t kMostTies = 16;    // one in so many; with more, passes over all bits are cheaper
inline constexpr std::ptrdiff_t kShortRun = 16;

inline bool isLong(const BitRange& range) { return range.count >= kLongBits; }

inline BitRange topBits(const BitRange& range) {
  const unsigned count = std::min(range.count, kTopBits);
  return {range.low + range.count - count, count};
}

// Top bits of a key in the low half, its index in the high half.
struct TopWords {
  const uint64_t* keys;
  BitRange top;
  uint64_t key(size_t i) const { return bitsOf(keys[i], top); }
  uint64_t item(size_t i) const { return (uint64_t(i) << 32) | bitsOf(keys[i], top); }
};

template <class Item, class Key>
void sortRun(Item* begin, Item* end, Key key) {
  if (end - begin > kShortRun) {
    std::stable_sort(begin, end, [&](const Item& a, const Item& b) { return key(a) < key(b); });
    return;
  }
  for (Item* i = begin + 1; i < end; ++i) {
    const Item item = *i;
    const auto itemKey = key(item);
    Item* hole = i;
    for (; hole > begin && key(hole[-1]) > itemKey; --hole) *hole = hole[-1];
    *hole = item;
  }
}

// Items are in order of top(item); puts runs of equal ones in order of key(item), stably. Returns false, with
// nothing changed, when there are so many ties that another method is faster.
template <class Item, class Top, class Key>
bool sortTies(Item* items, size_t n, Top top, Key key) {
  const size_t grain = shareOut(n).size;
  const size_t blocks = (n + grain - 1) / grain;
  // A run belongs to the block it starts in: blocks then touch no item of each other.
  std::vector<size_t> firstStart(blocks + 1, n), ties(blocks, 0);
  parallelBlocks(n, grain, [&](size_t begin, size_t end) {
    size_t first = n, count = 0;
    for (size_t i = begin; i < end; ++i) {
      if (i > 0 && top(items[i]) == top(items[i - 1])) {
        ++count;
      } else if (first == n) {
        first = i;
      }
    }
    firstStart[begin / grain] = first;
    ties[begin / grain] = count;
  });
  const size_t total = std::accumulate(ties.begin(), ties.end(), size_t(0));
  if (total == 0) return true;
  if (total > n / kMostTies) return false;
  for (size_t block = blocks; block-- > 0;)
    firstStart[block] = std::min(firstStart[block], firstStart[block + 1]);
  parallelBlocks(n, grain, [&](size_t begin, size_t) {
    const size_t stop = firstStart[begin / grain + 1];
    for (size_t i = firstStart[begin / grain]; i < stop;) {
      size_t next = i + 1;
      while (next < stop && top(items[next]) == top(items[i])) ++next;
      if (next - i > 1) sortRun(items + i, items + next, key);
      i = next;
    }
  });
  return true;
}

}  // namespace sunder::radix
