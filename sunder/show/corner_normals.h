// Normals that surfaces are shaded with: smooth over faces that meet at a small angle, sharp at the edges of
// boxes. Pictures and exports use the same. O(triangles), parallel. Of a vertex with more than 512 faces
// those within 9 degrees of each other count as one direction: it takes no longer than many vertices do.
#pragma once

#include "sunder/geometry/mesh.h"

#include <span>
#include <vector>

namespace sunder::show {

inline constexpr double kCreaseAngle = 35;  // degrees

// Three unit normals a triangle, in the order of its corners. At each corner the faces within `creaseAngle`
// of the triangle's own are averaged, weighed by their angle there; 0: all flat. A triangle without area has
// a normal of zero where no other helps. `rest`: where the vertices of a body that deforms are when it does
// not; which faces meet smoothly is then judged there, so that bending makes no edges and removes none.
std::vector<Vec3f> cornerNormals(const geometry::TriMesh& mesh, double creaseAngle = kCreaseAngle,
                                 std::span<const Vec3f> rest = {});

}  // namespace sunder::show
