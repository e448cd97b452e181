// Lists of lists in two arrays ("compressed rows"), and the ways to make them: count, prefix sum, write.
// Everything here is deterministic; items stay in the order they are given in.
#pragma once

#include "sunder/base/index.h"
#include "sunder/base/parallel.h"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sunder::geometry {

constexpr uint32_t u32(size_t value) { return static_cast<uint32_t>(value); }

// Row i holds items[offsets[i]] .. items[offsets[i+1]-1].
template <class T>
struct RowsOf {
  std::vector<uint32_t> offsets{0};
  std::vector<T> items;

  size_t size() const { return offsets.size() - 1; }
  std::span<const T> row(size_t i) const { return {items.data() + offsets[i], offsets[i + 1] - offsets[i]}; }
};
using Rows = RowsOf<uint32_t>;

// Turns n counts, followed by one more entry of any value, into n + 1 offsets. Returns the total.
inline uint32_t countsToOffsets(std::vector<uint32_t>& counts) {
  assert(!counts.empty());
  uint32_t sum = 0;
  for (uint32_t& c : counts) {
    const uint32_t count = c;
    c = sum;
    sum += count;
  }
  return counts.back();
}

// Elements 0 .. count-1 put into rows by keyOf(i) < keyCount; kNoIndex leaves an element out. Row k lists
// valueOf(i) by ascending i. Two passes over the elements, O(count + keyCount).
template <class T, class KeyOf, class ValueOf>
RowsOf<T> groupBy(size_t count, size_t keyCount, KeyOf&& keyOf, ValueOf&& valueOf) {
  RowsOf<T> rows;
  rows.offsets.assign(keyCount + 1, 0);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t key = keyOf(i);
    if (key != kNoIndex) ++rows.offsets[key];
  }
  rows.offsets.back() = 0;
  rows.items.resize(countsToOffsets(rows.offsets));
  std::vector<uint32_t> cursor(rows.offsets.begin(), rows.offsets.end() - 1);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t key = keyOf(i);
    if (key != kNoIndex) rows.items[cursor[key]++] = valueOf(i);
  }
  return rows;
}

// How many elements satisfy a predicate, and the first few of them.
struct Tally {
  static constexpr size_t kExamples = 8;
  size_t count = 0;
  std::vector<uint32_t> first;  // ascending, at most kExamples
};

template <class Predicate>
Tally tally(size_t count, Predicate&& predicate) {
  return parallelReduce(
      count, Tally{},
      [&](size_t begin, size_t end) {
        Tally t;
        for (size_t i = begin; i < end; ++i) {
          if (!predicate(i)) continue;
          if (t.count++ < Tally::kExamples) t.first.push_back(u32(i));
        }
        return t;
      },
      [](Tally a, const Tally& b) {
        a.count += b.count;
        for (uint32_t i : b.first) {
          if (a.first.size() < Tally::kExamples) a.first.push_back(i);
        }
        return a;
      });
}

}  // namespace sunder::geometry
