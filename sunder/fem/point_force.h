// Forces at points of a body's surface as forces at its vertices: barycentric shares of the nearest boundary
// triangle (specification 07, M2). The sum of forces is kept to rounding; so is the torque where the point
// lies on the surface, and otherwise it is that of the same force at the nearest point. A point at a vertex
// puts all of the force there.
#pragma once

#include "sunder/geometry/tet_mesh.h"
#include "sunder/spatial/query/mesh_queries.h"

#include <span>
#include <vector>

namespace sunder::fem {

struct NodalForce {
  uint32_t vertex;
  Vec3 force;
};

class SurfaceForces {
 public:
  explicit SurfaceForces(const geometry::TetMesh& mesh);

  // Adds up to three entries; returns the distance from the point to the surface. Throws Error (Usage) for
  // numbers that are not finite.
  double add(const Vec3& point, const Vec3& force, std::vector<NodalForce>& forces) const;

  const geometry::TetBoundary& boundary() const { return boundary_; }

 private:
  geometry::TetBoundary boundary_;
  spatial::MeshQuery query_;
};

}  // namespace sunder::fem
