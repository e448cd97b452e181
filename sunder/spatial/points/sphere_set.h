// Spheres as the neighbour searches take them, and the rule they follow: i and j are neighbours when
// (dx*dx + dy*dy) + dz*dz <= s * s with s = (r_i + r_j) + margin, as double computes it. Touching counts.
#pragma once

#include "sunder/base/box.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sunder::spatial {

struct SphereSet {
  std::span<const Vec3> centres;
  std::span<const double> radii;
  double margin = 0;

  size_t size() const { return centres.size(); }
};

inline bool areNeighbours(const SphereSet& spheres, size_t i, size_t j) {
  const Vec3 &p = spheres.centres[i], &q = spheres.centres[j];
  const double dx = p.x() - q.x(), dy = p.y() - q.y(), dz = p.z() - q.z();
  const double reach = (spheres.radii[i] + spheres.radii[j]) + spheres.margin;
  return (dx * dx + dy * dy) + dz * dz <= reach * reach;
}

// A float box that surely holds the sphere of that centre and radius, rounding included.
Box3f boxAround(const Vec3& centre, double radius);

// The box of sphere i grown by the margin: it overlaps the box of every neighbour.
inline Box3f reachBox(const SphereSet& spheres, size_t i) {
  return boxAround(spheres.centres[i], spheres.radii[i] + spheres.margin);
}

// The boxes of all spheres, without margin. Throws Error (Geometry) naming the first sphere whose centre is
// not finite or whose radius is negative or not finite, or that lies beyond the range of float; Error (Usage)
// for a margin that is negative or not finite, and for arrays of different lengths.
void sphereBoxes(const SphereSet& spheres, std::vector<Box3f>& boxes);

}  // namespace sunder::spatial
