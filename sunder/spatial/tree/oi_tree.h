// A bounding volume tree without pointers: the ostensibly-implicit layout (oi_layout.h) filled with boxes.
// Leaves are primitives in Morton or selection order; an inner node is the union of its children; nothing
// else is stored. It is made anew each frame in a few milliseconds, or refitted when the order of the leaves
// may stay. Follows Chitalu et al. 2020 (CGF 39-2) for layout and bottom-up build.
//
// What differs from the source: arity 8 by default (2 and 4 too), so that the children of a node fill one
// BoxBlock and a test of a node against all children of another is one vector operation; levels start at a
// block, which costs at most seven empty boxes a level. Arity 2 is the source's tree.
//
// Boxes are float. Coordinates that float cannot hold are rounded outwards, so an overlap in double is never
// lost. Guarantees: every inner box is bit for bit the union of the leaves below it; the tree's bytes do not
// depend on the number of threads. Cost: O(n) after an O(n) radix sort; 24 bytes a node and 4 a leaf.
#pragma once

#include "sunder/base/array/reusable_array.h"
#include "sunder/base/radix_sort.h"
#include "sunder/geometry/mesh.h"
#include "sunder/spatial/tree/box_block.h"
#include "sunder/spatial/tree/oi_layout.h"

#include <cstdint>
#include <span>

namespace sunder::spatial {

enum class LeafOrder : uint8_t {
  Morton,     // by the Morton code of the box centres: fastest to make
  Selection,  // recursive selection along the longest axis: 2 to 3 times better trees, 10 times slower to
              // make
};

struct TreeSettings {
  uint32_t arity = 8;  // 2, 4 or 8
  LeafOrder order = LeafOrder::Morton;
  bool longCodes = false;   // 63-bit Morton codes (21 bits an axis) instead of 30-bit ones
  bool commonScale = true;  // one cell size for all axes; fewer tests than one per axis on most meshes
  double margin = 0;        // leaf boxes are grown by this on every side
};

class OiTree {
 public:
  const OiLayout& layout() const { return layout_; }
  uint32_t leafCount() const { return layout_.leafCount(); }
  bool empty() const { return leafCount() == 0; }

  std::span<const uint32_t> primitives() const {
    return {primitives_.data(), leafCount()};
  }  // by leaf position
  uint32_t primitive(uint32_t leaf) const { return primitives_.data()[leaf]; }

  const BoxBlock* level(uint32_t l) const { return blocks_.data() + firstBlock_[l]; }
  Box3f box(uint32_t l, uint32_t position) const {
    return level(l)[position / kBlockLanes].get(position % kBlockLanes);
  }
  Box3f bounds() const { return empty() ? Box3f{} : box(0, 0); }

  size_t bytes() const { return sizeof(BoxBlock) * blockCount_ + sizeof(uint32_t) * leafCount(); }

 private:
  friend class OiTreeBuilder;
  OiLayout layout_;
  std::array<uint32_t, OiLayout::kMostLevels> firstBlock_{};
  size_t blockCount_ = 0;
  ReusableArray<BoxBlock> blocks_;
  ReusableArray<uint32_t> primitives_;
};

// What the leaves are boxes of.
struct TriangleLeaves {
  std::span<const Vec3> positions;
  std::span<const geometry::Triangle> triangles;
  std::span<const Vec3> endPositions = {};  // when given: boxes of the motion from positions to endPositions
};

// A box as the build passes it around: two vectors of four floats, the fourth unused.
struct alignas(32) PaddedBox {
  float lower[4];
  float upper[4];
};

// Builds and refits trees; keeps its working memory from one call to the next. One builder per thread.
class OiTreeBuilder {
 public:
  // Throws Error (Geometry) naming the first vertex or box that is not finite or beyond the range of float;
  // the tree is then empty. Triangles must refer to existing positions.
  void build(OiTree& tree, const TriangleLeaves& leaves, const TreeSettings& settings = {});
  void build(OiTree& tree, std::span<const Box3f> leafBoxes, const TreeSettings& settings = {});

  // New boxes in the order the tree already has. The number of leaves must be the same.
  void refit(OiTree& tree, const TriangleLeaves& leaves, double margin = 0);
  void refit(OiTree& tree, std::span<const Box3f> leafBoxes);

  // Boxes of the vertices, moving or not, of the last build or refit from triangles.
  const PaddedBox* vertexBoxes() const { return vertexBoxes_.data(); }
  // The inner boxes anew from the leaf boxes that the tree has: the bottom-up pass alone.
  void refitInner(OiTree& tree);

  size_t bytes() const;  // working memory held

 private:
  PaddedBox boxVertices(const TriangleLeaves& leaves, double margin);
  PaddedBox boxLeaves(std::span<const Box3f> boxes, float margin);
  void orderLeaves(OiTree& tree, const PaddedBox& bounds, bool codesFit, const TreeSettings& settings);
  void prepare(OiTree& tree, uint32_t leafCount, uint32_t arity);
  void fill(OiTree& tree, const TriangleLeaves* triangles);
  template <class FillLeaves>
  void climb(OiTree& tree, FillLeaves&& fillLeaves);

  ReusableArray<PaddedBox> vertexBoxes_;  // of the vertices, from which triangles' boxes are made
  ReusableArray<PaddedBox> leafBoxes_;    // in the order of the primitives
  ReusableArray<uint64_t> words_;         // Morton code and primitive
  RadixScratch sort_;
};

// Surface area heuristic, the expected cost of a random ray relative to the root's area (Aila et al. 2013,
// eq. 1), with the costs 1.2 an inner node and 1 a leaf. Lower is better.
double surfaceAreaCost(const OiTree& tree, double innerCost = 1.2, double leafCost = 1.0);

}  // namespace sunder::spatial
