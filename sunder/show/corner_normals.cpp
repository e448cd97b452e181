#include "sunder/show/corner_normals.h"

#include "sunder/base/parallel.h"
#include "sunder/geometry/normals.h"

#include <algorithm>
#include <cmath>

namespace sunder::show {

namespace {

constexpr size_t kManyFaces = 512;  // of a vertex: to compare each with each would take too long
constexpr int kCells = 16;          // along the sides of a cube of directions

// Faces of a vertex that point about the same way.
struct Gathered {
  Vec3 direction = Vec3::Zero(), sum = Vec3::Zero();  // of unit length; normals weighed by their angles
  size_t cell = 0;
};

// On a cube, so that a cell is 9 degrees wide at most.
size_t cellOf(const Vec3& direction) {
  int axis = 0;
  const double largest = direction.cwiseAbs().maxCoeff(&axis);
  const auto along = [&](int k) {
    return size_t(std::clamp(int(kCells * 0.5 * (direction[(axis + k) % 3] / largest + 1)), 0, kCells - 1));
  };
  return (size_t(2 * axis + (direction[axis] < 0 ? 1 : 0)) * kCells + along(1)) * kCells + along(2);
}

std::vector<Gathered> gather(const geometry::MeshView& view, std::span<const Vec3> faces,
                             std::span<const uint32_t> corners) {
  std::vector<Gathered> all(6 * kCells * kCells);
  for (const uint32_t corner : corners) {
    const Vec3& normal = faces[corner / 3];
    if (normal.isZero(0)) continue;
    Gathered& cell = all[cellOf(normal)];
    cell.direction += normal;
    cell.sum += normal * geometry::cornerAngle(view, corner / 3, corner, normal);
  }
  std::vector<Gathered> found;
  for (size_t i = 0; i < all.size(); ++i)
    if (!all[i].direction.isZero(0)) found.push_back({all[i].direction.normalized(), all[i].sum, i});
  return found;
}

}  // namespace

std::vector<Vec3f> cornerNormals(const geometry::TriMesh& mesh, double creaseAngle,
                                 std::span<const Vec3f> rest) {
  const geometry::MeshView view(mesh);
  const std::vector<Vec3> faces = geometry::faceNormals(view);
  std::vector<Vec3> atRest;
  if (rest.size() == mesh.positions.size() && !rest.empty()) {
    geometry::TriMesh resting;
    for (const Vec3f& p : rest) resting.positions.push_back(p.cast<double>());
    resting.triangles = mesh.triangles;
    atRest = geometry::faceNormals(geometry::MeshView(resting));
  }
  const std::vector<Vec3>& judged = atRest.empty() ? faces : atRest;
  const geometry::Rows corners = geometry::vertexCorners(view);
  std::vector<Vec3f> normals(mesh.triangles.size() * 3);
  const double least = creaseAngle > 0 ? std::cos(creaseAngle * kPi / 180) : 2;
  std::vector<std::vector<Gathered>> gathered(mesh.positions.size());
  parallelFor(mesh.positions.size(), [&](size_t v) {
    if (corners.row(v).size() > kManyFaces) gathered[v] = gather(view, faces, corners.row(v));
  });
  parallelFor(mesh.triangles.size(), [&](size_t f) {
    for (uint32_t k = 0; k < 3; ++k) {
      const uint32_t v = mesh.triangles[f][k];
      Vec3 sum = Vec3::Zero();
      if (least > 1) {
        for (uint32_t own = 0; own < 3; ++own)
          if (mesh.triangles[f][own] == v)
            sum += faces[f] * geometry::cornerAngle(view, f, uint32_t(f * 3 + own), faces[f]);
      } else if (corners.row(v).size() > kManyFaces) {
        const size_t own = faces[f].isZero(0) ? SIZE_MAX : cellOf(faces[f]);
        for (const Gathered& cell : gathered[v])
          if (cell.cell == own || cell.direction.dot(faces[f]) >= least) sum += cell.sum;
      } else {
        for (const uint32_t corner : corners.row(v)) {
          const uint32_t other = corner / 3;
          if (other == f || judged[other].dot(judged[f]) >= least)
            sum += faces[other] * geometry::cornerAngle(view, other, corner, faces[other]);
        }
      }
      const double length = sum.norm();
      normals[f * 3 + k] = (length > 0 ? Vec3(sum / length) : faces[f]).cast<float>();
    }
  });
  return normals;
}

}  // namespace sunder::show
