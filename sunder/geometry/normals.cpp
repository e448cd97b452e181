#include "sunder/geometry/normals.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include <cmath>

namespace sunder::geometry {

namespace {

Vec3 unitOrZero(const Vec3& v) {
  const double length = v.norm();
  return length > 0 && std::isfinite(length) ? Vec3(v / length) : Vec3(Vec3::Zero());
}

void requireOnePerFace(const MeshView& mesh, std::span<const Vec3> faceNormals) {
  if (faceNormals.size() != mesh.faceCount()) throw Error(ErrorKind::Usage, "one normal per face is needed");
}

}  // namespace

std::vector<Vec3> faceNormals(const MeshView& mesh) {
  requireValid(mesh);
  std::vector<Vec3> normals(mesh.faceCount());
  parallelFor(normals.size(), [&](size_t f) {
    normals[f] = hasNoArea(mesh, f) ? Vec3(Vec3::Zero()) : unitOrZero(vectorArea(mesh, f));
  });
  return normals;
}

double cornerAngle(const MeshView& mesh, size_t face, uint32_t corner, const Vec3& faceNormal) {
  const Vec3 out = mesh.at(mesh.next(face, corner)) - mesh.at(corner);
  const Vec3 back = mesh.at(mesh.previous(face, corner)) - mesh.at(corner);
  const Vec3 cross = out.cross(back);
  const double angle = std::atan2(cross.norm(), out.dot(back));
  return cross.dot(faceNormal) < 0 ? 2 * kPi - angle : angle;
}

std::vector<Vec3> vertexNormals(const MeshView& mesh) { return vertexNormals(mesh, faceNormals(mesh)); }

std::vector<Vec3> vertexNormals(const MeshView& mesh, std::span<const Vec3> faceNormals) {
  requireOnePerFace(mesh, faceNormals);
  const Rows corners = vertexCorners(mesh);
  const std::vector<uint32_t> faces = cornerFaces(mesh);
  std::vector<Vec3> normals(mesh.positions.size());
  parallelFor(normals.size(), [&](size_t v) {
    Vec3 sum = Vec3::Zero();
    for (uint32_t c : corners.row(v)) {
      const Vec3& n = faceNormals[faces[c]];
      if (!n.isZero(0)) sum += cornerAngle(mesh, faces[c], c, n) * n;
    }
    normals[v] = unitOrZero(sum);
  });
  return normals;
}

std::vector<Vec3> edgeNormals(const MeshView& mesh, const EdgeAdjacency& edges,
                              std::span<const Vec3> faceNormals) {
  requireOnePerFace(mesh, faceNormals);
  std::vector<Vec3> normals(edges.size());
  parallelFor(edges.size(), [&](size_t e) {
    Vec3 sum = Vec3::Zero();
    for (const EdgeUse& use : edges.uses.row(e)) sum += faceNormals[use.face];
    normals[e] = unitOrZero(sum);
  });
  return normals;
}

}  // namespace sunder::geometry
