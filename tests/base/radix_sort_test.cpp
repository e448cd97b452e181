#include "sunder/base/radix_sort.h"

#include "sunder/base/parallel.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sunder {

namespace {

enum class Kind {
  Random,
  FewDistinct,
  Sorted,
  Reversed,
  Constant,
  HighBitsOnly,
  MiddleBits,
  FewTies,
  ManyTies
};
constexpr Kind kKinds[] = {Kind::Random,     Kind::FewDistinct, Kind::Sorted,
                           Kind::Reversed,   Kind::Constant,    Kind::HighBitsOnly,
                           Kind::MiddleBits, Kind::FewTies,     Kind::ManyTies};

template <class Key>
std::vector<Key> makeKeys(size_t n, Kind kind) {
  std::mt19937_64 random(n + static_cast<size_t>(kind));
  constexpr unsigned kBits = 8 * sizeof(Key);
  std::vector<Key> keys(n);
  for (size_t i = 0; i < n; ++i) {
    const Key r = static_cast<Key>(random());
    switch (kind) {
      case Kind::Random:
        keys[i] = r;
        break;
      case Kind::FewDistinct:
        keys[i] = static_cast<Key>(r % 7) * 0x01010101u;
        break;
      case Kind::Sorted:
        keys[i] = static_cast<Key>(i * 3);
        break;
      case Kind::Reversed:
        keys[i] = static_cast<Key>((n - i) / 2);
        break;
      case Kind::Constant:
        keys[i] = 0xdeadbeefu;
        break;
      case Kind::HighBitsOnly:
        keys[i] = static_cast<Key>(r << (kBits - 5));
        break;
      case Kind::MiddleBits:
        keys[i] = static_cast<Key>(Key(0x80000001u) | ((r & 0xfffffu) << (kBits / 2 - 10)));
        break;
      // Equal top bits that only the low ones tell apart: here and there, or nearly everywhere.
      case Kind::FewTies:
        keys[i] = static_cast<Key>(i % 50 == 0 ? r % 30 : r);
        break;
      case Kind::ManyTies:
        keys[i] = static_cast<Key>(((r % 9) << (kBits - 5)) | (r >> 20));
        break;
    }
  }
  return keys;
}

template <class Key>
Key lowBits(Key key, unsigned bits) {
  return bits >= 8 * sizeof(Key) ? key : static_cast<Key>(key & ((Key(1) << bits) - 1));
}

// All forms of the sort against std::stable_sort.
template <class Key>
void checkAll(size_t n, Kind kind, unsigned bits, RadixScratch& scratch) {
  const std::vector<Key> keys = makeKeys<Key>(n, kind);
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return lowBits(keys[a], bits) < lowBits(keys[b], bits); });
  std::vector<Key> sortedKeys(n);
  for (size_t i = 0; i < n; ++i) sortedKeys[i] = keys[order[i]];
  SCOPED_TRACE("n " + std::to_string(n) + " kind " + std::to_string(static_cast<int>(kind)) + " bits " +
               std::to_string(bits));

  std::vector<Key> alone = keys;
  radixSort(std::span(alone), scratch, bits);
  ASSERT_EQ(alone, sortedKeys);

  std::vector<Key> withPayload = keys;
  std::vector<uint32_t> payload(n), expectedPayload(n);
  for (size_t i = 0; i < n; ++i) payload[i] = static_cast<uint32_t>(i * 2654435761u);
  for (size_t i = 0; i < n; ++i) expectedPayload[i] = payload[order[i]];
  radixSortPairs(std::span(withPayload), std::span(payload), scratch, bits);
  ASSERT_EQ(withPayload, sortedKeys);
  ASSERT_EQ(payload, expectedPayload);

  std::vector<uint32_t> permutation(n, 77);
  radixSortPermutation(std::span<const Key>(keys), std::span(permutation), scratch, bits);
  ASSERT_EQ(permutation, order);
}

}  // namespace

