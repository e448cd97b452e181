// The record of a break (geometry::TopologyChange, kind Crack): one body disappears, its pieces appear, and
// every vertex, face and tetrahedron of theirs says where it comes from. What follows a break (fields, trees,
// lists of bodies, recordings) takes its maps from here.
//
// Elements are those of cracked_mesh.h: vertices and tetrahedra of the mesh, copies included, and triangles
// of its surface. All copies of a vertex or tetrahedron come from the one that was cut. A triangle that a
// crack of this break made has no source; another one has that triangle of the parent that holds its
// centroid, as polygons may be divided in another way after a cut.
//
// A function of its input, for any number of threads. Linear in the elements.
#pragma once

#include "sunder/fracture/crack/cracked_mesh.h"
#include "sunder/geometry/topology_change.h"

#include <span>

namespace sunder::fracture {

// A surface and what its triangles belong to, as CrackedSurface has it.
struct SurfaceFaces {
  const geometry::TriMesh& mesh;
  std::span<const uint32_t> crack, tet;
};

// `parts` are all of the parent's dissected mesh, `surfaces` theirs. Ids of pieces are childId(parent,
// number). Throws Error (Usage) where the parent's counts are not those of its surface or too small for the
// maps.
geometry::TopologyChange crackChange(const geometry::BodyRecord& parent, const SurfaceFaces& before,
                                     std::span<const MeshPart> parts,
                                     std::span<const CrackedSurface> surfaces);

}  // namespace sunder::fracture
