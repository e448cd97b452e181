#include "sunder/fem/point_force.h"

#include "sunder/base/error.h"

#include <cmath>

namespace sunder::fem {

SurfaceForces::SurfaceForces(const geometry::TetMesh& mesh)
    : boundary_(geometry::boundarySurface(mesh)), query_(boundary_.surface) {}

double SurfaceForces::add(const Vec3& point, const Vec3& force, std::vector<NodalForce>& forces) const {
  if (!point.allFinite() || !force.allFinite())
    throw Error(ErrorKind::Usage, "a force or the point it acts at is not finite");
  if (query_.empty()) throw Error(ErrorKind::Geometry, "a body without surface takes no force");
  const spatial::ClosestPoint closest = query_.closest(point);
  const geometry::Triangle& triangle = boundary_.surface.triangles[closest.triangle];
  for (int k = 0; k < 3; ++k)
    if (closest.barycentric[k] != 0)
      forces.push_back({boundary_.vertexSource[triangle[size_t(k)]], closest.barycentric[k] * force});
  return std::sqrt(closest.squaredDistance);
}

}  // namespace sunder::fem
