// Sheets to cut meshes with, and a mesh of one inner vertex.
#pragma once

#include "sunder/base/rotation.h"
#include "sunder/geometry/predicates.h"

#include "fem/fem_cases.h"

namespace sunder::fem {

// Two triangles of forty metres. Lengths here are odd, so that diagonals do not run through points of grids.
inline geometry::TriMesh plane(const Vec3& at, const Vec3& normal) {
  const Vec3 n = normal.normalized();
  // Exact for normals along an axis.
  Vec3 u = n.unitOrthogonal(), v = n.cross(u);
  for (int k = 0; k < 3; ++k)
    if (std::abs(n[k]) == 1) {
      u = Vec3::Unit((k + 1) % 3);
      v = n[k] * Vec3::Unit((k + 2) % 3);
    }
  geometry::TriMesh mesh;
  mesh.positions = {at - 20.3 * u - 20.1 * v, at + 19.7 * u - 20.9 * v, at + 20.4 * u + 19.6 * v,
                    at - 20.8 * u + 20.2 * v};
  mesh.triangles = {{0, 1, 2}, {0, 2, 3}};
  return mesh;
}

inline geometry::TriMesh octahedron(const Vec3& at, double radius) {
  geometry::TriMesh mesh;
  for (int k = 0; k < 3; ++k)
    for (const double s : {radius, -radius}) mesh.positions.push_back(at + s * Vec3::Unit(k));
  mesh.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  return mesh;
}

// Planes across x, joined to one sheet outside by turns above and below `height`.
inline geometry::TriMesh accordion(const std::vector<double>& at, double height) {
  geometry::TriMesh mesh;
  std::vector<Vec2> line;
  for (size_t i = 0; i < at.size(); ++i)
    for (const bool up : {i % 2 == 0, i % 2 != 0}) line.push_back({at[i], up ? -height : height});
  for (const Vec2& p : line)
    for (const double z : {-20.31, 21.47}) mesh.positions.push_back({p.x(), p.y(), z});
  for (uint32_t i = 0; i + 1 < line.size(); ++i) {
    mesh.triangles.push_back({2 * i, 2 * i + 2, 2 * i + 3});
    mesh.triangles.push_back({2 * i, 2 * i + 3, 2 * i + 1});
  }
  return mesh;
}

// A square tube along z, wide twice the radius.
inline geometry::TriMesh tube(const Vec3& at, double radius) {
  geometry::TriMesh mesh;
  for (const double z : {-20.31, 21.47})
    for (const Vec2& p : {Vec2(-1, -1), Vec2(1, -1), Vec2(1, 1), Vec2(-1, 1)})
      mesh.positions.push_back({at.x() + radius * p.x(), at.y() + radius * p.y(), z});
  for (uint32_t k = 0; k < 4; ++k) {
    const uint32_t next = (k + 1) % 4;
    mesh.triangles.push_back({k, next, next + 4});
    mesh.triangles.push_back({k, next + 4, k + 4});
  }
  return mesh;
}

// A square with bumps in a random place of a block of three metres.
inline geometry::TriMesh randomSheet(RandomStream& random, double halfWidth, uint32_t n, double bumps = 0.1) {
  geometry::TriMesh mesh;
  const Quat turn = rotationBetween(Vec3::UnitZ(), random.unitVector());
  const Vec3 at = random.pointIn({Vec3::Constant(0.3), Vec3::Constant(2.7)});
  for (uint32_t i = 0; i <= n; ++i)
    for (uint32_t j = 0; j <= n; ++j) {
      const double bump = bumps * random.uniform(-1, 1);
      mesh.positions.push_back(
          at + turn * Vec3(halfWidth * (2.0 * i / n - 1), halfWidth * (2.0 * j / n - 1), bump));
    }
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t j = 0; j < n; ++j) {
      const uint32_t a = i * (n + 1) + j, b = a + n + 1;
      mesh.triangles.push_back({a, b, b + 1});
      mesh.triangles.push_back({a, b + 1, a + 1});
    }
  return mesh;
}

// The cube [-1, 1]^3 as twelve tetrahedra around its middle, vertex 8.
inline geometry::TetMesh starMesh() {
  geometry::TetMesh mesh;
  for (uint32_t v = 0; v < 8; ++v)
    mesh.positions.push_back({v & 1 ? 1.0 : -1.0, v & 2 ? 1.0 : -1.0, v & 4 ? 1.0 : -1.0});
  mesh.positions.push_back(Vec3::Zero());
  constexpr std::array<std::array<uint32_t, 4>, 6> kSides{
      {{0, 2, 6, 4}, {1, 5, 7, 3}, {0, 4, 5, 1}, {2, 3, 7, 6}, {0, 1, 3, 2}, {4, 6, 7, 5}}};
  for (const auto& s : kSides) {
    mesh.tets.push_back({s[0], s[1], s[2], 8});
    mesh.tets.push_back({s[0], s[2], s[3], 8});
  }
  geometry::flipInverted(mesh);
  return mesh;
}

inline bool crossesSheet(const Vec3& p, const Vec3& q, const std::vector<geometry::TriMesh>& meshes) {
  using geometry::orient3d;
  for (const auto& mesh : meshes)
    for (const auto& t : mesh.triangles) {
      const Vec3 &a = mesh.positions[t[0]], &b = mesh.positions[t[1]], &c = mesh.positions[t[2]];
      if ((orient3d(a, b, c, p) > 0) == (orient3d(a, b, c, q) > 0)) continue;
      const bool s = orient3d(p, q, a, b) > 0;
      if ((orient3d(p, q, b, c) > 0) == s && (orient3d(p, q, c, a) > 0) == s) return true;
    }
  return false;
}

}  // namespace sunder::fem
