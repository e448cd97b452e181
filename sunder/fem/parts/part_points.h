// Points of a cut mesh: the part that holds one, values there and forces that act there. A point in a
// tetrahedron of several parts belongs to the part whose surface winds around it; parts are cut out again for
// that (cut_mesh.h keeps moments only).
//
// Cost: that of fem/probe.h, and some tens of microseconds for a point in a tetrahedron that is cut.
#pragma once

#include "sunder/fem/parts/part_mesh.h"
#include "sunder/fem/point_force.h"
#include "sunder/fem/probe.h"
#include "sunder/spatial/query/mesh_queries.h"
#include "sunder/tet/point_location.h"

#include <span>
#include <vector>

namespace sunder::fem {

class PartPoints {
 public:
  explicit PartPoints(const CutMesh& cut);  // which must outlive it and stay as it is

  struct Place {
    uint32_t part = 0;
    Vec4 weights = Vec4::Zero();  // of its four nodes
    double distance = 0;          // to the body, for points outside: the place is the nearest point's
  };
  // Throws Error (Usage) for points that are not finite.
  Place place(const Vec3& point) const;

  // Adds a force that acts at the nearest point of the surface, as SurfaceForces does; returns the distance.
  double addForce(const Vec3& point, const Vec3& force, std::vector<NodalForce>& forces) const;

 private:
  uint32_t partOf(uint32_t tet, const Vec3& at) const;

  const CutMesh& cut_;
  tet::PointLocator locator_;
  geometry::TetBoundary boundary_;
  spatial::MeshQuery surface_;
};

// As probe() does, of a body made of the part mesh; `tet` of the values is one of that.
std::vector<ProbeValue> probe(const PartPoints& at, const CutMesh& cut, const PartMesh& parts,
                              std::span<const Vec3> displacements, const StressRecovery& recovery,
                              std::span<const Vec3> points);

}  // namespace sunder::fem
