#include "sunder/spatial/tree/radix_tree.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/radix_sort.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace sunder::spatial {

namespace {

constexpr uint32_t kAxisCells = 1 << 15;

// 15 bits spreadBits three apart.
uint64_t spreadBits(uint64_t x) {
  x = (x | x << 16) & 0x0000ff0000ffu;
  x = (x | x << 8) & 0x00f00f00f00fu;
  x = (x | x << 4) & 0x0c30c30c30c3u;
  return (x | x << 2) & 0x249249249249u;
}

}  // namespace

uint64_t mortonCode(uint32_t x, uint32_t y, uint32_t z) {
  return spreadBits(x) | spreadBits(y) << 1 | spreadBits(z) << 2;
}

class RadixTreeBuilder {
 public:
  RadixTreeBuilder(RadixTree& tree, std::span<const uint64_t> codes) : tree_(tree), codes_(codes) {
    const auto n = static_cast<uint32_t>(codes.size());
    tree.leafCount_ = 0;
    tree.height_ = 0;
    tree.hasPhases_ = false;
    primitives = tree.primitives_.reserve(n);
    parents = tree.parents_.reserve(2 * size_t(n));
    children = tree.children_.reserve(n);
    boxes = tree.boxes_.reserve(2 * size_t(n));
    tree.leafCount_ = n;
    if (n > 0) parents[0] = 0;
    last_ = int64_t(n) - 1;
  }

  void topDown() {
    parallelFor(tree_.innerCount(), [&](size_t i) { makeInner(static_cast<int64_t>(i)); });
    const size_t inner = tree_.innerCount();
    // The first of two children to arrive stops, the second has both boxes. Unions and maxima are exact, so
    // the order of arrival leaves no trace.
    std::unique_ptr<std::atomic<uint8_t>[]> arrived(new std::atomic<uint8_t>[inner]());
    std::vector<uint8_t> heights(tree_.nodeCount(), 0);
    parallelFor(tree_.leafCount(), [&](size_t leaf) {
      for (uint32_t node = tree_.leafNode(static_cast<uint32_t>(leaf)); node != 0;) {
        node = parents[node];
        if (arrived[node].fetch_add(1, std::memory_order_acq_rel) == 0) return;
        join(node, heights);
      }
    });
    tree_.height_ = heights.empty() ? 0 : heights[0];
  }

  // A run of leaves [first, last] joins the neighbour it shares the longer prefix with; the place between two
  // leaves stands for the node that splits there until its own range, and with it its number, is known.
  void bottomUp() {
    if (tree_.innerCount() == 0) return;
    constexpr uint64_t kNobody = ~uint64_t(0);
    std::unique_ptr<std::atomic<uint64_t>[]> waiting(new std::atomic<uint64_t>[tree_.innerCount()]);
    std::vector<uint8_t> heights(tree_.nodeCount(), 0);
    parallelFor(tree_.innerCount(), [&](size_t i) { waiting[i].store(kNobody, std::memory_order_relaxed); });
    parallelFor(tree_.leafCount(), [&](size_t leaf) {
      auto first = static_cast<int64_t>(leaf), last = first;
      uint32_t node = tree_.leafNode(static_cast<uint32_t>(leaf));
      while (true) {
        const bool isLeft =
            first == 0 || (last != last_ && prefix(last, last + 1) > prefix(first - 1, first));
        const auto split = static_cast<size_t>(isLeft ? last : first - 1);
        const auto outer = static_cast<uint64_t>(isLeft ? first : last);
        const uint64_t other = waiting[split].exchange(outer << 32 | node, std::memory_order_acq_rel);
        if (other == kNobody) return;
        const auto otherNode = static_cast<uint32_t>(other);
        (isLeft ? last : first) = static_cast<int64_t>(other >> 32);
        // Numbers as Karras gives them: a left child ends, a right child begins with its number.
        const bool isRoot = first == 0 && last == last_;
        const bool willBeLeft =
            !isRoot && (first == 0 || (last != last_ && prefix(last, last + 1) > prefix(first - 1, first)));
        const auto number = static_cast<uint32_t>(isRoot ? 0 : willBeLeft ? last : first);
        children[number] = {isLeft ? node : otherNode, isLeft ? otherNode : node};
        parents[node] = parents[otherNode] = number;
        join(number, heights);
        if (isRoot) return;
        node = number;
      }
    });
    tree_.height_ = heights[0];
  }

