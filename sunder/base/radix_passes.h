// The machinery of radix_sort.cpp, for that file only: which digits to look at, counting them, moving items
// by them. Measurements behind the constants: bench/base_bench.cpp, on a Zen 3 core.
#pragma once

#include "sunder/base/array/large_pages.h"
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

namespace sunder::radix {

// Below, insertion sort beats counting.
inline constexpr size_t kInsertionSize = 40;
// Below, clearing and summing long tables of counts costs more than another pass.
inline constexpr size_t kSmallSize = 3000;
// Above, more than 2^10 open places to write to overrun the caches.
inline constexpr size_t kLargeSize = size_t(1) << 20;
// Smallest share that is worth waking a thread for.
inline constexpr size_t kParallelBlock = size_t(1) << 14;
inline constexpr unsigned kMaxDigitBits = 11;
inline constexpr unsigned kMaxPasses = 8;
// With more significant bits, a look at which of them differ may save a pass.
inline constexpr unsigned kTrustedBits = 30;

struct KeyAndPayload {  // for keys of more than 32 bits
  uint64_t key;
  uint32_t payload;
};

inline uint64_t keyOf(uint32_t item) { return item; }
inline uint64_t keyOf(uint64_t item) { return item; }
inline uint64_t keyOf(const KeyAndPayload& item) { return item.key; }

struct BitRange {
  unsigned low, count;
};

// Which bits each pass looks at.
struct Passes {
  unsigned count = 0;
  unsigned digitBits = 0;
  std::array<unsigned, kMaxPasses> shift{};

