// Spheres that touch the surface from inside, and what stands for pieces too thin for a grid. Used by
// collision_spheres.h.
#pragma once

#include "sunder/soft/spheres/solid_points.h"

namespace sunder::soft {

struct InnerSphere {
  Vec3 centre;
  double radius;
};

// One sphere of at most `radius` for each cell of 2 radius that the surface in a tetrahedron crosses; none
// where no sphere of a sixteenth of that fits.
std::vector<InnerSphere> tangentSpheres(const SolidPoints& points, const SurfaceCopies& copies, uint32_t tet,
                                        double radius);

// Up to `count` points in a piece: its centre and places beside it along its principal directions, then
// places half-way through it behind its largest triangles. Spheres there of at most `radius` do not stick out
// where `fit`.
std::vector<InnerSphere> sliverSpheres(const SolidPoints& points, const PieceMoments& piece,
                                       std::span<const std::array<Vec3, 3>> triangles, uint32_t tet,
                                       double radius, bool fit, size_t count);

}  // namespace sunder::soft
