// How much of the solid is in each tetrahedron of a cage, where its centre is, and what its vertices weigh.
#pragma once

#include "sunder/sdf/mesh_field.h"
#include "sunder/soft/walls/pieces.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::soft {

struct SolidShares {
  std::vector<double> volumes;    // of the solid in each tetrahedron, m^3
  std::vector<Vec4> centres;      // barycentric; the tetrahedron's own where it holds nothing
  std::vector<double> fractions;  // of the tetrahedron that is solid, for fem::Solid; from the floor to 1
  size_t raised = 0;              // tetrahedra whose fraction is the floor, so that no vertex is without mass
};

// Exact, from the polygons that bound each piece. `floor` from 0 to 1. Parallel.
SolidShares exactShares(const Cage& cage, std::span<const PieceMoments> pieces, double floor = 1e-3);
SolidShares exactShares(const Cage& cage, const SurfaceCopies& copies, const Walls& walls,
                        double floor = 1e-3);

// The published way, for comparison: the spheres of a grid count as its cells, (2 r)^3 each (Clack 2012
// counts balls, which leaves out half of the volume). Where a tetrahedron has fewer than three cells its
// radius is halved, at most six times. `solid` is the exact distance to `surface`. The error falls with the
// radius.
SolidShares cellShares(const geometry::TriMesh& surface, const Cage& cage, const SurfaceCopies& copies,
                       const Walls& walls, const sdf::MeshField& solid, double radius, double floor = 1e-3);

// Mass of each vertex of the cage: what a tetrahedron weighs goes to its corners with the weights of its
// centre, so that the total and the centre of mass are kept. Vertices below `floor` times the mean are raised
// to it. `density` kg/m^3.
std::vector<double> vertexMasses(const Cage& cage, const SolidShares& shares, double density,
                                 double floor = 1e-3);

}  // namespace sunder::soft
