// Whether points lie in what a tetrahedron of a cage holds of a solid, and how deep. Used by spheres and
// masses.
#pragma once

#include "sunder/sdf/mesh_field.h"
#include "sunder/soft/walls/pieces.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace sunder::soft {

// A tetrahedron at rest, for barycentric coordinates.
class TetFrame {
 public:
  TetFrame(const Cage& cage, uint32_t tet);
  Vec4 weights(const Vec3& point) const;
  double volume() const { return volume_; }
  static bool inside(const Vec4& weights) { return weights.minCoeff() >= 0; }

 private:
  Vec3 origin_;
  std::array<Vec3, 3> rows_;  // of the inverse of the edges from the first corner
  double volume_;
};

// Grid points of a tetrahedron: those of a lattice in space, `spacing` apart, that lie in it and in its part
// of the solid.
struct GridPoint {
  std::array<int32_t, 3> at;  // on the lattice
  Vec3 point;
  double depth;  // distance to the surface
};

class SolidPoints {
 public:
  // All must outlive this.
  SolidPoints(const geometry::TriMesh& surface, const Cage& cage, const SurfaceCopies& copies,
              const Walls& walls, const sdf::MeshField& solid);

  // Distance to the surface of points in a tetrahedron; negative where they are not in its part of the
  // solid. In the calling thread.
  void depths(uint32_t tet, std::span<const Vec3> points, std::span<double> out) const;

  // Empties and fills `result`, by z, y, x. Returns false, with nothing, where more than `most` points of the
  // lattice would have to be looked at. `pieceBox`: around what the tetrahedron holds.
  bool grid(uint32_t tet, const Box3& pieceBox, double spacing, size_t most,
            std::vector<GridPoint>& result) const;

  const Cage& cage() const { return cage_; }
  Box3 pieceBox(uint32_t tet) const;
  const Box3& box() const { return box_; }

 private:
  const Cage& cage_;
  const SurfaceCopies& copies_;
  const Walls& walls_;
  const sdf::MeshField& solid_;
  Box3 box_;                     // of the surface
  std::vector<uint8_t> shared_;  // by tetrahedron: whether another lies in the same place
};

}  // namespace sunder::soft
