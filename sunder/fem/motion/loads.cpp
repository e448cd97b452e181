#include "sunder/fem/motion/loads.h"

#include "sunder/base/error.h"
#include "sunder/geometry/tet_mesh.h"

#include <fmt/format.h>

namespace sunder::fem {

namespace {

double addFaceTraction(std::span<const Vec3> positions, const geometry::Triangle& face, const Vec3& traction,
                       std::vector<NodalForce>& forces) {
  for (const uint32_t v : face)
    if (v >= positions.size())
      throw Error(ErrorKind::Usage,
                  fmt::format("a traction at vertex {}, but there are {}", v, positions.size()));
  const Vec3& o = positions[face[0]];
  const Vec3 normal = (positions[face[1]] - o).cross(Vec3(positions[face[2]] - o));
  const double area = 0.5 * normal.norm();
  for (const uint32_t v : face) forces.push_back({v, area / 3 * traction});
  return area;
}

}  // namespace

void addTraction(const geometry::TriMesh& mesh, const Vec3& traction, std::vector<NodalForce>& forces) {
  for (const geometry::Triangle& face : mesh.triangles)
    addFaceTraction(mesh.positions, face, traction, forces);
}

double addTraction(const geometry::TetMesh& mesh, std::span<const uint8_t> on, const Vec3& traction,
                   std::vector<NodalForce>& forces) {
  if (on.size() != mesh.positions.size())
    throw Error(ErrorKind::Usage,
                fmt::format("marks of {} vertices for a mesh of {}", on.size(), mesh.positions.size()));
  const geometry::TetBoundary boundary = geometry::boundarySurface(mesh);
  double area = 0;
  for (const geometry::Triangle& t : boundary.surface.triangles) {
    const geometry::Triangle face{boundary.vertexSource[t[0]], boundary.vertexSource[t[1]],
                                  boundary.vertexSource[t[2]]};
    if (on[face[0]] && on[face[1]] && on[face[2]])
      area += addFaceTraction(mesh.positions, face, traction, forces);
  }
  return area;
}

}  // namespace sunder::fem
