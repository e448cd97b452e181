// Where in rest space each fragment of an object may be: a grid of several levels whose cells have one bit a
// fragment (Glondu et al. 2012, section 4.3). The bit of a cell is set where a tetrahedron of the fragment
// reaches into it; a cell of the next level is twice as large and has the OR of its eight.
//
// Guarantees: a ball that meets a fragment is never called clear of it; a fragment's bits are those of its
// tetrahedra whatever the order of fractures. Immutable once made: a fracture makes the next grid and leaves
// fragments that hold the old one as they are.
//
// Fragments may have any ids. Each has a slot; the slots of fragments that broke are used again, and cells
// get another word for every 64 slots. Cost: a query reads eight words a level; a fracture copies the grid
// (256 kB at 32^3) and touches a few cells a tetrahedron of the new fragments.
#pragma once

#include "sunder/fracture/pieces/rest_mesh.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sunder::fracture {

// Cells of the finest level that each tetrahedron of the object reaches into; the same for all time.
class MaskCells {
 public:
  explicit MaskCells(const RestMesh& rest);

  const Vec3& origin() const { return origin_; }
  double cell() const { return cell_; }
  const std::array<uint32_t, 3>& size() const { return size_; }  // cells along each side
  std::span<const uint32_t> of(uint32_t tet) const {
    return {list_.data() + start_[tet], list_.data() + start_[tet + 1]};
  }

 private:
  Vec3 origin_;
  double cell_ = 0;
  std::array<uint32_t, 3> size_{};
  std::vector<uint32_t> start_, list_;
};

class FragmentMasks {
 public:
  // `tets`: of the rest mesh, those that the fragment has a part of.
  struct Piece {
    uint32_t id;
    std::span<const uint32_t> tets;
  };
  FragmentMasks(std::shared_ptr<const MaskCells> cells, std::span<const Piece> pieces);
  // After a fragment broke: without it, with the pieces. Throws Error (Usage) for an id that is taken.
  FragmentMasks(const FragmentMasks& before, uint32_t broken, std::span<const Piece> pieces);

  const MaskCells& cells() const { return *cells_; }
  uint32_t slot(uint32_t id) const;  // kNoIndex: not here
  size_t slots() const { return ids_.size(); }
  uint32_t levels() const { return uint32_t(level_.size()); }

  // False where the ball surely has nothing of the fragment in it. A radius above that of the coarsest level
  // is always true.
  bool mayTouch(uint32_t slot, const Vec3& centre, double radius) const;
  // How far the fragment is away at least, by the coarsest level that is clear around the point.
  double distanceBelow(uint32_t slot, const Vec3& point) const;
  // Whether the eight cells around the grid's vertex next to the point are free of the fragment.
  bool clear(uint32_t slot, uint32_t level, const Vec3& point) const;

 private:
  struct Level {
    double cell;
    std::array<uint32_t, 3> size;
    std::vector<uint64_t> masks;  // words_ a cell
  };
  void add(std::span<const Piece> pieces);
  void widen();
  void joinLevels();

  std::shared_ptr<const MaskCells> cells_;
  std::vector<uint32_t> ids_;  // by slot; kNoIndex: free
  size_t words_ = 1;
  std::vector<Level> level_;
};

}  // namespace sunder::fracture
