// The part of a triangle that lies in a tetrahedron, as a convex polygon whose corners say exactly what they
// are: a vertex of the triangle, a crossing of an edge of it with a face of the tetrahedron, or a crossing of
// an edge of the tetrahedron with the triangle.
//
// Guarantees: which corners there are is decided by exact predicates. Where vertices, edges and faces touch
// exactly, the answer is that of a surface moved inwards (and a little aside, differently for each vertex) by
// less than any number, so touching never happens: triangles that share an edge and tetrahedra that share a
// face agree about every crossing. The coordinates of a crossing are computed from sorted vertices of cage
// and surface, so they have the same bits whichever triangle and tetrahedron ask.
#pragma once

#include "sunder/base/math.h"
#include "sunder/geometry/mesh.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace sunder::soft {

// A corner of the polygon that a tetrahedron cuts out of a triangle. A vertex of the triangle has two bits in
// `edges` and none in `faces`; a crossing of an edge with a face has one of each; a crossing of the triangle
// with an edge of the tetrahedron has two bits in `faces`: those of the faces beside that edge.
struct ClipCorner {
  Vec4 weights = Vec4::Zero();     // barycentric in the tetrahedron; exactly zero on a face of it
  Vec3 inTriangle = Vec3::Zero();  // barycentric in the triangle
  uint8_t faces = 0;               // bit k: on the face of the tetrahedron opposite to corner k
  uint8_t edges = 0;               // bit k: on the edge of the triangle opposite to its corner k
};

inline constexpr size_t kMostClipCorners = 7;

// The surface as the clipping sees it: with the direction in which each vertex gives way.
struct ClipSurface {
  const geometry::TriMesh& mesh;
  std::vector<Vec3> aside;  // by vertex

  // Inwards along the vertex normals; outwards of an inside-out surface.
  explicit ClipSurface(const geometry::TriMesh& mesh);
};

// The polygon, in the winding of the triangle; empty where the triangle is outside.
struct ClipPolygon {
  std::array<ClipCorner, kMostClipCorners> corners;
  size_t size = 0;

  operator std::span<const ClipCorner>() const { return {corners.data(), size}; }
};
ClipPolygon clipTriangle(const ClipSurface& surface, uint32_t triangle, const geometry::TetMesh& cage,
                         uint32_t tet);

// Barycentric coordinates of a point in a tetrahedron, negative outside. On a face (within 1e-9 of its size),
// an edge or at a vertex the others are exactly zero and these the same bits from all tetrahedra there.
Vec4 cageWeights(const geometry::TetMesh& cage, uint32_t tet, const Vec3& point);

// Area of a polygon over that of its triangle.
double shareOfTriangle(std::span<const ClipCorner> polygon);

// A polygon that only rounding has made, where the surface touches a face, edge or vertex of the cage: it is
// there because contours go through it, and is neither counted as a copy nor shown.
inline constexpr double kDust = 1e-10;
inline bool isDust(std::span<const ClipCorner> polygon) { return !(shareOfTriangle(polygon) > kDust); }

}  // namespace sunder::soft