  uint32_t* primitives;
  Box3f* boxes;

 private:
  // Leading bits that the keys of two leaves share; the place in the order tells equal codes apart. -1
  // outside.
  int prefix(int64_t i, int64_t j) const {
    if (j < 0 || j > last_) return -1;
    const uint64_t a = codes_[static_cast<size_t>(i)], b = codes_[static_cast<size_t>(j)];
    if (a != b) return std::countl_zero(a ^ b);
    return 64 + std::countl_zero(static_cast<uint32_t>(i) ^ static_cast<uint32_t>(j));
  }

  void makeInner(int64_t i) {
    const int64_t d = prefix(i, i + 1) > prefix(i, i - 1) ? 1 : -1;
    const int least = prefix(i, i - d);
    int64_t most = 2;
    while (prefix(i, i + most * d) > least) most *= 2;
    int64_t length = 0;
    for (int64_t t = most / 2; t >= 1; t /= 2)
      if (prefix(i, i + (length + t) * d) > least) length += t;
    const int64_t j = i + length * d;
    const int shared = prefix(i, j);
    int64_t s = 0, t = length;
    do {
      t = (t + 1) / 2;
      if (prefix(i, i + (s + t) * d) > shared) s += t;
    } while (t > 1);
    const int64_t g = i + s * d + std::min<int64_t>(d, 0);
    const auto split = static_cast<uint32_t>(g);
    const uint32_t left = std::min(i, j) == g ? tree_.leafNode(split) : split;
    const uint32_t right = std::max(i, j) == g + 1 ? tree_.leafNode(split + 1) : split + 1;
    children[i] = {left, right};
    parents[left] = parents[right] = static_cast<uint32_t>(i);
  }

  void join(uint32_t node, std::vector<uint8_t>& heights) {
    const RadixTree::Children c = children[node];
    Box3f box = boxes[c.left];
    box.grow(boxes[c.right]);
    boxes[node] = box;
    heights[node] = static_cast<uint8_t>(1 + std::max(heights[c.left], heights[c.right]));
  }

  RadixTree& tree_;
  std::span<const uint64_t> codes_;
  int64_t last_;
  uint32_t* parents;
  RadixTree::Children* children;
};

static void build(RadixTree& tree, std::span<const uint64_t> codes, std::span<const Box3f> boxes,
                  std::span<const uint32_t> order, RadixBuild how) {
  if (codes.size() > 0x7fffffffu) throw Error(ErrorKind::Limit, "a tree holds at most 2^31 - 1 boxes");
  RadixTreeBuilder builder(tree, codes);
  parallelFor(codes.size(), [&](size_t leaf) {
    const uint32_t primitive = order.empty() ? static_cast<uint32_t>(leaf) : order[leaf];
    builder.primitives[leaf] = primitive;
    builder.boxes[tree.leafNode(static_cast<uint32_t>(leaf))] = boxes[primitive];
  });
  if (how == RadixBuild::TopDown)
    builder.topDown();
  else
    builder.bottomUp();
}

void buildRadixTree(RadixTree& tree, std::span<const uint64_t> sortedCodes, std::span<const Box3f> boxes,
                    RadixBuild how) {
  assert(sortedCodes.size() == boxes.size());
  assert(std::is_sorted(sortedCodes.begin(), sortedCodes.end()));
  build(tree, sortedCodes, boxes, {}, how);
}

