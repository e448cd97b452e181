// Surfaces finer than the tetrahedra: the mesh that a body is looked at by, cut along its cracks.
//
// Tetrahedra stand for a body in mechanics and contact and follow its surface only roughly. A piece of the
// mesh is what lies inside the piece's cells, which are grown a little beyond the body's surface so that
// nothing of the mesh is left out: vertices on the surface of the tetrahedra are moved outward until these
// hold the whole mesh, and the corners of cells follow the vertices. Grown cells fit each other as the others
// do, so the pieces fit and fill the mesh. The cut is that of room cut: exact, closed.
//
// Guarantees: pieces are closed where the cut is not refused; their volumes add up to that of the mesh to
// rounding; faces that cracks made are marked. The same for any number of threads.
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
  FineSurface(geometry::TriMesh mesh, const RestMesh& rest);

  struct Piece {
    geometry::TriMesh mesh;
    std::vector<uint8_t> interior;  // by triangle: 1 where a crack made it
  };
  // `rootVertices`: where the vertices of the piece come from in the rest mesh. Throws what cut::cut throws,
  // and Error (Usage) for vertices that come from nowhere.
  Piece piece(const CrackedMesh& mesh, std::span<const uint32_t> rootVertices) const;

  const geometry::TriMesh& whole() const { return mesh_; }
  double grown() const { return grown_; }  // how far, m

 private:
  geometry::TriMesh mesh_;
  std::vector<Vec3> positions_;  // of the rest mesh's vertices, grown
  double grown_ = 0;
};

}  // namespace sunder::fracture