void checkForEveryKindAndThreadCount(std::initializer_list<size_t> sizes) {
  RadixScratch scratch;
  for (unsigned threads : {1u, 2u, 4u}) {
    ThreadLimit limit(threads);
    for (size_t n : sizes) {
      for (Kind kind : kKinds) {
        checkAll<uint32_t>(n, kind, 32, scratch);
        checkAll<uint64_t>(n, kind, 64, scratch);
      }
    }
  }
}
TEST(RadixSort, MatchesStableSortForEverySizeKindAndThreadCount) {
  checkForEveryKindAndThreadCount({0, 1, 2, 5, 39, 40, 41, 255, 2'999, 3'000, 20'000, 32'768, 70'001});
}
TEST(RadixSort, MatchesStableSortForFewKeys) {
  checkForEveryKindAndThreadCount({0, 1, 2, 5, 39, 40, 41, 255, 2'999, 3'000});
}

TEST(RadixSort, OnlySignificantBitsCount) {
  RadixScratch scratch;
  for (unsigned threads : {1u, 3u}) {
    ThreadLimit limit(threads);
    for (size_t n : {30u, 1'000u, 50'000u}) {
      for (unsigned bits : {0u, 1u, 7u, 10u, 11u, 12u, 22u, 23u, 29u, 30u, 31u}) {
        checkAll<uint32_t>(n, Kind::Random, bits, scratch);
        checkAll<uint64_t>(n, Kind::Random, bits, scratch);
      }
      for (unsigned bits : {32u, 33u, 47u, 60u, 63u}) {
        checkAll<uint64_t>(n, Kind::Random, bits, scratch);
        checkAll<uint64_t>(n, Kind::MiddleBits, bits, scratch);
      }
    }
  }
}

TEST(RadixSort, WordsSortByTheirBitRange) {
  RadixScratch scratch;
  for (unsigned threads : {1u, 4u}) {
    ThreadLimit limit(threads);
    for (size_t n : {10u, 500u, 100'000u}) {
      for (auto [low, bits] : {std::pair{32u, 30u}, {0u, 20u}, {5u, 11u}, {0u, 64u}, {63u, 1u}, {10u, 0u}}) {
        std::vector<uint64_t> words = makeKeys<uint64_t>(n, Kind::Random), expected = words;
        auto key = [low = low, bits = bits](uint64_t w) { return lowBits(w >> low, bits); };
        std::stable_sort(expected.begin(), expected.end(),
                         [&](uint64_t a, uint64_t b) { return key(a) < key(b); });
        const std::span<uint64_t> sorted = radixSortWords(words, low, bits, scratch);
        ASSERT_TRUE(std::equal(sorted.begin(), sorted.end(), expected.begin(), expected.end()));
      }
    }
  }
}

TEST(RadixSort, ScratchIsKept) {
  RadixScratch scratch;
  std::vector<uint32_t> keys = makeKeys<uint32_t>(100'000, Kind::Random);
  radixSort(std::span(keys), scratch);
  const size_t bytes = scratch.bytes();
  EXPECT_GE(bytes, keys.size() * sizeof(uint32_t));
  keys = makeKeys<uint32_t>(90'000, Kind::Random);
  radixSort(std::span(keys), scratch);
  EXPECT_EQ(scratch.bytes(), bytes);
}

TEST(RadixSortFull, LargeInputs) {
  RadixScratch scratch;
  for (unsigned threads : {1u, 2u, 4u}) {
    ThreadLimit limit(threads);
    for (Kind kind : {Kind::Random, Kind::FewDistinct, Kind::MiddleBits, Kind::FewTies}) {
      checkAll<uint32_t>(1'200'001, kind, 32, scratch);
      checkAll<uint32_t>(1'200'001, kind, 30, scratch);
      checkAll<uint64_t>(1'200'001, kind, 64, scratch);
    }
  }
}

}  // namespace sunder
