// Everything in one place: every pair overlaps, and there are too many to keep. The limit on pairs must bite
// without memory for them, whatever the number of threads.
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/spatial/ccd/mesh_ccd.h"
#include "sunder/spatial/pairs/overlap_pairs.h"

#include <cstdio>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace sunder::spatial {
namespace {

// In megabytes: the most that was resident since it was last reset, which Linux allows by a write to
// clear_refs. Returns false where it does not.
bool resetPeak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

double peakMegabytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::stod(line.substr(6)) / 1024;
  return -1;
}

std::vector<Box3f> equalBoxes(size_t count) {
  Box3f box;
  box.grow(Box3f::Vector(-1, 2, 3));
  box.grow(Box3f::Vector(0.5f, 2.5f, 7));
  return std::vector<Box3f>(count, box);
}

OiTree treeOf(const std::vector<Box3f>& boxes, LeafOrder order = LeafOrder::Morton) {
  OiTree tree;
  OiTreeBuilder().build(tree, boxes, {.order = order});
  return tree;
}

uint64_t pairsOf(uint64_t n) { return n * (n - 1) / 2; }

void expectRefused(std::span<const TreePair> jobs, PairList& list, uint64_t most) {
  try {
    overlapPairs(jobs, list, most);
    ADD_FAILURE() << "stored " << list.size() << " pairs";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Limit);
    EXPECT_NE(std::string(e.what()).find(std::to_string(most)), std::string::npos) << e.what();
  }
  EXPECT_EQ(list.size(), 0u);
  for (size_t j = 0; j < jobs.size(); ++j) EXPECT_TRUE(list.pairs(j).empty());
}

// Builds a tree of `count` equal boxes, asks for all pairs and is refused. The bar: 100 bytes a box for the
// boxes, the tree and its builder, and 400 MB for the pairs stored before the count.
void refuseEqualBoxes(size_t count) {
  const bool measured = resetPeak();
  const double before = peakMegabytes();
  const OiTree tree = treeOf(equalBoxes(count));
  const TreePair job{&tree, &tree};
  PairList list;
  expectRefused({&job, 1}, list, kMostPairs);
  EXPECT_EQ(countOverlapPairs({&job, 1}), kMostPairs + 1);
  EXPECT_LT(list.bytes(), size_t(2) << 20);
  if (!measured) return;
  const double used = peakMegabytes() - before;
  std::printf("peak of %zu equal boxes: %.0f MB\n", count, used);
#ifndef SUNDER_SANITIZED
  EXPECT_LT(used, 400 + 100e-6 * static_cast<double>(count));
#endif
}

TEST(CoincidentBoxes, TheLimitIsExactForAnyNumberOfThreads) {
  const size_t n = 1000;
  for (const LeafOrder order : {LeafOrder::Morton, LeafOrder::Selection}) {
    const OiTree tree = treeOf(equalBoxes(n), order), few = treeOf(equalBoxes(7), order);
    const TreePair jobs[] = {{&few, &tree}, {&tree, &tree}, {&few, &few}};
    const uint64_t all = 7 * n + pairsOf(n) + pairsOf(7);
    for (const unsigned threads : {1u, 2u, 4u}) {
      const ThreadLimit limit(threads);
      PairList list;
      expectRefused(jobs, list, all - 1);
      EXPECT_EQ(countOverlapPairs(jobs, all - 1), all);
      overlapPairs(jobs, list, all);
      EXPECT_EQ(list.size(), all);
      EXPECT_EQ(list.pairs(0).size(), 7 * n);
      EXPECT_EQ(list.pairs(2).size(), pairsOf(7));
      EXPECT_EQ(countOverlapPairs(jobs), all);
      expectRefused(jobs, list, 0);
    }
  }
}

TEST(CoincidentBoxes, MoreThanIsStoredAtOnceIsStillComplete) {
  const size_t n = 6000;  // 18 million pairs
  const OiTree tree = treeOf(equalBoxes(n));
  for (const unsigned threads : {1u, 2u}) {
    const ThreadLimit limit(threads);
    PairList list;
    selfOverlapPairs(tree, list);
    ASSERT_EQ(list.size(), pairsOf(n));
    std::vector<uint32_t> partners(n, 0);
    bool withItself = false;
    for (const PrimitivePair& p : list.pairs()) {
      withItself |= p.a == p.b;
      ++partners[p.a];
      ++partners[p.b];
    }
    EXPECT_FALSE(withItself);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(partners[i], n - 1) << i;
    const TreePair job{&tree, &tree};
    expectRefused({&job, 1}, list, pairsOf(n) - 1);
  }
}

TEST(CoincidentBoxes, AHundredThousandAreRefusedInBoundedMemory) { refuseEqualBoxes(100'000); }

TEST(CoincidentBoxesFull, TenMillionAreRefusedInBoundedMemory) { refuseEqualBoxes(10'000'000); }

TEST(CoincidentBoxes, MovingMeshesAreRefusedToo) {
  const std::vector<Vec3> positions{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  const std::vector<geometry::Triangle> triangles(30'000, {0, 1, 2});
  MeshCcd ccd;
  EXPECT_THROW(ccd.self({positions, positions, triangles}), Error);
}

}  // namespace
}  // namespace sunder::spatial
