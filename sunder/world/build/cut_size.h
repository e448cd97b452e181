// How large the pieces are that planes cut a mesh into, without cutting it: how many there are, and their
// boxes, volumes, surfaces and triangles.
//
// The box of the mesh is divided into 32 cells along its longest side. Cells with their middle inside the
// mesh, and cells that its surface passes through, are sorted by the sides of the planes that they are on;
// what is connected on the same sides is a piece. Volumes and boxes of pieces of a few cells are rough, parts
// that are nearer to each other than a cell count as one, and the triangles of lids are counted by the
// triangles that the planes cross.
//
// Guarantees: the volumes add up to that of the mesh; pieces are ordered by volume, the largest first.
// Cost: some 20 ns a triangle and plane, some MB.
#pragma once

#include "sunder/base/box.h"
#include "sunder/geometry/mesh.h"
#include "sunder/world/scene/shape_values.h"

#include <span>
#include <vector>

namespace sunder::world {

struct PieceSize {
  Box3 bounds;
  double volume = 0, area = 0, triangles = 0;
};

struct CutSize {
  std::vector<PieceSize> pieces;
  double triangles = 0, area = 0;  // of the mesh before it is cut
};

CutSize sizeOfPieces(const geometry::TriMesh& mesh, std::span<const CutPlane> planes);

}  // namespace sunder::world
