#include "sunder/base/array/growing_array.h"
#include "sunder/base/array/large_pages.h"
#include "sunder/base/array/reusable_array.h"
#include "sunder/base/array/small_array.h"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sunder {
namespace {

bool startsAt(const void* memory, size_t unit) { return reinterpret_cast<uintptr_t>(memory) % unit == 0; }

// Whether the system was asked for huge pages at the address: the flag "hg" of its mapping.
bool askedForHugePages(const void* memory) {
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    char dash = 0;
    if (std::istringstream(line) >> std::hex >> begin >> dash >> end && dash == '-')
      here = begin <= uintptr_t(memory) && uintptr_t(memory) < end;
    if (here && line.starts_with("VmFlags:")) return (line + " ").find(" hg ") != line.npos;
  }
  return false;
}

TEST(LargePages, MemoryStartsAtALineAndFromTwoMegabytesAtAPage) {
  for (const size_t bytes : {size_t(1), size_t(100), kLargePage - 1, kLargePage, 3 * kLargePage + 5}) {
    void* memory = allocatePages(bytes);
    EXPECT_TRUE(startsAt(memory, bytes < kLargePage ? kCacheLine : kLargePage)) << bytes;
    std::memset(memory, 1, bytes);
    freePages(memory, bytes);
  }
}

TEST(LargePages, LargeMemoryAsksForHugePages) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage"))
    GTEST_SKIP() << "a system without huge pages";
  LargeVector<char> large(4 * kLargePage);
  EXPECT_TRUE(askedForHugePages(large.data()));
  EXPECT_TRUE(askedForHugePages(large.data() + 4 * kLargePage - 1));
  std::vector<char> ordinary(4 * kLargePage);
  EXPECT_FALSE(askedForHugePages(ordinary.data()));
}

TEST(LargePages, VectorsLeaveNewNumbersAloneAndKeepOldOnes) {
  LargeVector<uint32_t> numbers(1000, 7u);
  numbers.resize(10);
  numbers.resize(1000);  // the same memory, not set to anything
  EXPECT_EQ(numbers[999], 7u);
  numbers.resize(2'000'000);
  EXPECT_EQ(numbers[0], 7u);
  EXPECT_EQ(numbers[999], 7u);
  EXPECT_TRUE(startsAt(numbers.data(), kLargePage));
  const LargeVector<uint32_t> copy = numbers;
  EXPECT_TRUE(std::memcmp(copy.data(), numbers.data(), 1000 * sizeof(uint32_t)) == 0);
  const LargeVector<uint32_t> zeros(50, uint32_t{});
  for (const uint32_t zero : zeros) EXPECT_EQ(zero, 0u);
}

struct Counted {
  int value = 3;
};

TEST(LargePages, VectorsStillConstructWhatHasAConstructor) {
  const LargeVector<Counted> all(100);
  for (const Counted& one : all) EXPECT_EQ(one.value, 3);
}

TEST(ReusableArray, GrowsToTheLargestRequestAndNeverShrinks) {
  ReusableArray<double> array;
  EXPECT_EQ(array.bytes(), 0u);
  size_t largest = 0;
  for (const size_t count : {100u, 5u, 0u, 100u, 3000u, 2u, 3000u, 1'000'000u, 1u}) {
    const size_t before = array.bytes();
    double* memory = array.reserve(count);
    EXPECT_EQ(memory, array.data());
    for (size_t i = 0; i < count; ++i) memory[i] = double(i);
    largest = std::max(largest, count * sizeof(double));
    EXPECT_GE(array.bytes(), largest);
    if (count * sizeof(double) <= before) {
      EXPECT_EQ(array.bytes(), before);
    }
  }
  EXPECT_TRUE(startsAt(array.data(), kLargePage));
  EXPECT_EQ(array.bytes() % kLargePage, 0u);
}

TEST(ReusableArray, TheSameRequestsTakeTheSameMemory) {
  ReusableArray<std::byte> array;
  const std::byte* first = array.reserve(10'000);
  EXPECT_TRUE(startsAt(first, kCacheLine));
  for (size_t bytes = 0; bytes <= 10'000; bytes += 500) EXPECT_EQ(array.reserve(bytes), first);
}

TEST(ReusableArray, WhatWasMovedFromIsEmpty) {
  ReusableArray<int> a;
  a.reserve(1000)[999] = 5;
  const ReusableArray<int> b = std::move(a);
  EXPECT_EQ(b.data()[999], 5);
  EXPECT_EQ(a.bytes(), 0u);  // NOLINT: that is the claim
  a.reserve(10)[9] = 1;
}

TEST(GrowingArray, KeepsWhatWasWrittenWhenItGrows) {
  GrowingArray<uint64_t> array;
  EXPECT_TRUE(array.empty());
  for (uint64_t i = 0; i < 300'000;) {
    uint64_t* to = array.room(1000);  // an upper bound
    const size_t count = i % 7;
    for (size_t k = 0; k <= count; ++k) to[k] = i++;
    array.advance(count + 1);
  }
  for (size_t i = 0; i < array.size(); ++i) ASSERT_EQ(array[i], i);
  EXPECT_LE(array.bytes(), 3 * (array.size() + 1000) * sizeof(uint64_t) / 2);
  array.push(9);
  EXPECT_EQ(array.span().back(), 9u);
}

TEST(GrowingArray, KeepsItsMemoryWhenCleared) {
  GrowingArray<char> array;
  array.room(1'000'000);
  const size_t bytes = array.bytes();
  const char* memory = array.data();
  array.clear();
  EXPECT_EQ(array.room(1'000'000), memory);
  EXPECT_EQ(array.bytes(), bytes);
  GrowingArray<char> other;
  other.push('x');
  other = std::move(array);
  EXPECT_EQ(other.data(), memory);
  EXPECT_EQ(array.bytes(), 0u);  // NOLINT: that is the claim
}

TEST(SmallArray, ListsCopyAndMoveAcrossTheirInnerSize) {
  using List = SmallArray<int, 4>;
  const auto make = [](int size) {
    List list;
    for (int i = 0; i < size; ++i) list.push_back(i);
    return list;
  };
  const auto holds = [](const List& list, int size) {
    bool same = int(list.size()) == size;
    for (int i = 0; same && i < size; ++i) same = list[size_t(i)] == i;
    return same;
  };
  for (int from : {0, 3, 4, 5, 40})
    for (int to : {0, 4, 5, 90}) {
      List source = make(from), copied = make(to), moved = make(to);
      copied = source;
      EXPECT_TRUE(holds(copied, from) && holds(source, from)) << from << " over " << to;
      moved = std::move(source);
      EXPECT_TRUE(holds(moved, from)) << from << " over " << to;
      EXPECT_TRUE(source.empty());  // NOLINT: that is the claim
      source.push_back(0);
      EXPECT_TRUE(holds(source, 1) && holds(moved, from)) << from << " over " << to;
    }
  List inside = make(3);
  const auto* begin = reinterpret_cast<const char*>(&inside);
  const auto* data = reinterpret_cast<const char*>(inside.data());
  EXPECT_TRUE(begin <= data && data < begin + sizeof inside);
}

}  // namespace
}  // namespace sunder
