#include "sunder/base/radix_sort.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <string>

#include <sys/mman.h>

namespace sunder {

namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kHugePage = size_t(1) << 21;
constexpr size_t kInsertionSize = 40;  // below, insertion sort beats counting
constexpr size_t kSmallSize = 3000;    // below, clearing and summing long count tables costs more than a pass
constexpr size_t kLargeSize = size_t(1)
                              << 20;  // above, more than 2^10 open places to write to overrun the caches
constexpr size_t kParallelBlock = size_t(1) << 14;  // smallest share of a thread that is worth waking it for
constexpr unsigned kMaxDigitBits = 11;
constexpr unsigned kMaxPasses = 8;
constexpr unsigned kTrustedBits = 30;  // with more, a look at which bits differ may save a pass

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

Passes planPasses(size_t n, const BitRange& range) {
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

BitRange common(BitRange a, BitRange b) {
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

size_t padded(size_t bytes) { return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine; }

void checkSize(size_t n) {
  if (n > std::numeric_limits<uint32_t>::max()) {
    throw Error(ErrorKind::Limit, "cannot sort " + std::to_string(n) + " elements, the limit is 4294967295");
  }
}

struct Shares {
  size_t count, size;
};

Shares shareOut(size_t n) {
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

size_t countBytes(size_t n, const Passes& passes) {
  const size_t shares = shareOut(n).count;
  return padded((shares == 1 ? passes.count : shares) * passes.digits() * sizeof(uint32_t));
}

uint64_t lowBits(uint64_t key, unsigned bits) { return bits >= 64 ? key : key & ((uint64_t(1) << bits) - 1); }

template <class Item>
std::span<Item> sortInPlace(std::span<Item> items, BitRange range, RadixScratch& scratch) {
  const size_t n = items.size();
  checkSize(n);
  if (n < 2 || range.count == 0) return items;
  if (n < kInsertionSize) {
    auto key = [&](Item item) { return lowBits(item >> range.low, range.count); };
    for (size_t i = 1; i < n; ++i) {
      const Item item = items[i];
      size_t hole = i;
      for (; hole > 0 && key(items[hole - 1]) > key(item); --hole) items[hole] = items[hole - 1];
      items[hole] = item;
    }
    return items;
  }
  const Items<Item> source{items.data()};
  if (range.count > kTrustedBits) range = common(range, differingBits(source, n));
  const Passes passes = planPasses(n, range);
  if (passes.count == 0) return items;
  const size_t tables = countBytes(n, passes);
  std::byte* memory = scratch.reserve(tables + n * sizeof(Item));
  Item* buffer = reinterpret_cast<Item*>(memory + tables);
  Item* result = sortItems(source, n, buffer, items.data(), passes, reinterpret_cast<uint32_t*>(memory));
  return {result ? result : items.data(), n};
}

template <class Item>
void sortKeys(std::span<Item> keys, RadixScratch& scratch, unsigned bits) {
  const std::span<Item> sorted = sortInPlace(keys, {0, bits}, scratch);
  if (sorted.data() == keys.data()) return;
  parallelBlocks(keys.size(), std::max(kParallelBlock, shareOut(keys.size()).size),
                 [&](size_t begin, size_t end) {
                   std::copy(sorted.begin() + static_cast<std::ptrdiff_t>(begin),
                             sorted.begin() + static_cast<std::ptrdiff_t>(end),
                             keys.begin() + static_cast<std::ptrdiff_t>(begin));
                 });
}

// Sorts keys with payloads; write(i, item) takes the result to where it belongs. Returns false, without
// writing, when everything was in order already.
template <class Item, class Source, class Write>
bool sortPairs(const Source& source, size_t n, const BitRange& range, RadixScratch& scratch, Write write) {
  const Passes passes = planPasses(n, range);
  if (passes.count == 0) return false;
  const size_t tables = countBytes(n, passes), buffer = padded(n * sizeof(Item));
  std::byte* memory = scratch.reserve(tables + 2 * buffer);
  Item* a = reinterpret_cast<Item*>(memory + tables);
  Item* b = reinterpret_cast<Item*>(memory + tables + buffer);
  const Item* sorted = sortItems(source, n, a, b, passes, reinterpret_cast<uint32_t*>(memory));
  if (!sorted) return false;
  parallelBlocks(n, shareOut(n).size, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) write(i, sorted[i]);
  });
  return true;
}

// write(i, key, payload) receives the sorted pairs.
template <class Payload, class Write>
bool sortAnyPairs(std::span<const uint32_t> keys, Payload payload, unsigned bits, RadixScratch& scratch,
                  Write write) {
  const Words<uint32_t, Payload> words{keys.data(), payload, 0};
  BitRange range{0, bits};
  if (bits > kTrustedBits) range = common(range, differingBits(words, keys.size()));
  return sortPairs<uint64_t>(words, keys.size(), range, scratch, [&](size_t i, uint64_t word) {
    write(i, static_cast<uint32_t>(word), static_cast<uint32_t>(word >> 32));
  });
}

template <class Payload, class Write>
bool sortAnyPairs(std::span<const uint64_t> keys, Payload payload, unsigned bits, RadixScratch& scratch,
                  Write write) {
  const LongPairs<Payload> pairs{keys.data(), payload};
  const BitRange differing = differingBits(pairs, keys.size());
  const BitRange range = common({0, bits}, differing);
  if (differing.count > 32) {
    return sortPairs<KeyAndPayload>(
        pairs, keys.size(), range, scratch,
        [&](size_t i, const KeyAndPayload& item) { write(i, item.key, item.payload); });
  }
  if (range.count == 0) return false;
  // Few bits differ: the others are put back at the end.
  const uint64_t window = uint64_t(0xffffffffu) << differing.low;
  const uint64_t others = keys[0] & ~window;
  const Words<uint64_t, Payload> words{keys.data(), payload, differing.low};
  return sortPairs<uint64_t>(
      words, keys.size(), {range.low - differing.low, range.count}, scratch, [&](size_t i, uint64_t word) {
        write(i, others | ((word & 0xffffffffu) << differing.low), static_cast<uint32_t>(word >> 32));
      });
}

template <class Key>
void sortKeysAndPayload(std::span<Key> keys, std::span<uint32_t> payload, RadixScratch& scratch,
                        unsigned bits) {
  assert(keys.size() == payload.size());
  checkSize(keys.size());
  if (keys.size() >= kInsertionSize) {
    sortAnyPairs(std::span<const Key>(keys), payload.data(), bits, scratch,
                 [&](size_t i, Key key, uint32_t load) {
                   keys[i] = key;
                   payload[i] = load;
                 });
    return;
  }
  for (size_t i = 1; i < keys.size(); ++i) {
    const Key key = keys[i];
    const uint32_t load = payload[i];
    size_t hole = i;
    for (; hole > 0 && lowBits(keys[hole - 1], bits) > lowBits(key, bits); --hole) {
      keys[hole] = keys[hole - 1];
      payload[hole] = payload[hole - 1];
    }
    keys[hole] = key;
    payload[hole] = load;
  }
}

template <class Key>
void sortPermutation(std::span<const Key> keys, std::span<uint32_t> order, RadixScratch& scratch,
                     unsigned bits) {
  assert(keys.size() == order.size());
  const size_t n = keys.size();
  checkSize(n);
  const bool small = n < kInsertionSize;
  if (!small &&
      sortAnyPairs(keys, Iota{}, bits, scratch, [&](size_t i, Key, uint32_t load) { order[i] = load; }))
    return;
  for (size_t i = 0; i < n; ++i) order[i] = static_cast<uint32_t>(i);
  if (!small) return;
  for (size_t i = 1; i < n; ++i) {
    size_t hole = i;
    for (; hole > 0 && lowBits(keys[order[hole - 1]], bits) > lowBits(keys[i], bits); --hole)
      order[hole] = order[hole - 1];
    order[hole] = static_cast<uint32_t>(i);
  }
}

}  // namespace

std::byte* RadixScratch::reserve(size_t bytes) {
  if (bytes > size_) {
    memory_.reset();
    size_ = 0;
    const bool large = bytes >= 2 * kHugePage;
    const size_t unit = large ? kHugePage : kCacheLine;
    const size_t rounded = (bytes + unit - 1) / unit * unit;
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(unit, rounded)));
    if (!memory_) throw std::bad_alloc();
    // Scattered writes over 4 KiB pages miss the address cache; a refusal only costs time.
    if (large) ::madvise(memory_.get(), rounded, MADV_HUGEPAGE);
    size_ = rounded;
  }
  return memory_.get();
}

