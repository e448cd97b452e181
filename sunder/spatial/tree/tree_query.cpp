#include "sunder/spatial/tree/tree_query.h"

#include <bit>
#include <cassert>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/spatial/tree/tree_query.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

// clang-format off: has to come after the loop over targets
#include "sunder/base/lanes_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sunder::spatial::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using lanes::HWY_NAMESPACE::maskBits;

using F8 = hn::CappedTag<float, 8>;
constexpr size_t kLanes = hn::MaxLanes(F8());

void Query(const OiTree& tree, const Box3f& box, std::vector<uint32_t>& out, uint64_t& boxTests) {
  const F8 d;
  const auto lowX = hn::Set(d, box.lower.x()), highX = hn::Set(d, box.upper.x());
  const auto lowY = hn::Set(d, box.lower.y()), highY = hn::Set(d, box.upper.y());
  const auto lowZ = hn::Set(d, box.lower.z()), highZ = hn::Set(d, box.upper.z());
  const auto overlapping = [&](const BoxBlock& block) HWY_ATTR {
    uint32_t set = 0;
    for (size_t k = 0; k < kBlockLanes; k += kLanes) {
      const auto x = hn::And(hn::Le(hn::Load(d, block.lower[0] + k), highX),
                             hn::Le(lowX, hn::Load(d, block.upper[0] + k)));
      const auto y = hn::And(hn::Le(hn::Load(d, block.lower[1] + k), highY),
                             hn::Le(lowY, hn::Load(d, block.upper[1] + k)));
      const auto z = hn::And(hn::Le(hn::Load(d, block.lower[2] + k), highZ),
                             hn::Le(lowZ, hn::Load(d, block.upper[2] + k)));
      set |= maskBits(d, hn::And(hn::And(x, y), z)) << k;
    }
    return set;
  };

  struct Node {
    uint32_t level, position;
  };
  constexpr size_t kDeepest = 12;  // levels of a tree of arity eight with 2^32 leaves
  Node stack[kDeepest * kBlockLanes];
  size_t top = 0;
  const uint32_t leafLevel = tree.layout().leafLevel();
  uint64_t tests = 8;
  // The root's block holds the root alone.
  if ((overlapping(tree.level(0)[0]) & 1) != 0) stack[top++] = {0, 0};
  while (top > 0) {
    const Node node = stack[--top];
    if (node.level == leafLevel) {  // a tree of one leaf
      out.push_back(tree.primitive(node.position));
      continue;
    }
    tests += 8;
    uint32_t set = overlapping(tree.level(node.level + 1)[node.position]);
    const uint32_t first = kBlockLanes * node.position;
    for (; set != 0; set &= set - 1) {
      const uint32_t child = first + static_cast<uint32_t>(std::countr_zero(set));
      if (node.level + 1 == leafLevel)
        out.push_back(tree.primitive(child));
      else
        stack[top++] = {node.level + 1, child};
    }
  }
  boxTests += tests;
}

}  // namespace sunder::spatial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::spatial::kernels {

HWY_EXPORT(Query);

void overlappingPrimitives(const OiTree& tree, const Box3f& box, std::vector<uint32_t>& out,
                           uint64_t& boxTests) {
  if (tree.empty()) return;
  assert(tree.layout().arity() == kBlockLanes);
  HWY_DYNAMIC_DISPATCH(Query)(tree, box, out, boxTests);
}

}  // namespace sunder::spatial::kernels
#endif
