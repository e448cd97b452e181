// Normals of surfaces that are embedded in cages (record/body_meshes.h). A cage clips a surface into pieces
// with vertices of their own, so normals are made from the surface before it was clipped, at rest, and
// carried by the tetrahedra: from the covector a_i = n . (X_i - X_0), i = 1..3, of a normal at rest follows
//
//   n' = a_1 e_2 x e_3 + a_2 e_3 x e_1 + a_3 e_1 x e_2,   e_i = x_i - x_0,
//
// times the sign of the volume, which is parallel to F^-T n. With the gradient F of each tetrahedron by
// itself the light would jump at its faces and show the cage. So F at a vertex of the cage is the mean over
// its tetrahedra, weighed with their volumes, and F at a point of the outside is interpolated between the
// vertices: normals are continuous where the body holds together, and sharp at tears. Walls are flat and have
// the F of their tetrahedron. The page computes the same in its shader (viewer/src/soft_shaders.ts).
#pragma once

#include "sunder/record/body_meshes.h"

#include <array>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace sunder::show {

// At rest, three unit normals for each triangle of `caged.surface`. Of walls they are those of the cage's
// faces; of the outside those of the source where it is known, else of the surface with equal positions
// joined, smooth over edges below kCreaseAngle. Zero where a triangle has none.
std::vector<Vec3f> normalsAtRest(const record::CagedSurface& caged);

// a_1, a_2, a_3 of a normal at rest in a tetrahedron with these corners.
Vec3f covectorOf(const Vec3f& normal, const std::array<Vec3f, 4>& corners);

// The unit normal in the tetrahedron as it is; zero where that is flat.
Vec3f carriedNormal(const Vec3f& covector, const std::array<Vec3f, 4>& corners);

// The corners of a tetrahedron among positions of the cage's vertices.
inline std::array<Vec3f, 4> cornersOf(const geometry::Tetrahedron& tet, std::span<const Vec3f> positions) {
  return {positions[tet[0]], positions[tet[1]], positions[tet[2]], positions[tet[3]]};
}

// The normals of frames, with those at rest kept for the surfaces asked for last.
class CagedNormals {
 public:
  // Three for each triangle of `shape.mesh`; empty for a shape that is in no cage.
  std::vector<Vec3f> of(const record::BodyShape& shape);

 private:
  struct Kept {
    std::shared_ptr<const record::Embedding> embedding;  // so that its address stays its own
    std::vector<Vec3f> covectors;
  };
  std::map<const record::Embedding*, Kept> kept_;
};

}  // namespace sunder::show
