// What can be asked of a TetMesh: volumes, neighbours, its boundary, and whether it is sound.
//
// Face i of a tetrahedron is the one opposite its vertex i, wound so that it faces outward when the
// tetrahedron is positive. Faces are matched by grouping them under their lowest vertex and sorting each
// short group: O(tets), deterministic. Volumes are plain double precision; predicates.h has the exact sign
// where one is needed.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/geometry/rows.h"

#include <array>
#include <vector>

namespace sunder::geometry {

inline constexpr std::array<std::array<uint8_t, 3>, 4> kTetFaces{
    {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};

// The vertices of face `i`, outward.
inline Triangle tetFace(const Tetrahedron& tet, size_t i) {
  return {tet[kTetFaces[i][0]], tet[kTetFaces[i][1]], tet[kTetFaces[i][2]]};
}

// Throws Error (Geometry) when a tetrahedron refers to a vertex that is not there or `region` has a wrong
// length.
void requireValid(const TetMesh& mesh);

double signedVolume(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);
std::vector<double> signedVolumes(const TetMesh& mesh);
double totalVolume(const TetMesh& mesh);  // sum of the signed volumes, in a fixed order

// Per tetrahedron, the one across face i; kNoIndex at the boundary and where more than two share the face.
std::vector<std::array<uint32_t, 4>> tetNeighbours(const TetMesh& mesh);

// The faces that only one tetrahedron has, outward for positive tetrahedra, by ascending (tet, face).
// Vertices are those of the faces alone, in ascending order of the original.
struct TetBoundary {
  TriMesh surface;
  std::vector<uint32_t> vertexSource;  // per surface vertex: vertex of the TetMesh
  std::vector<uint32_t> faceTet;       // per triangle: tetrahedron
  std::vector<uint8_t> faceSide;       // per triangle: which of its faces
};
TetBoundary boundarySurface(const TetMesh& mesh);

// Swaps two vertices of every tetrahedron with negative volume; returns how many there were.
size_t flipInverted(TetMesh& mesh);

struct TetReport {
  size_t vertices = 0, tets = 0, regions = 0;  // regions: different values of `region`, 1 when there are none
  size_t boundaryFaces = 0;
  size_t inverted = 0;          // negative volume
  size_t degenerate = 0;        // a repeated vertex, or a volume that double precision cannot tell from zero
  size_t duplicateTets = 0;     // the same four vertices as an earlier one
  size_t nonManifoldFaces = 0;  // shared by more than two
  size_t overlappingFaces = 0;  // shared by two positive tetrahedra that lie on the same side of it
  size_t isolatedVertices = 0;
  size_t components = 0;                                                  // connected across faces
  double volume = 0, minVolume = 0, maxVolume = 0;                        // of signed volumes
  std::vector<uint32_t> firstInverted, firstDegenerate, firstDuplicates;  // tetrahedra, at most 8 each
  std::vector<Triangle> firstNonManifoldFaces;                            // sorted vertices

  // Fit for simulation: something there, and none of the defects (isolated vertices do no harm).
  bool sound() const {
    return tets != 0 && inverted + degenerate + duplicateTets + nonManifoldFaces + overlappingFaces == 0;
  }
};
TetReport tetReport(const TetMesh& mesh);

}  // namespace sunder::geometry
