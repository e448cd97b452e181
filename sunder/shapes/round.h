// Subdivided polyhedra and the spheres made of them. All are centred on the origin unless they carry a
// centre.
//
// Geodesic points: the point with integer weights (a, b, c), a + b + c = n, on a face of an icosahedron with
// the arc t between its corners is sin(a t / n) A + sin(b t / n) B + sin(c t / n) C, normalised. On an edge
// that divides the arc into n equal parts; inside it is the same from each corner. Triangles differ less in
// size than with flat weights.
#pragma once

#include "sunder/geometry/mesh.h"

#include <span>

namespace sunder::shapes {

struct TetrahedronShape {
  double radius = 1;  // of the sphere through the corners
  int frequency = 1;  // each edge in so many parts
};
geometry::TriMesh makeTetrahedron(const TetrahedronShape& = {});

struct OctahedronShape {
  double radius = 1;
  int frequency = 1;
};
geometry::TriMesh makeOctahedron(const OctahedronShape& = {});

// 20 n^2 triangles, 10 n^2 + 2 vertices, all on the sphere.
struct IcosphereShape {
  double radius = 1;
  int frequency = 16;
};
geometry::TriMesh makeIcosphere(const IcosphereShape& = {});

// The benchmark's bumpy sphere, 8 n^2 triangles and 4 n^2 + 2 vertices. Octahedron |i| + |j| + |k| = n; the
// direction u of a point is (sin(i pi/2n), sin(j pi/2n), sin(k pi/2n)) normalised, its distance from the
// centre
//   1 + b (sin(11 ux + 1) sin(13 uy + 2) sin(9 uz + 3) + 0.3 sin(41 ux) sin(37 uy + 1) sin(43 uz + 2)).
// Vertices run from k = -n to n, each layer counter-clockwise from (+i, 0); triangles octant by octant.
struct RippledSphereShape {
  int n = 112;
  double b = 0.1;
  Vec3 centre = Vec3::Zero();
};
geometry::TriMesh makeRippledSphere(const RippledSphereShape& = {});

// Every triangle of a closed surface split into n^2, flat; vertices are the corners, then those on edges in
// the order in which edges first appear, then those inside. Throws Error (Usage) for n < 1, (Limit) beyond
// 32-bit indices.
geometry::TriMesh splitTriangles(const geometry::TriMesh& mesh, int n);

}  // namespace sunder::shapes
