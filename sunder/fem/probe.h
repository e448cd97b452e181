// Displacement and stress at any point of a body, not only at its vertices: linear between the four vertices
// of the tetrahedron that holds the point. Points outside get the values of the nearest point of the surface
// and their distance to it.
//
// Cost: building the locator (tet/point_location.h), then about a microsecond a point.
#pragma once

#include "sunder/fem/recovery.h"

#include <span>
#include <vector>

namespace sunder::fem {

struct ProbeValue {
  uint32_t tet = 0;
  double distance = 0;  // to the body; 0 inside
  Vec3 displacement = Vec3::Zero();
  Stress stress = Stress::Zero();
  Principal principal;  // of that stress
};

// `recovery` has been updated with `displacements`. Throws Error (Usage) for points that are not finite.
std::vector<ProbeValue> probe(const ElasticBody& body, std::span<const Vec3> displacements,
                              const StressRecovery& recovery, std::span<const Vec3> points);

}  // namespace sunder::fem
