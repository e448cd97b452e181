// Stable sorts of integer keys, least significant digit first (Knuth, TAOCP 3, 5.2.5), in parallel as in
// Satish, Harris and Garland 2009: every block counts its digits, a prefix sum over (digit, block) gives each
// block its own places to write to. A stable order is unique, so the bytes are the same for any number of
// threads.
//
// Only the low `significantBits` of a key take part: 30-bit Morton codes take three passes of 10 bits. Digits
// that all keys share cost nothing. A 32-bit key travels with its payload as one 64-bit word, so that a pass
// makes one store per element. Long keys are sorted by their top 30 differing bits; what still ties, if
// little, is sorted by comparison.
//
// Cost on one Zen 3 core: about 5 ns per (30-bit key, payload) pair up to a million pairs, 7.5 ns for ten
// million; memory for one or two more copies of the data, kept in the RadixScratch for the next call. The
// first use of fresh memory can cost as much as the sort: keep the scratch where sorts repeat. At most 2^32-1
// elements (Error Limit).
#pragma once

#include "sunder/base/array/reusable_array.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sunder {

using RadixScratch = ReusableArray<std::byte>;  // one sort at a time: two threads need two

// Keys alone.
void radixSort(std::span<uint32_t> keys, RadixScratch& scratch, unsigned significantBits = 32);
void radixSort(std::span<uint64_t> keys, RadixScratch& scratch, unsigned significantBits = 64);

// Keys with a payload that moves along; both spans have the same size.
void radixSortPairs(std::span<uint32_t> keys, std::span<uint32_t> payload, RadixScratch& scratch,
                    unsigned significantBits = 32);
void radixSortPairs(std::span<uint64_t> keys, std::span<uint32_t> payload, RadixScratch& scratch,
                    unsigned significantBits = 64);

// The order that sorts the keys: keys[permutation[0]] <= keys[permutation[1]] <= ..., equal keys by index.
void radixSortPermutation(std::span<const uint32_t> keys, std::span<uint32_t> permutation,
                          RadixScratch& scratch, unsigned significantBits = 32);
void radixSortPermutation(std::span<const uint64_t> keys, std::span<uint32_t> permutation,
                          RadixScratch& scratch, unsigned significantBits = 64);

// For callers that build 64-bit words (key and payload in one) themselves: sorts by bits [lowBit, lowBit +
// bits) and saves packing and unpacking. The result is either in `words` or in the scratch memory, whichever
// the last pass wrote to: use the returned span, before the next use of the scratch.
std::span<uint64_t> radixSortWords(std::span<uint64_t> words, unsigned lowBit, unsigned bits,
                                   RadixScratch& scratch);

}  // namespace sunder
