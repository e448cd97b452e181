// Makes what a DensityMap holds. Private to the room.
//
// Distances are sampled on a lattice of a third of a cell, so that every node of the Serendipity cells is a
// point of the lattice and the points of the quadrature have the same places between lattice points for all
// nodes (distance_bricks.h, map_quadrature_kernel.h). Between lattice points the distance is trilinear, from
// values that are first sharpened by a twelfth of their second differences: linear interpolation then is
// right on average to fourth order, which is what an integral feels.
//
// Where the field is linear in the whole ball around a node, the closed form of a plane is taken instead.
//
// Memory while it is built: 13 bytes for each lattice point of the band, of which a cell has 27.
#pragma once

#include "sunder/fluid/boundary/density_map.h"

namespace sunder::fluid {

struct MapParts {
  Box3 bounds;
  std::vector<int32_t> codes;
  std::vector<MapCell> nodes;
  std::vector<Vec4f> deep;
  DensityMapReport report;
};

// Settings are complete and right, the domain finite.
MapParts buildDensityMap(const sdf::Field& field, const Box3& domain, const DensityMapSettings& settings);

}  // namespace sunder::fluid
