// Surfaces finer than the tetrahedra: the mesh that a body is looked at by, cut along its cracks.
//
// Tetrahedra stand for a body in mechanics and contact and follow its surface only roughly. A piece of the
// mesh is what lies inside the surface of the piece, which is grown a little where it is the body's, so that
// nothing of the mesh is left out: each vertex on the surface of the tetrahedra has a way outward, just far
// enough for all of them together to hold the whole mesh, and other points of the surface follow. Cracks
// reach out with their rims. Neighbours have the same rims, so the pieces fit and fill the mesh. The cut is
// that of room cut: exact, closed.
//
// Guarantees: pieces are closed where the cut is not refused; their volumes add up to that of the mesh, to
// rounding where cracks do not meet at the surface and to 1e-4 where they do (a moved rim bends the crack,
// and the two sides of it may have other diagonals), unless grooves are so narrow against the tetrahedra that
// grown walls cross, which costs slivers;
// faces that cracks made are marked. The same for any number of threads.
//
// Cost: that of the piece's surface and of a cut of the whole mesh with it, 0.2 us a triangle.
#pragma once

#include "sunder/fracture/cracked_mesh.h"
#include "sunder/fracture/rest_mesh.h"
#include "sunder/geometry/mesh.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::fracture {

class FineSurface {
 public:
  // `mesh` in the coordinates of the tetrahedra, closed and outward. Throws Error (Geometry) where they
  // cannot be grown around it.
  FineSurface(geometry::TriMesh mesh, RestMeshPtr rest);

  struct Piece {
    geometry::TriMesh mesh;
    std::vector<uint8_t> interior;  // by triangle: 1 where a crack made it
  };
  // `surface`: surfaceOf() the piece, whose tetrahedra may be finer than those of the rest mesh. Throws what
  // cut::cut throws.
  Piece piece(const CrackedSurface& surface) const;

  const geometry::TriMesh& whole() const { return mesh_; }
  double grown() const { return grown_; }  // how far at most, m

 private:
  geometry::TriMesh mesh_;
  RestMeshPtr rest_;
  std::vector<double> way_;  // by vertex of the rest mesh, along its normal
  double grown_ = 0;
};

}  // namespace sunder::fracture
