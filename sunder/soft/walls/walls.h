// Which part of each face of a cage lies inside the solid: the walls that show once the cage comes apart.
// They are cut out exactly, as polygons that have the corners of the clipped surface (surface_copies.h), so
// that in every tetrahedron the polygons of its surface and of its walls bound a closed piece.
//
// How: the edges of clipped polygons that lie in a face, without those that cancel, are the contour of the
// solid on it. They are chained by what they are made of (vertex, edge or triangle of the surface, face of
// the cage), not by distance, and join along the outline of the face. The direction of the contours says
// where the solid is; faces without contours learn it from the faces beside them, tetrahedra without surface
// from the winding number at their centre. No flags of vertices are needed, so two tetrahedra in the same
// place may each hold another part of the solid.
//
// Guarantees: a wall is solid on both sides, a triangle of the surface that lies in a face counts as surface.
// Both sides of a face have the same wall, the same bits, wherever their contours are the same; else each
// has its own. Where the surface has gaps, contours are closed by straight lines and counted. Same bits for
// any number of threads. O(n log n) in the corners of the clipped polygons in a tetrahedron; parallel over
// tetrahedra.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/soft/cage/cage.h"
#include "sunder/soft/embed/surface_copies.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace sunder::soft {

enum class Section : uint8_t { Empty, Full, Partial };

// A face of the cage, once for both its tetrahedra. Points of a wall are weights of the three corners of the
// face, which add up to 1; loops and triangles turn counter-clockwise seen from outside of the first
// tetrahedron.
struct WallFace {
  std::array<uint32_t, 2> tets{kNoIndex, kNoIndex};  // the second: kNoIndex where the wall has one side
  std::array<uint8_t, 2> opposite{};                 // corner of each tetrahedron opposite to the face
  std::array<std::array<uint8_t, 3>, 2> corners{};   // corners of each tetrahedron that the weights are of
  Section section = Section::Empty;
  uint32_t firstLoop = 0, loops = 0;
  uint32_t firstTriangle = 0, triangles = 0;
  double area = 0;  // of the wall at rest, m^2
};

struct WallCounts {
  size_t empty = 0, full = 0, partial = 0;  // faces
  size_t oneSided = 0;  // faces of two tetrahedra that do not agree, so that each has its own wall
  size_t healed = 0;    // contours that ended inside a face and were closed by a straight line
  double longest = 0;   // of those lines, as a share of the face's longest edge
  size_t crossed = 0;   // faces on whose outline the contours do not alternate, or whose loops cross
};

struct Walls {
  std::vector<WallFace> faces;                  // by their first tetrahedron, then by the corner opposite
  std::vector<std::array<uint32_t, 4>> faceOf;  // by tetrahedron, by corner opposite
  std::vector<uint32_t> loopStart{0};           // into points; outer loops, each followed by its holes
  std::vector<Vec3> points;
  std::vector<geometry::Triangle> triangles;  // of points
  WallCounts counts;

  size_t loops() const { return loopStart.size() - 1; }
  std::span<const Vec3> loop(size_t i) const {
    return {points.data() + loopStart[i], loopStart[i + 1] - loopStart[i]};
  }
  std::span<const geometry::Triangle> trianglesOf(const WallFace& face) const {
    return {triangles.data() + face.firstTriangle, face.triangles};
  }
  // 0 or 1: which side of its face that tetrahedron is.
  size_t sideOf(uint32_t tet, int corner) const { return faces[faceOf[tet][corner]].tets[0] == tet ? 0 : 1; }
};

// Weights of a wall's point in one of its tetrahedra; that of the corner opposite is exactly zero.
Vec4 weightsIn(const WallFace& face, size_t side, const Vec3& point);

// `copies` of `surface` in `cage`. Throws Error (Usage) where they do not belong together, (Geometry) for a
// surface that is inside out. Where parts of a surface overlap, walls do too, and are counted as crossed.
Walls makeWalls(const geometry::TriMesh& surface, const Cage& cage, const SurfaceCopies& copies);

// Walls as triangles of a surface that is carried by the cage, one for each side, facing outwards of the
// tetrahedron that they belong to. Each side of a face has vertices of its own.
struct WallMesh {
  std::vector<uint32_t> tets;  // by vertex
  std::vector<Vec4> weights;   // by vertex
  std::vector<geometry::Triangle> triangles;
  std::vector<uint32_t> walls;  // by triangle: 4 t + the corner of tetrahedron t opposite to its face
};
WallMesh wallMesh(const Walls& walls);

}  // namespace sunder::soft
