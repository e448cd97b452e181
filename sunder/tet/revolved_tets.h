// A body of revolution filled with tetrahedra exactly: its profile is filled with triangles
// (plane_triangles.h), these are turned into prisms, pyramids and wedges between the planes of the outline's
// corners, and those are split into tetrahedra.
//
// Each edge of the profile has a direction; the side that it sweeps is halved from where it starts in one
// plane to where it ends in the next. The edges of a triangle never run in a circle, so each prism falls into
// three tetrahedra, and neighbours agree (Dompierre et al. 1999, "How to subdivide pyramids, prisms and
// hexahedra into tetrahedra").
//
// Guarantee: the boundary is that of the loft itself, triangle by triangle where no edge of the profile or
// outline is longer than `edge` allows; longer ones are divided, which adds vertices but moves nothing. Walls
// are at least two tetrahedra thick. Tetrahedra are positive by exact predicates and conforming. How good
// their angles are is up to the profile: thin walls make flat ones, and what lies next to the axis is as
// narrow as a segment.
//
// Cost: three tetrahedra for each triangle of the profile and segment.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/shapes/lathe.h"

namespace sunder::tet {

// `edge`: edges of profile and outline that are longer than half as much again are divided, triangles in
// solid parts are about as large. Throws Error (Geometry) for a profile that is not simple or pinches (what
// makeLoft throws), Error (Usage) for an edge that is not positive, Error (Limit) for more than `mostTets`.
geometry::TetMesh revolvedTets(const shapes::Loft& loft, double edge, size_t mostTets = 100'000'000);

}  // namespace sunder::tet