void buildRadixTree(RadixTree& tree, std::span<const Box3f> boxes, const RadixSettings& settings) {
  const auto join = [](Box3 a, const Box3& b) {
    a.grow(b);
    return a;
  };
  const Box3 centres = parallelReduce(
      boxes.size(), Box3{},
      [&](size_t begin, size_t end) {
        Box3 part;
        for (size_t i = begin; i < end; ++i) {
          if (boxes[i].empty() || !boxes[i].lower.allFinite() || !boxes[i].upper.allFinite())
            throw Error(ErrorKind::Geometry, "box " + std::to_string(i) + " is empty or not finite");
          part.grow(Vec3(boxes[i].center().cast<double>()));
        }
        return part;
      },
      join);
  if (!(settings.cell >= 0) || std::isinf(settings.cell))
    throw Error(ErrorKind::Usage, "the edge of a Morton cell is " + std::to_string(settings.cell));
  double perCell = 0;
  if (!boxes.empty()) {
    const double extent = centres.extent().maxCoeff();
    if (settings.cell > 0)
      perCell = 1 / settings.cell;
    else if (extent > 0)
      perCell = kAxisCells / extent;
    if (!std::isfinite(perCell)) perCell = 0;
  }
  std::vector<uint64_t> codes(boxes.size());
  std::vector<uint32_t> order(boxes.size());
  parallelFor(boxes.size(), [&](size_t i) {
    const Vec3 at = (boxes[i].center().cast<double>() - centres.lower) * perCell;
    uint32_t cell[3];
    for (int k = 0; k < 3; ++k)
      cell[k] = static_cast<uint32_t>(std::clamp(std::floor(at[k]), 0.0, double(kAxisCells - 1)));
    codes[i] = mortonCode(cell[0], cell[1], cell[2]);
    order[i] = static_cast<uint32_t>(i);
  });
  RadixScratch scratch;
  radixSortPairs(std::span(codes), std::span(order), scratch, 45);
  build(tree, codes, boxes, order, settings.build);
}

void RadixTree::setPhases(std::span<const int32_t> phaseOfPrimitive) {
  assert(phaseOfPrimitive.size() == leafCount_);
  int32_t* phases = phases_.reserve(nodeCount());
  hasPhases_ = true;
  std::unique_ptr<std::atomic<uint8_t>[]> arrived(new std::atomic<uint8_t>[innerCount()]());
  parallelFor(leafCount_, [&](size_t leaf) {
    uint32_t node = leafNode(static_cast<uint32_t>(leaf));
    phases[node] = phaseOfPrimitive[primitive(static_cast<uint32_t>(leaf))];
    while (node != 0) {
      node = parent(node);
      if (arrived[node].fetch_add(1, std::memory_order_acq_rel) == 0) return;
      phases[node] = phases[left(node)] == phases[right(node)] ? phases[left(node)] : kMixed;
    }
  });
}

size_t RadixTree::bytes() const {
  if (empty()) return 0;
  const size_t n = leafCount_, nodes = nodeCount();
  return 4 * (n + nodes + 2 * (n - 1) + 6 * nodes + (hasPhases_ ? nodes : 0));
}

double surfaceAreaCost(const RadixTree& tree, double innerCost, double leafCost) {
  if (tree.empty()) return 0;
  const auto area = [&](uint32_t node) {
    const Vec3 e = tree.box(node).extent().cast<double>();
    return 2 * (e.x() * e.y() + e.y() * e.z() + e.z() * e.x());
  };
  const double cost = parallelReduce(
      tree.nodeCount(), 0.0,
      [&](size_t begin, size_t end) {
        double sum = 0;
        for (size_t i = begin; i < end; ++i) {
          const auto node = static_cast<uint32_t>(i);
          sum += (tree.isLeaf(node) ? leafCost : innerCost) * area(node);
        }
        return sum;
      },
      [](double a, double b) { return a + b; });
  const double root = area(0);
  return root > 0 ? cost / root : 0;
}

}  // namespace sunder::spatial
