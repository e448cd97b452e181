// Soft bodies with spheres for tests of contact.
#pragma once

#include "sunder/base/error.h"
#include "sunder/base/index.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/soft/contact/sphere_contacts.h"

#include "fem/fem_cases.h"

#include <array>
#include <cmath>
#include <vector>

#include <Eigen/LU>

namespace sunder::soft {

inline std::array<double, 4> weightsAt(const geometry::TetMesh& mesh, uint32_t tet, const Vec3& point) {
  const geometry::Tetrahedron& t = mesh.tets[tet];
  Mat3 edges;
  for (int k = 0; k < 3; ++k) edges.col(k) = mesh.positions[t[size_t(k) + 1]] - mesh.positions[t[0]];
  const Vec3 w = edges.inverse() * (point - mesh.positions[t[0]]);
  return {1 - w.sum(), w[0], w[1], w[2]};
}

// Spheres that touch the surface from inside, n (n + 1) / 2 for each of its triangles.
inline std::vector<ContactSphere> surfaceSpheres(const geometry::TetMesh& mesh, int n, double radius,
                                                 uint32_t body = 0) {
  std::vector<ContactSphere> spheres;
  const geometry::TetBoundary boundary = geometry::boundarySurface(mesh);
  for (size_t f = 0; f < boundary.surface.triangles.size(); ++f) {
    const geometry::Triangle& triangle = boundary.surface.triangles[f];
    const Vec3 &a = boundary.surface.positions[triangle[0]], &b = boundary.surface.positions[triangle[1]],
               &c = boundary.surface.positions[triangle[2]];
    const Vec3 normal = (b - a).cross(c - a).normalized();
    for (int i = 0; i < n; ++i)
      for (int j = 0; i + j < n; ++j) {
        const double u = (i + 1 / 3.0) / n, v = (j + 1 / 3.0) / n;
        const Vec3 centre = a + u * (b - a) + v * (c - a) - radius * normal;
        spheres.push_back({boundary.faceTet[f], weightsAt(mesh, boundary.faceTet[f], centre), radius, body});
      }
  }
  return spheres;
}

inline std::vector<double> lumped(const geometry::TetMesh& mesh, double density) {
  std::vector<double> masses(mesh.positions.size(), 0);
  for (const geometry::Tetrahedron& t : mesh.tets) {
    const double volume = geometry::signedVolume(mesh.positions[t[0]], mesh.positions[t[1]],
                                                 mesh.positions[t[2]], mesh.positions[t[3]]);
    for (const uint32_t v : t) masses[v] += 0.25 * density * volume;
  }
  return masses;
}

// One mesh behind another.
inline void append(geometry::TetMesh& mesh, const geometry::TetMesh& more, const Vec3& offset) {
  const auto first = static_cast<uint32_t>(mesh.positions.size());
  for (const Vec3& p : more.positions) mesh.positions.push_back(p + offset);
  for (geometry::Tetrahedron t : more.tets) {
    for (uint32_t& v : t) v += first;
    mesh.tets.push_back(t);
  }
}

inline ObstacleBody ground(double height = 0, double friction = 0.5) {
  ObstacleBody body;
  body.shape = makePlaneObstacle(Vec3::UnitY(), height);
  body.key = 1000;
  body.friction = friction;
  return body;
}

inline ObstacleBody ball(const Vec3& centre, double radius, double density, const Vec3& velocity) {
  ObstacleBody body;
  body.shape = makeSphereObstacle(Vec3::Zero(), radius);
  body.key = 2000;
  body.before.position = body.after.position = centre;
  body.velocity = velocity;
  const double mass = density * 4 / 3 * kPi * radius * radius * radius;
  body.inverseMass = 1 / mass;
  body.inertia = 0.4 * mass * radius * radius * Mat3::Identity();
  return body;
}

}  // namespace sunder::soft
