#include "sunder/fem/probe.h"

#include "sunder/tet/point_location.h"

namespace sunder::fem {

std::vector<ProbeValue> probe(const ElasticBody& body, std::span<const Vec3> displacements,
                              const StressRecovery& recovery, std::span<const Vec3> points) {
  const tet::PointLocator locator(body.mesh());
  std::vector<tet::TetLocation> places(points.size());
  locator.locate(points, places);
  std::vector<ProbeValue> values(points.size());
  std::vector<Stress> stresses(points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    values[i].tet = places[i].tet;
    values[i].distance = places[i].distance;
    const geometry::Tetrahedron& vertices = body.mesh().tets[places[i].tet];
    for (size_t k = 0; k < 4; ++k) {
      const double weight = places[i].barycentric[Eigen::Index(k)];
      values[i].displacement += weight * displacements[vertices[k]];
      values[i].stress += weight * recovery.vertices()[vertices[k]];
    }
    stresses[i] = values[i].stress;
  }
  std::vector<Principal> principals(points.size());
  principalStresses(stresses, {}, principals);
  for (size_t i = 0; i < points.size(); ++i) values[i].principal = principals[i];
  return values;
}

}  // namespace sunder::fem