  size_t digits() const { return size_t(1) << digitBits; }
};

inline Passes planPasses(size_t n, const BitRange& range) {
  Passes passes;
  const unsigned bits = range.count;
  if (bits == 0) return passes;
  const unsigned widest = n < kSmallSize ? 8 : n < kLargeSize ? kMaxDigitBits : 10;
  passes.count = (bits + widest - 1) / widest;
  passes.digitBits = (bits + passes.count - 1) / passes.count;
  for (unsigned p = 0; p < passes.count; ++p) {
    // The last digit is moved down where it would stick out, so that it never reads foreign bits; sorting
    // twice by the same bits changes nothing.
    passes.shift[p] = range.low + std::min(p * passes.digitBits, bits - passes.digitBits);
  }
  return passes;
}

// From the lowest to the highest bit in which keys differ; passes over the others would move nothing.
template <class Source>
BitRange differingBits(const Source& source, size_t n) {
  const uint64_t first = source.key(0);
  const uint64_t differing = parallelReduce(
      n, uint64_t(0),
      [&](size_t begin, size_t end) {
        uint64_t block = 0;
        for (size_t i = begin; i < end; ++i) block |= source.key(i) ^ first;
        return block;
      },
      [](uint64_t a, uint64_t b) { return a | b; }, kParallelBlock);
  if (differing == 0) return {0, 0};
  const unsigned low = static_cast<unsigned>(std::countr_zero(differing));
  return {low, static_cast<unsigned>(std::bit_width(differing)) - low};
}

inline BitRange common(BitRange a, BitRange b) {
  const unsigned low = std::max(a.low, b.low), end = std::min(a.low + a.count, b.low + b.count);
  return end > low ? BitRange{low, end - low} : BitRange{0, 0};
}

template <unsigned kCount, class Source>
void countTogether(const Source& source, size_t begin, size_t end, const unsigned* shift, uint64_t mask,
                   uint32_t* counts) {
  const size_t digits = mask + 1;
  for (size_t i = begin; i < end; ++i) {
    const uint64_t key = source.key(i);
    for (unsigned p = 0; p < kCount; ++p) ++counts[p * digits + ((key >> shift[p]) & mask)];
  }
}

// Adds the digits of several passes to `counts` (one table after the other) in as few reads of the keys as
// pay.
template <class Source>
void countDigits(const Source& source, size_t begin, size_t end, const unsigned* shift, unsigned count,
                 uint64_t mask, uint32_t* counts) {
  while (count > 0) {
    const unsigned now = std::min(count, 4u);
    switch (now) {
      case 1:
        countTogether<1>(source, begin, end, shift, mask, counts);
        break;
      case 2:
        countTogether<2>(source, begin, end, shift, mask, counts);
        break;
      case 3:
        countTogether<3>(source, begin, end, shift, mask, counts);
        break;
      default:
        countTogether<4>(source, begin, end, shift, mask, counts);
        break;
    }
    shift += now;
    counts += now * (mask + 1);
    count -= now;
  }
}

// Moves [begin, end) to the places in `next`. Eight digits are computed before the first store: the processor
// then does not wait to learn whether a store hits the next load (measured: a fifth to a half faster than the
// plain loop).
template <class Source, class Item>
void scatter(const Source& source, size_t begin, size_t end, unsigned shift, uint64_t mask, uint32_t* next,
             Item* out) {
  constexpr size_t kAhead = 8;
  size_t i = begin;
  for (; i + kAhead <= end; i += kAhead) {
    std::array<Item, kAhead> items;
    std::array<uint32_t, kAhead> digit;
#pragma GCC unroll 8
    for (size_t k = 0; k < kAhead; ++k) {
      items[k] = source.item(i + k);
      digit[k] = static_cast<uint32_t>((keyOf(items[k]) >> shift) & mask);
    }
#pragma GCC unroll 8
    for (size_t k = 0; k < kAhead; ++k) out[next[digit[k]]++] = items[k];
  }
  for (; i < end; ++i) {
    const Item item = source.item(i);
    out[next[(keyOf(item) >> shift) & mask]++] = item;
  }
}

// Where the items of a sort come from in its first moving pass. Later passes read `Items`.
template <class Item>
struct Items {
  const Item* data;
  uint64_t key(size_t i) const { return keyOf(data[i]); }
  Item item(size_t i) const { return data[i]; }
};

struct Iota {
  uint32_t operator[](size_t i) const { return static_cast<uint32_t>(i); }
};

// Key and payload of two arrays as one word. The key's 32 bits from `low` on are the word's low half.
template <class Key, class Payload>
struct Words {
  const Key* keys;
  Payload payload;
  unsigned low;
  uint64_t key(size_t i) const { return keys[i] >> low; }
  uint64_t item(size_t i) const {
    return (uint64_t(payload[i]) << 32) | static_cast<uint32_t>(keys[i] >> low);
  }
};

template <class Payload>
struct LongPairs {
  const uint64_t* keys;
  Payload payload;
  uint64_t key(size_t i) const { return keys[i]; }
  KeyAndPayload item(size_t i) const { return {keys[i], payload[i]}; }
};

inline size_t padded(size_t bytes) { return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine; }

inline void checkSize(size_t n) {
  if (n > std::numeric_limits<uint32_t>::max()) {
    throw Error(ErrorKind::Limit, "cannot sort " + std::to_string(n) + " elements, the limit is 4294967295");
  }
}

struct Shares {
  size_t count, size;
};

inline Shares shareOut(size_t n) {
  const size_t count = std::clamp<size_t>(n / kParallelBlock, 1, threadCount());
  return {count, (n + count - 1) / count};
}

// The sort itself, from `source` by way of the buffers `a` and `b`. Returns the buffer with the result, or
// nullptr when the keys were in order as they stood (all digits constant).
template <class Source, class Item>
Item* sortItems(const Source& source, size_t n, Item* a, Item* b, const Passes& passes, uint32_t* counts) {
  const Shares shares = shareOut(n);
  const size_t digits = passes.digits();
  const uint64_t mask = digits - 1;
  // One share: its counts hold for every pass, whatever the order, so one read of the keys does for all.
  const bool countedAtOnce = shares.count == 1;
  if (countedAtOnce) {
    std::memset(counts, 0, passes.count * digits * sizeof(uint32_t));
    countDigits(source, 0, n, passes.shift.data(), passes.count, mask, counts);
  }
  Item* current = nullptr;
  for (unsigned p = 0; p < passes.count; ++p) {
    uint32_t* table = countedAtOnce ? counts + p * digits : counts;
    const unsigned shift = passes.shift[p];
    if (!countedAtOnce) {
      parallelBlocks(n, shares.size, [&](size_t begin, size_t end) {
        uint32_t* mine = table + begin / shares.size * digits;
        std::memset(mine, 0, digits * sizeof(uint32_t));
        if (current) {
          countDigits(Items<Item>{current}, begin, end, &shift, 1, mask, mine);
        } else {
          countDigits(source, begin, end, &shift, 1, mask, mine);
        }
      });
    }
    uint32_t sum = 0;
    bool constant = false;
    for (size_t d = 0; d < digits; ++d) {
      const uint32_t before = sum;
      for (size_t share = 0; share < shares.count; ++share) {
        const uint32_t count = table[share * digits + d];
        table[share * digits + d] = sum;
        sum += count;
      }
      constant |= sum - before == n;
    }
    if (constant) continue;
    Item* target = current == a ? b : a;
    parallelBlocks(n, shares.size, [&](size_t begin, size_t end) {
      uint32_t* mine = table + begin / shares.size * digits;
      if (current) {
        scatter(Items<Item>{current}, begin, end, shift, mask, mine, target);
      } else {
        scatter(source, begin, end, shift, mask, mine, target);
      }
    });
    current = target;
  }
  return current;
}

inline size_t countBytes(size_t n, const Passes& passes) {
  const size_t shares = shareOut(n).count;
  return padded((shares == 1 ? passes.count : shares) * passes.digits() * sizeof(uint32_t));
}

inline uint64_t lowBits(uint64_t key, unsigned bits) {
  return bits >= 64 ? key : key & ((uint64_t(1) << bits) - 1);
}

inline uint64_t bitsOf(uint64_t key, const BitRange& range) { return lowBits(key >> range.low, range.count); }

}  // namespace sunder::radix
