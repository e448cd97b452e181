// Sides that are joined: what leaves the fluid on one of them comes in on the other, as if the fluid were
// repeated without end along that axis. For channels, waves and tests without walls. Bodies are not
// repeated: those that a particle meets have to be between the sides, or to reach beyond them (floors).
//
// Neighbours across sides are found by copies of the particles next to them, which live only as long as the
// search; sums then take the nearest image of each neighbour (sph_sums.h). So what particles exchange stays
// equal and opposite, and momentum is kept; angular momentum is not, as there is no axis to it.
//
// Cost: a copy of every particle within the support of a side, and one of the rows.
#pragma once

#include "sunder/base/math.h"
#include "sunder/spatial/points/neighbour_rows.h"
#include "sunder/spatial/points/point_grid.h"

#include <span>
#include <vector>

namespace sunder::fluid {

struct PeriodicSides {
  Vec3 lengths = Vec3::Zero();  // along x, y and z; 0: nothing is joined
  Vec3 from = Vec3::Zero();     // the lower sides

  bool any() const { return (lengths.array() > 0).any(); }
};

// Throws Error (Usage) for lengths that are negative, not finite or below two supports: a particle would meet
// another twice.
void requireLengths(const PeriodicSides& sides, double support);

// Positions between the sides, [from, from + length).
void wrap(const PeriodicSides& sides, std::span<Vec3> positions);

class PeriodicSearch {
 public:
  // Rows of wrapped positions; neighbours across sides have the numbers of their originals.
  void neighbours(const PeriodicSides& sides, std::span<const Vec3> positions, double support,
                  spatial::PointGrid& grid, spatial::NeighbourRows& rows);

 private:
  std::vector<Vec3> points_;  // originals, then copies
  std::vector<uint32_t> original_;
  spatial::NeighbourRows all_;
};

}  // namespace sunder::fluid
