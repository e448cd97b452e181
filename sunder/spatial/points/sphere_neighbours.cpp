#include "sunder/spatial/points/sphere_neighbours.h"

#include "sunder/spatial/tree/tree_query.h"

#include <atomic>

namespace sunder::spatial {

void SphereNeighbours::find(const SphereSet& spheres, NeighbourRows& rows, uint64_t mostNeighbours) {
  rows.clear();
  sphereBoxes(spheres, boxes_);
  builder_.build(tree_, std::span<const Box3f>(boxes_));
  std::atomic<uint64_t> boxTests{0};
  makeRows(rows, tree_.primitives(), mostNeighbours, [&](size_t slot, std::vector<uint32_t>& out) {
    const uint32_t i = tree_.primitive(static_cast<uint32_t>(slot));
    uint64_t tests = 0;
    const size_t before = out.size();
    kernels::overlappingPrimitives(tree_, reachBox(spheres, i), out, tests);
    size_t kept = before;
    for (size_t k = before; k < out.size(); ++k) {
      const uint32_t j = out[k];
      out[kept] = j;
      kept += j != i && areNeighbours(spheres, i, j);
    }
    out.resize(kept);
    boxTests.fetch_add(tests, std::memory_order_relaxed);
  });
  boxTests_ = boxTests.load();
}

}  // namespace sunder::spatial