void RadixScratch::Free::operator()(std::byte* memory) const { std::free(memory); }

void radixSort(std::span<uint32_t> keys, RadixScratch& scratch, unsigned significantBits) {
  sortKeys(keys, scratch, std::min(significantBits, 32u));
}
void radixSort(std::span<uint64_t> keys, RadixScratch& scratch, unsigned significantBits) {
  sortKeys(keys, scratch, std::min(significantBits, 64u));
}

void radixSortPairs(std::span<uint32_t> keys, std::span<uint32_t> payload, RadixScratch& scratch,
                    unsigned significantBits) {
  sortKeysAndPayload(keys, payload, scratch, std::min(significantBits, 32u));
}
void radixSortPairs(std::span<uint64_t> keys, std::span<uint32_t> payload, RadixScratch& scratch,
                    unsigned significantBits) {
  sortKeysAndPayload(keys, payload, scratch, std::min(significantBits, 64u));
}

void radixSortPermutation(std::span<const uint32_t> keys, std::span<uint32_t> permutation,
                          RadixScratch& scratch, unsigned significantBits) {
  sortPermutation(keys, permutation, scratch, std::min(significantBits, 32u));
}
void radixSortPermutation(std::span<const uint64_t> keys, std::span<uint32_t> permutation,
                          RadixScratch& scratch, unsigned significantBits) {
  sortPermutation(keys, permutation, scratch, std::min(significantBits, 64u));
}

std::span<uint64_t> radixSortWords(std::span<uint64_t> words, unsigned lowBit, unsigned bits,
                                   RadixScratch& scratch) {
  assert(lowBit < 64 && lowBit + bits <= 64);
  return sortInPlace(words, {lowBit, bits}, scratch);
}

}  // namespace sunder
