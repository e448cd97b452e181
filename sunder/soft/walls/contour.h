// Contours of a solid on the faces of one tetrahedron: the edges of its clipped polygons that lie in a face,
// chained. Used by walls.h.
//
// A contour ends on the outline of its face, where it goes on in the face beside it, or closes. Points are
// the same where they are made of the same parts of surface and cage. What ends inside a face, because
// polygons are missing, is joined to the nearest start of a contour or to the outline, by a straight line.
#pragma once

#include "sunder/geometry/tet_mesh.h"
#include "sunder/soft/embed/surface_copies.h"

#include <array>
#include <bit>
#include <vector>

namespace sunder::soft {

struct ContourPoint {
  Vec4 weights = Vec4::Zero();
  uint8_t faces = 0;  // bit k: on the face opposite to corner k
  bool onOutline() const { return std::popcount(faces) > 1; }
};

// Points in the order in which the wall is on the left, seen from outside of the tetrahedron.
struct FaceContour {
  std::vector<std::vector<uint32_t>> open;   // from outline to outline
  std::vector<std::vector<uint32_t>> loops;  // closed, the first point once
  size_t healed = 0;
  double longest = 0;  // line that healed a contour, in weights

  bool none() const { return open.empty() && loops.empty(); }
};

struct TetContours {
  std::vector<ContourPoint> points;  // the first four are the corners of the tetrahedron
  std::array<FaceContour, 4> faces;  // by corner opposite
  double volume = 0;  // of the surface alone, from the first corner, as a share of the tetrahedron's
  bool surface = false;
};

TetContours contoursOf(const geometry::TriMesh& surface, const SurfaceCopies& copies, uint32_t tet);

// Weights of the corners of a face, in the order of geometry::kTetFaces.
inline Vec3 faceWeights(const Vec4& weights, int face) {
  const auto& f = geometry::kTetFaces[face];
  return {weights[f[0]], weights[f[1]], weights[f[2]]};
}

// The same in the plane: counter-clockwise seen from outside; a whole face has the area 1/2.
inline Vec2 inFacePlane(const Vec4& weights, int face) {
  const auto& f = geometry::kTetFaces[face];
  return {weights[f[1]], weights[f[2]]};
}

}  // namespace sunder::soft
