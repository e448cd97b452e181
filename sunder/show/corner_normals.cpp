#include "sunder/show/corner_normals.h"

#include "sunder/base/parallel.h"
#include "sunder/geometry/normals.h"

#include <cmath>

namespace sunder::show {

std::vector<Vec3f> cornerNormals(const geometry::TriMesh& mesh, double creaseAngle) {
  const geometry::MeshView view(mesh);
  const std::vector<Vec3> faces = geometry::faceNormals(view);
  const geometry::Rows corners = geometry::vertexCorners(view);
  std::vector<Vec3f> normals(mesh.triangles.size() * 3);
  const double least = creaseAngle > 0 ? std::cos(creaseAngle * kPi / 180) : 2;
  parallelFor(mesh.triangles.size(), [&](size_t f) {
    for (uint32_t k = 0; k < 3; ++k) {
      Vec3 sum = Vec3::Zero();
      for (const uint32_t corner : corners.row(mesh.triangles[f][k])) {
        const uint32_t other = corner / 3;
        if (other == f || faces[other].dot(faces[f]) >= least)
          sum += faces[other] * geometry::cornerAngle(view, other, corner, faces[other]);
      }
      const double length = sum.norm();
      normals[f * 3 + k] = (length > 0 ? Vec3(sum / length) : faces[f]).cast<float>();
    }
  });
  return normals;
}

}  // namespace sunder::show
