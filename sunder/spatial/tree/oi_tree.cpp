#include "sunder/spatial/tree/oi_tree.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/spatial/tree/leaf_order.h"
#include "sunder/spatial/tree/tree_kernels.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>

namespace sunder::spatial {

namespace {

constexpr size_t kBlockOfWork = 4096;  // leaves or vertices a task takes; a power of 8, so a whole subtree
constexpr float kLargestCoordinate = 1e37f;

PaddedBox emptyPaddedBox() {
  PaddedBox box{};
  std::fill_n(box.lower, 4, Box3f::kInfinity);
  std::fill_n(box.upper, 4, -Box3f::kInfinity);
  return box;
}

PaddedBox unite(const PaddedBox& a, const PaddedBox& b) {
  PaddedBox box;
  for (int k = 0; k < 4; ++k) {
    box.lower[k] = std::min(a.lower[k], b.lower[k]);
    box.upper[k] = std::max(a.upper[k], b.upper[k]);
  }
  return box;
}

float largestExtent(const PaddedBox& box) {
  float extent = 0;
  for (int k = 0; k < 3; ++k) extent = std::max(extent, box.upper[k] - box.lower[k]);
  return extent;
}

bool usable(const PaddedBox& box) {
  for (int k = 0; k < 3; ++k)
    if (!(box.lower[k] >= -kLargestCoordinate && box.upper[k] <= kLargestCoordinate &&
          box.lower[k] <= box.upper[k]))
      return false;
  return true;
}

[[noreturn]] void refuse(const char* what, size_t index) {
  throw Error(ErrorKind::Geometry,
              std::string(what) + " " + std::to_string(index) + " is not finite, or is larger than 1e37")
      .hint("trees hold boxes of floats; clean or scale the input");
}

// Parents [begin, end) of one level as unions of their children: for arity four, which has no kernel.
void mergeFew(const OiTree& tree, uint32_t parentLevel, uint32_t begin, uint32_t end, BoxBlock* parents) {
  for (uint32_t p = begin; p < end; ++p) {
    const uint32_t first = p * tree.layout().arity();
    const uint32_t count = tree.layout().childCount(parentLevel, p);
    Box3f box = tree.box(parentLevel + 1, first);
    for (uint32_t c = 1; c < count; ++c) box.grow(tree.box(parentLevel + 1, first + c));
    parents[p / kBlockLanes].set(p % kBlockLanes, box);
  }
}

}  // namespace

PaddedBox OiTreeBuilder::boxVertices(const TriangleLeaves& leaves, double margin) {
  const size_t count = leaves.positions.size();
  const std::span<const Vec3> finish = leaves.endPositions.empty() ? leaves.positions : leaves.endPositions;
  assert(finish.size() == count);
  PaddedBox* out = vertexBoxes_.reserve(count);
  struct Part {
    PaddedBox bounds;
    bool finite;
  };
  const Part all = parallelReduce(
      count, Part{emptyPaddedBox(), true},
      [&](size_t begin, size_t end) {
        Part part{};
        part.finite = kernels::boxPoints(&leaves.positions[begin], &finish[begin], end - begin, margin,
                                         out + begin, part.bounds);
        return part;
      },
      [](const Part& a, const Part& b) {
        return Part{unite(a.bounds, b.bounds), a.finite && b.finite};
      },
      kBlockOfWork);
  if (count > 0 && !(all.finite && usable(all.bounds)))
    for (size_t i = 0; i < count; ++i)
      if (!leaves.positions[i].allFinite() || !finish[i].allFinite() || !usable(out[i])) refuse("vertex", i);
  return all.bounds;
}

void OiTreeBuilder::prepare(OiTree& tree, uint32_t leafCount, uint32_t arity) {
  if (arity != 2 && arity != 4 && arity != 8)
    throw Error(ErrorKind::Usage, "a tree's arity is 2, 4 or 8, not " + std::to_string(arity));
  tree.layout_ = OiLayout(leafCount, arity);
  size_t blocks = 0;
  for (uint32_t l = 0; l < tree.layout_.levels(); ++l) {
    tree.firstBlock_[l] = static_cast<uint32_t>(blocks);
    blocks += (tree.layout_.levelSize(l) + kBlockLanes - 1) / kBlockLanes;
  }
  tree.blockCount_ = blocks;
  tree.blocks_.reserve(blocks);
  tree.primitives_.reserve(leafCount + kBlockLanes);      // slack: vector loads read whole blocks
  for (uint32_t l = 0; l < tree.layout_.levels(); ++l) {  // the lanes after the end of each level stay empty
    const uint32_t last = (tree.layout_.levelSize(l) - 1) / kBlockLanes;
    tree.blocks_.data()[tree.firstBlock_[l] + last].clear();
  }
}

void OiTreeBuilder::fill(OiTree& tree, const TriangleLeaves* triangles) {
  climb(tree, [&](size_t begin, size_t end) {
    BoxBlock* leaves = tree.blocks_.data() + tree.firstBlock_[tree.layout_.leafLevel()];
    if (triangles)
      kernels::gatherTriangles(triangles->triangles.data(), vertexBoxes_.data(), tree.primitives_.data(),
                               begin, end, leaves);
    else
      kernels::gatherLeaves(leafBoxes_.data(), tree.primitives_.data(), begin, end, leaves);
  });
}

void OiTreeBuilder::refitInner(OiTree& tree) {
  climb(tree, [](size_t, size_t) {});
}

template <class FillLeaves>
void OiTreeBuilder::climb(OiTree& tree, FillLeaves&& fillLeaves) {
  const OiLayout& layout = tree.layout_;
  if (tree.empty()) return;
  const uint32_t leafLevel = layout.leafLevel();
  BoxBlock* blocks = tree.blocks_.data();
  const auto mergeRange = [&](uint32_t parentLevel, size_t begin, size_t end) {
    BoxBlock* parents = blocks + tree.firstBlock_[parentLevel];
    if (layout.arity() == 8)
      kernels::mergeEight(blocks + tree.firstBlock_[parentLevel + 1], begin, end, parents);
    else if (layout.arity() == 2)
      kernels::mergeTwo(blocks + tree.firstBlock_[parentLevel + 1],
                        (layout.levelSize(parentLevel + 1) + kBlockLanes - 1) / kBlockLanes, begin, end,
                        parents);
    else
      mergeFew(tree, parentLevel, static_cast<uint32_t>(begin), static_cast<uint32_t>(end), parents);
  };

  // A task fills a run of leaves and climbs while what it writes is its own: whole blocks of every level.
  const uint32_t arity = layout.arity();
  parallelBlocks(layout.leafCount(), kBlockOfWork, [&](size_t begin, size_t end) {
    fillLeaves(begin, end);
    size_t first = begin, last = end;
    size_t size = kBlockOfWork;
    for (uint32_t level = leafLevel; level > 0 && size / arity >= kBlockLanes; --level) {
      size /= arity;
      first /= arity;
      last = (last + arity - 1) / arity;
      mergeRange(level - 1, first, last);
    }
  });
  uint32_t level = leafLevel;
  for (size_t size = kBlockOfWork; level > 0 && size / arity >= kBlockLanes; --level) size /= arity;
  for (; level > 0; --level) mergeRange(level - 1, 0, layout.levelSize(level - 1));
}

void OiTreeBuilder::build(OiTree& tree, const TriangleLeaves& leaves, const TreeSettings& settings) {
  tree.layout_ = OiLayout();
  const size_t count = leaves.triangles.size();
  if (count > 0x7fffffffu) throw Error(ErrorKind::Limit, "a tree holds at most 2^31 - 1 triangles");
  const PaddedBox bounds = boxVertices(leaves, settings.margin);
  prepare(tree, static_cast<uint32_t>(count), settings.arity);
  if (count == 0) return;

  PaddedBox* boxes = leafBoxes_.reserve(count);
  uint64_t* words = words_.reserve(count);
  const kernels::CodeScale scale = kernels::codeScale(bounds, settings.commonScale, 10);
  const PaddedBox used = parallelReduce(
      count, emptyPaddedBox(),
      [&](size_t begin, size_t end) {
        PaddedBox part;
        kernels::boxTriangles(leaves.triangles.data(), vertexBoxes_.data(), begin, end, scale, boxes, words,
                              part);
        return part;
      },
      unite, kBlockOfWork);
  // Vertices that no triangle uses may lie far out and make the cells too coarse.
  const bool codesFit = largestExtent(used) > 0.5f * largestExtent(bounds);
  orderLeaves(tree, used, codesFit, settings);
  fill(tree, nullptr);
}

void OiTreeBuilder::build(OiTree& tree, std::span<const Box3f> leafBoxes, const TreeSettings& settings) {
  tree.layout_ = OiLayout();
  if (leafBoxes.size() > 0x7fffffffu) throw Error(ErrorKind::Limit, "a tree holds at most 2^31 - 1 boxes");
  const PaddedBox bounds = boxLeaves(leafBoxes, static_cast<float>(settings.margin));
  prepare(tree, static_cast<uint32_t>(leafBoxes.size()), settings.arity);
  if (leafBoxes.empty()) return;
  words_.reserve(leafBoxes.size());
  orderLeaves(tree, bounds, false, settings);
  fill(tree, nullptr);
}

PaddedBox OiTreeBuilder::boxLeaves(std::span<const Box3f> boxes, float margin) {
  PaddedBox* out = leafBoxes_.reserve(boxes.size());
  const PaddedBox bounds = parallelReduce(
      boxes.size(), emptyPaddedBox(),
      [&](size_t begin, size_t end) {
        PaddedBox part = emptyPaddedBox();
        for (size_t i = begin; i < end; ++i) {
          for (int k = 0; k < 3; ++k) {
            out[i].lower[k] = boxes[i].lower[k] - margin;
            out[i].upper[k] = boxes[i].upper[k] + margin;
          }
          out[i].lower[3] = out[i].upper[3] = 0;
          if (!usable(out[i])) refuse("box", i);
          part = unite(part, out[i]);
        }
        return part;
      },
      unite, kBlockOfWork);
  return bounds;
}

void OiTreeBuilder::orderLeaves(OiTree& tree, const PaddedBox& bounds, bool codesFit,
                                const TreeSettings& settings) {
  const size_t count = tree.leafCount();
  uint32_t* primitives = tree.primitives_.data();
  if (settings.longCodes) {
    sortByLongCodes({leafBoxes_.data(), count}, bounds, settings.commonScale, {words_.data(), count},
                    {primitives, count}, sort_);
  } else {
    if (!codesFit) {
      const kernels::CodeScale scale = kernels::codeScale(bounds, settings.commonScale, 10);
      parallelBlocks(count, kBlockOfWork, [&](size_t begin, size_t end) {
        kernels::codeBoxes(leafBoxes_.data(), begin, end, scale, words_.data());
      });
    }
    const std::span<uint64_t> sorted = radixSortWords({words_.data(), count}, 32, 30, sort_);
    parallelFor(
        count, [&](size_t i) { primitives[i] = static_cast<uint32_t>(sorted[i]); }, size_t(1) << 16);
  }
  if (settings.order == LeafOrder::Selection)
    orderBySelection({leafBoxes_.data(), count}, {primitives, count});
}

void OiTreeBuilder::refit(OiTree& tree, const TriangleLeaves& leaves, double margin) {
  assert(leaves.triangles.size() == tree.leafCount());
  boxVertices(leaves, margin);
  fill(tree, &leaves);
}

void OiTreeBuilder::refit(OiTree& tree, std::span<const Box3f> leafBoxes) {
  assert(leafBoxes.size() == tree.leafCount());
  boxLeaves(leafBoxes, 0);
  fill(tree, nullptr);
}

size_t OiTreeBuilder::bytes() const {
  return vertexBoxes_.bytes() + leafBoxes_.bytes() + words_.bytes() + sort_.bytes();
}

double surfaceAreaCost(const OiTree& tree, double innerCost, double leafCost) {
  if (tree.empty()) return 0;
  const auto area = [](const Box3f& box) {
    const Vec3 e = box.extent().cast<double>();
    return 2 * (e.x() * e.y() + e.y() * e.z() + e.z() * e.x());
  };
  const OiLayout& layout = tree.layout();
  double cost = 0;
  for (uint32_t l = 0; l < layout.levels(); ++l) {
    const double levelArea = parallelReduce(
        layout.levelSize(l), 0.0,
        [&](size_t begin, size_t end) {
          double sum = 0;
          for (size_t p = begin; p < end; ++p) sum += area(tree.box(l, static_cast<uint32_t>(p)));
          return sum;
        },
        [](double a, double b) { return a + b; });
    cost += (l == layout.leafLevel() ? leafCost : innerCost) * levelArea;
  }
  const double root = area(tree.bounds());
  return root > 0 ? cost / root : 0;
}

}  // namespace sunder::spatial
