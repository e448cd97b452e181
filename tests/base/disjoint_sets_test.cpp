#include "sunder/base/disjoint_sets.h"

#include "sunder/base/random.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sunder {
namespace {

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

// By sweeps over all pairs until nothing changes: each member has the smallest one that it is connected with.
std::vector<uint32_t> smallestConnected(size_t count, const Pairs& pairs) {
  std::vector<uint32_t> root(count);
  for (uint32_t i = 0; i < count; ++i) root[i] = i;
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [a, b] : pairs) {
      const uint32_t least = std::min(root[a], root[b]);
      changed = changed || root[a] != root[b];
      root[a] = root[b] = least;
    }
  }
  return root;
}

TEST(DisjointSets, RootsAreTheSmallestMembersWhateverTheOrderOfUnions) {
  RandomStream random(7, 1);
  for (size_t round = 0; round < 50; ++round) {
    const uint32_t count = 1 + random.below(200);
    Pairs pairs;
    for (uint32_t k = random.below(count + 20); k > 0; --k) {
      const uint32_t a = random.below(count), b = random.below(count);
      pairs.emplace_back(a, b);
    }
    const std::vector<uint32_t> expected = smallestConnected(count, pairs);
    for (int order = 0; order < 3; ++order) {
      DisjointSets sets(count);
      size_t apart = count;
      for (const auto& [a, b] : pairs) apart -= order == 1 ? sets.unite(b, a) : sets.unite(a, b);
      size_t roots = 0;
      for (uint32_t i = 0; i < count; ++i) {
        ASSERT_EQ(sets.find(i), expected[i]);
        ASSERT_EQ(sets.isRoot(i), expected[i] == i);
        roots += sets.isRoot(i);
      }
      EXPECT_EQ(roots, apart) << "unite() says how often two sets became one";
      std::reverse(pairs.begin(), pairs.end());
    }
  }
}

TEST(DisjointSets, MembersCanBeAddedAndSetsMadeAnew) {
  DisjointSets sets;
  EXPECT_EQ(sets.size(), 0u);
  for (uint32_t i = 0; i < 5; ++i) EXPECT_EQ(sets.add(), i);
  EXPECT_TRUE(sets.unite(4, 2));
  EXPECT_FALSE(sets.unite(2, 4));
  EXPECT_EQ(sets.add(), 5u);
  EXPECT_TRUE(sets.unite(5, 4));
  EXPECT_EQ(sets.find(5), 2u);
  EXPECT_EQ(sets.find(3), 3u);
  sets.reset(6);
  for (uint32_t i = 0; i < 6; ++i) EXPECT_EQ(sets.find(i), i);
}

// A chain united from its end makes the longest paths there are.
TEST(DisjointSets, LongChainsAreFound) {
  constexpr uint32_t kLength = 200'000;
  DisjointSets sets(kLength);
  for (uint32_t i = kLength - 1; i > 0; --i) sets.unite(i, i - 1);
  for (uint32_t i = 0; i < kLength; ++i) ASSERT_EQ(sets.find(i), 0u);
}

}  // namespace
}  // namespace sunder
