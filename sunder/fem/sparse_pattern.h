// Where a matrix of 3x3 blocks over the vertices of a tetrahedral mesh is not zero: on the diagonal and where
// two vertices share a tetrahedron. Made once per mesh; matrices are filled again and again over it.
//
// Blocks of the lower triangle have slots, by ascending row and column, the diagonal last in its row. Each
// slot knows which tetrahedra add to it, in their order, so slots are filled independently of each other:
// same bits for any number of threads. Memory is kept from one mesh to the next. Cost: O(tetrahedra), one
// thread.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/geometry/rows.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::fem {

class SparsePattern {
 public:
  SparsePattern() = default;
  explicit SparsePattern(const geometry::TetMesh& mesh) { build(mesh); }

  // Throws Error (Limit) for more than 2^28 tetrahedra.
  void build(const geometry::TetMesh& mesh);

  size_t rows() const { return lower_.offsets.size() - 1; }
  size_t slots() const { return lower_.items.size(); }
  // Differs between any two patterns built: what tells that a factor's analysis still holds.
  uint64_t stamp() const { return stamp_; }

  // Columns at or below the row, ascending; slots of row i start at lowerStart(i).
  std::span<const uint32_t> lowerRow(size_t i) const { return lower_.row(i); }
  uint32_t lowerStart(size_t i) const { return lower_.offsets[i]; }
  uint32_t diagonal(size_t i) const { return lower_.offsets[i + 1] - 1; }
  // kNoIndex where there is no block.
  uint32_t slot(uint32_t row, uint32_t column) const;

  // Off the diagonal, both triangles: the slot, and whether the block stands there transposed.
  struct Neighbour {
    uint32_t vertex, slotAndSide;
    uint32_t slot() const { return slotAndSide >> 1; }
    bool transposed() const { return slotAndSide & 1; }
  };
  std::span<const Neighbour> neighbours(size_t i) const { return full_.row(i); }

  // What adds to a slot: tetrahedron, and which of its vertices are the row and the column.
  struct Source {
    uint32_t code;
    uint32_t tet() const { return code >> 4; }
    uint32_t row() const { return (code >> 2) & 3; }
    uint32_t column() const { return code & 3; }
  };
  std::span<const Source> sources(size_t slot) const {
    return {sources_.data() + sourceStart_[slot], sourceStart_[slot + 1] - sourceStart_[slot]};
  }

  // Tetrahedra of each vertex, ascending: 4 * tetrahedron + which of its vertices.
  std::span<const uint32_t> star(size_t vertex) const { return stars_.row(vertex); }

 private:
  geometry::Rows lower_, stars_;
  geometry::RowsOf<Neighbour> full_;
  std::vector<Source> sources_;
  std::vector<uint32_t> sourceStart_{0};
  std::vector<uint32_t> place_, cursor_;  // work space
  uint64_t stamp_ = 0;
};

}  // namespace sunder::fem
