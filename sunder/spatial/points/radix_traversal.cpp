#include "sunder/spatial/points/radix_traversal.h"

#include "sunder/base/error.h"

#include <atomic>
#include <cassert>

namespace sunder::spatial {

RadixCount radixNeighbours(const RadixTree& tree, const SphereSet& spheres, NeighbourRows& rows,
                           const RadixQuery& query) {
  assert(tree.leafCount() == spheres.size());
  if (query.cullPhases && (query.start != RadixStart::Leaf || !tree.hasPhases()))
    throw Error(ErrorKind::Usage, "phases are culled from the leaf upwards, in a tree that has phases");
  std::atomic<uint64_t> boxTests{0}, leaves{0};
  makeRows(rows, tree.primitives(), query.mostNeighbours, [&](size_t slot, std::vector<uint32_t>& out) {
    const auto leaf = static_cast<uint32_t>(slot);
    const uint32_t i = tree.primitive(leaf);
    const Box3f box = reachBox(spheres, i);
    RadixCount count;
    const auto visit = [&](uint32_t other) {
      const uint32_t j = tree.primitive(other);
      if (j != i && areNeighbours(spheres, i, j)) out.push_back(j);
    };
    if (query.start == RadixStart::Root)
      forOverlaps(tree, box, query.walk, count, visit);
    else
      forOverlapsFrom(tree, leaf, box, query.walk, count, visit,
                      query.cullPhases ? tree.phase(tree.leafNode(leaf)) : RadixTree::kMixed);
    boxTests.fetch_add(count.boxTests, std::memory_order_relaxed);
    leaves.fetch_add(count.leaves, std::memory_order_relaxed);
  });
  return {boxTests.load(), leaves.load()};
}

}  // namespace sunder::spatial
