#include "sunder/base/radix_sort.h"

#include "sunder/base/radix_passes.h"
#include "sunder/base/radix_ties.h"

#include <cassert>

namespace sunder {

namespace {

using namespace radix;

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
  if (range.count == 0) return items;
  const Passes passes = planPasses(n, range), topPasses = planPasses(n, topBits(range));
  const size_t tables = std::max(countBytes(n, passes), countBytes(n, topPasses));
  std::byte* memory = scratch.reserve(tables + n * sizeof(Item));
  auto* counts = reinterpret_cast<uint32_t*>(memory);
  Item* a = items.data();
  Item* b = reinterpret_cast<Item*>(memory + tables);
  if (isLong(range)) {
    Item* result = sortItems(source, n, b, a, topPasses, counts);
    if (result == b) std::swap(a, b);
    const BitRange top = topBits(range);
    const bool done = sortTies(
        a, n, [&](Item item) { return bitsOf(item, top); }, [&](Item item) { return bitsOf(item, range); });
    if (done) return {a, n};
    // Too many ties. Their order so far is the stable one, so the plain sort may go on from it.
  }
  Item* result = sortItems(Items<Item>{a}, n, b, a, passes, counts);
  return {result ? result : a, n};
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

// Pairs with long keys: words of the keys' top bits and the index are sorted, ties looked up, and only then
// are keys and payloads fetched, once, instead of being moved in every pass. False when there are too many
// ties for this to pay.
template <class Payload, class Write>
bool sortLongPairs(std::span<const uint64_t> keys, Payload payload, const BitRange& range,
                   RadixScratch& scratch, Write write) {
  const size_t n = keys.size();
  const BitRange top = topBits(range);
  const Passes passes = planPasses(n, {0, top.count});
  const size_t tables = countBytes(n, passes), buffer = padded(n * sizeof(uint64_t));
  std::byte* memory = scratch.reserve(tables + 2 * buffer);
  auto* a = reinterpret_cast<uint64_t*>(memory + tables);
  auto* b = reinterpret_cast<uint64_t*>(memory + tables + buffer);
  uint64_t* words =
      sortItems(TopWords{keys.data(), top}, n, a, b, passes, reinterpret_cast<uint32_t*>(memory));
  if (!words) return false;
  auto keyOfWord = [&](uint64_t word) { return bitsOf(keys[word >> 32], range); };
  if (!sortTies(
          words, n, [](uint64_t word) { return static_cast<uint32_t>(word); }, keyOfWord))
    return false;

  // The output may be the input, so everything is fetched before anything is written.
  uint64_t* fetchedKeys = words == a ? b : a;
  const size_t grain = shareOut(n).size;
  parallelBlocks(n, grain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const size_t from = words[i] >> 32;
      if constexpr (!std::is_same_v<Payload, Iota>) fetchedKeys[i] = keys[from];
      words[i] = payload[from];
    }
  });
  parallelBlocks(n, grain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) write(i, fetchedKeys[i], static_cast<uint32_t>(words[i]));
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
  if (isLong(range) && sortLongPairs(keys, payload, range, scratch, write)) return true;
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
