// The solid in a cage as points that each stand for a volume, in the tetrahedra that they move with: what
// liquids are pushed out by (fluid/boundary/boundary_samples.h). They fill the solid, so a wall that a tear
// opens has its points already, and one that is closed adds nothing to what is there.
//
// Points lie on one grid through all tetrahedra. The outermost one of a row, within a spacing of the surface,
// stands for all between the surface and its own cell's far side, and lies in the middle of that; so a flat
// surface along the grid is met exactly, and others on average. All volumes are then scaled to that of the
// solid.
//
// Guarantees: volumes are positive and add up to the solid's; ascending by tetrahedron; same bits for any
// number of threads. A solid thinner than the spacing takes a smaller one (VolumePoints::spacing). Cost: a
// distance to the surface for each point of the grid, some microseconds.
#pragma once

#include "sunder/sdf/mesh_field.h"
#include "sunder/soft/walls/walls.h"

#include <cstdint>
#include <vector>

namespace sunder::soft {

struct VolumePoints {
  double spacing = 0;           // m
  std::vector<uint32_t> tets;   // by point
  std::vector<Vec4> weights;    // barycentric in its tetrahedron
  std::vector<double> volumes;  // m^3

  size_t size() const { return tets.size(); }
};

inline constexpr double kMostVolumePoints = double(1 << 22);

// The spacing that a solid of this volume and surface area gets where `asked` is what would do: a plate has
// one layer of points at least, unless these would be more than there may be.
double volumeSpacing(double volume, double area, double asked);

// `solid` is the exact distance to `surface`; `spacing` is what volumeSpacing() says. Throws Error (Limit)
// for more than kMostVolumePoints.
VolumePoints makeVolumePoints(const geometry::TriMesh& surface, const Cage& cage, const SurfaceCopies& copies,
                              const Walls& walls, const sdf::MeshField& solid, double spacing);

}  // namespace sunder::soft
