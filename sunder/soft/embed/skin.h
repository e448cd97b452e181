// Places the vertices of an embedded surface, and their normals, in a deformed cage.
//
// A vertex is at w_0 x_0 + w_1 x_1 + w_2 x_2 + w_3 x_3 with the corners of its tetrahedron taken by ascending
// number of their vertices at rest; sums in that order have the same bits from both sides of a face that is
// shared, as long as the corners there are at the same places. Weights and sums are floats; positions are
// taken relative to an origin of the caller's choice, so a body far from zero keeps its digits.
//
// Same bits on every vector target and for any number of threads. Cost: as fast as memory delivers weights
// and takes positions, 28 bytes a vertex.
#pragma once

#include "sunder/soft/cage/cage.h"
#include "sunder/soft/embed/embedded_surface.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace sunder::soft {

class Skin {
 public:
  Skin() = default;
  // Keeps what it needs of both. Throws Error (Usage) where the surface is not of this cage.
  Skin(const EmbeddedSurface& surface, const Cage& cage);

  size_t vertexCount() const { return first_.empty() ? 0 : first_.back(); }
  size_t tetCount() const { return order_.size(); }

  // `positions` of the cage's vertices and `tets`, their corners now (after tears; else those of the cage).
  // Writes vertexCount() positions, relative to `origin`. Throws Error (Usage) for spans of other sizes and
  // corners that are not there.
  void place(std::span<const Vec3> positions, std::span<const geometry::Tetrahedron> tets, const Vec3& origin,
             std::span<Vec3f> out) const;
  // Unit normals; zero where the surface has none or the tetrahedron has shrunk to a line. Those of an
  // inverted tetrahedron point out of the surface too.
  void normals(std::span<const Vec3> positions, std::span<const geometry::Tetrahedron> tets,
               std::span<Vec3f> out) const;
  // Unit normals without jumps across faces: the map of normals is averaged at the vertices of the cage,
  // weighed by volume at rest, and interpolated between them. The same bits from both sides of a face whose
  // corners are shared; where the cage deforms by one affine map, those of normals().
  void smoothNormals(std::span<const Vec3> positions, std::span<const geometry::Tetrahedron> tets,
                     std::span<Vec3f> out) const;

 private:
  void check(std::span<const Vec3> positions, std::span<const geometry::Tetrahedron> tets, size_t out) const;

  std::vector<std::array<uint8_t, 4>> order_;    // by tetrahedron: corners by ascending vertex at rest
  std::vector<uint32_t> first_;                  // by tetrahedron and one more: its first vertex
  std::array<std::vector<float>, 4> weights_;    // by vertex, in the order of the tetrahedron's order_
  std::array<std::vector<float>, 3> covectors_;  // by vertex, in the order of the cage
  std::array<std::vector<float>, 3> normals_;    // by vertex, at rest
  std::vector<Mat3> restEdges_;                  // by tetrahedron: from its first corner, in columns
  uint32_t vertices_ = 0;                        // of the cage
};

}  // namespace sunder::soft
