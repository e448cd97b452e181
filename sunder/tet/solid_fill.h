// Tetrahedra that are the whole of a solid, for bodies that are analysed or may break. Walls thinner than a
// lattice edge or two vanish from a filling, and what is left may still be one part: so the volume of the
// tetrahedra is compared with that of the solid, and a filling that is off by more than kMostVolumeOff is
// refused with an edge that would do.
//
// That edge is found by filling again with shorter and shorter edges, until the volume is kept or the work is
// used up; work is counted in tetrahedra, so the answer is the same everywhere. It need not be the longest
// edge that would do. Cost: one filling where the first edge does; else a few, the last of which is the
// largest.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/sdf/mesh_field.h"

#include <functional>
#include <optional>

namespace sunder::tet {

inline constexpr double kMostVolumeOff = 0.02;  // of the solid's volume

// The edge that is tried after one whose filling is off by that part of the volume: much shorter where nearly
// all is lost, of two digits. Estimates of cost follow the same steps.
double nextShorterEdge(double edge, double off);

struct SolidSize {
  double volume = 0;
  size_t mostParts = SIZE_MAX;  // its tetrahedra hang together in at most so many parts
};

// Of a mesh: by its triangles where it is closed and has no defects, else by the isosurface of its field. Of
// a field: by its isosurface. Isosurfaces are taken on a lattice of half the edge, or coarser where that
// would be finer than 1/256 of the longest side.
SolidSize solidSize(const sdf::MeshField& field, const geometry::TriMesh& mesh, double edge);
SolidSize solidSize(const sdf::Field& field, double edge);

// Tetrahedra of the solid with edges about that long.
using Filling = std::function<geometry::TetMesh(double edge)>;

struct SolidFill {
  geometry::TetMesh mesh;
  double edge = 0;    // that was used
  double volume = 0;  // of the tetrahedra
};

// The filling with that edge. Where its volume is off by more than kMostVolumeOff, `mayShorten` takes the
// edge that would do; without it, and where none is found, throws Error (Geometry) with both volumes and that
// edge.
SolidFill fillSolid(const Filling& fill, const SolidSize& solid, double edge, bool mayShorten = false);

// An edge below `edge`, of two digits, with which the filling keeps volume and parts, where the filling with
// `edge` itself has the volume `had`. Nothing where trials of `mostTets` tetrahedra altogether, with edges
// down to a 256th, do not find one.
std::optional<double> edgeThatKeeps(const Filling& fill, const SolidSize& solid, double edge, double had,
                                    uint64_t mostTets);

}  // namespace sunder::tet
