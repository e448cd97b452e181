#include "sunder/base/lazy_table.h"

#include "sunder/base/parallel.h"

#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace sunder {

TEST(LazyTable, MakesAnEntryWhenItIsAskedForAndKeepsIt) {
  LazyTable<std::vector<int>, 3> table;
  const std::vector<int>& first = table.get(2, [] { return std::vector<int>{7, 8}; });
  EXPECT_EQ(first, (std::vector<int>{7, 8}));
  EXPECT_EQ(&table.get(2, []() -> std::vector<int> { throw std::logic_error("made twice"); }), &first);
}

TEST(LazyTable, AnExceptionLeavesTheEntryUnmade) {
  LazyTable<int, 1> table;
  EXPECT_THROW(table.get(0, []() -> int { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(table.get(0, [] { return 5; }), 5);
}

TEST(LazyTable, AllThreadsGetTheSameEntry) {
  const ThreadLimit limit(4);
  LazyTable<int, 8> table;
  std::vector<const int*> got(4000);
  parallelFor(
      got.size(), [&](size_t i) { got[i] = &table.get(i % 8, [&] { return int(i % 8); }); }, 1);
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i], got[i % 8]);
    EXPECT_EQ(*got[i], int(i % 8));
  }
}

}  // namespace sunder
