// Surfaces finer than the tetrahedra: the mesh that a body is looked at by, cut along its cracks.
//
// Tetrahedra stand for a body in mechanics and contact and follow its surface only roughly. Where a body
// breaks, its mesh is cut by the surface between one piece and those that are left (crack_sheets.h), then
// what is left by that around the next piece. A surface goes on beyond its rim, in its own direction, just
// far enough to leave the mesh. The cut is that of room cut: exact, closed, the same on both sides, so
// nothing is lost or doubled however rough the tetrahedra are. Pieces that break again cut their own mesh.
//
// Guarantees: pieces are closed; volumes of pieces add up to that of what broke where none of them is coarse,
// to rounding; faces that cracks made are marked. The same for any number of threads. A piece is coarse,
// which is counted, where no cut parts it from the others: a part of the mesh that tetrahedra do not know of
// holds them together, or the mesh has nothing where the piece is.
//
// Cost: one cut of the mesh that is left for each piece, 0.2 us a triangle, and some tries more where one is
// refused.
#pragma once

#include "sunder/fracture/crack/crack_sheets.h"
#include "sunder/geometry/mesh.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::fracture {

// What is looked at.
struct FinePiece {
  geometry::TriMesh mesh;
  std::vector<uint8_t> interior;  // by triangle: 1 where a crack made it
};

class FineSurface {
 public:
  // `mesh` in the coordinates of the tetrahedra, whose mean edge is `edge`. Throws Error (Geometry) for a
  // mesh that is not closed and outward.
  FineSurface(geometry::TriMesh mesh, double edge);

  // The pieces of `parent`, which is the mesh or a piece of it; those without triangles are coarse.
  std::vector<FinePiece> split(const FinePiece& parent, const CrackSheets& sheets) const;

  const FinePiece& whole() const { return whole_; }

 private:
  // Which piece goes first: that with the fewest neighbours, the first, that with the smallest contact.
  enum class Order { Neighbours, Number, Area };
  std::vector<FinePiece> split(const FinePiece& parent, const CrackSheets& sheets, Order order,
                               size_t& coarse) const;
  bool partOff(FinePiece& rest, FinePiece& piece, const CrackSheets& sheets,
               std::span<const CrackSheets::Group> groups, uint32_t attempt) const;

  FinePiece whole_;
  double edge_;
};

}  // namespace sunder::fracture
