// Meshes and fields for tests of the room.
#pragma once

#include "sunder/base/random.h"
#include "sunder/fem/block_matrix.h"
#include "sunder/fem/body.h"
#include "sunder/fem/point_force.h"
#include "sunder/fem/principal.h"
#include "sunder/geometry/mesh.h"
#include "sunder/geometry/tet_mesh.h"

#include <algorithm>
#include <array>
#include <vector>

namespace sunder::fem {

inline const ElasticMaterial kGlass{7e10, 0.22, 2500};

// A block of nx * ny * nz boxes over [0, size], each of six tetrahedra; inner vertices are moved by up to
// `jitter` of a box. Mirrored in turn, so that no direction is favoured.
inline geometry::TetMesh blockMesh(std::array<uint32_t, 3> boxes, const Vec3& size, double jitter = 0,
                                   uint64_t seed = 0) {
  geometry::TetMesh mesh;
  RandomStream random(seed, 11);
  const uint32_t nx = boxes[0], ny = boxes[1], nz = boxes[2];
  const auto id = [&](uint32_t x, uint32_t y, uint32_t z) { return x + (nx + 1) * (y + (ny + 1) * z); };
  const Vec3 cell(size.x() / nx, size.y() / ny, size.z() / nz);
  for (uint32_t z = 0; z <= nz; ++z)
    for (uint32_t y = 0; y <= ny; ++y)
      for (uint32_t x = 0; x <= nx; ++x) {
        Vec3 p = Vec3(x, y, z).cwiseProduct(cell);
        const bool inside = x > 0 && x < nx && y > 0 && y < ny && z > 0 && z < nz;
        if (inside) p += jitter * random.pointIn({Vec3::Constant(-1), Vec3::Constant(1)}).cwiseProduct(cell);
        mesh.positions.push_back(p);
      }
  constexpr std::array<std::array<int, 3>, 6> kOrders{
      {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  for (uint32_t z = 0; z < nz; ++z)
    for (uint32_t y = 0; y < ny; ++y)
      for (uint32_t x = 0; x < nx; ++x) {
        const std::array<uint32_t, 3> odd{x % 2, y % 2, z % 2};
        for (const auto& order : kOrders) {
          std::array<uint32_t, 3> at = odd;
          geometry::Tetrahedron tet;
          for (size_t k = 0; k < 4; ++k) {
            tet[k] = id(x + at[0], y + at[1], z + at[2]);
            if (k < 3) at[size_t(order[k])] ^= 1;
          }
          mesh.tets.push_back(tet);
        }
      }
  geometry::flipInverted(mesh);
  return mesh;
}

inline Mat3 randomMatrix(RandomStream& random) {
  Mat3 m;
  for (int k = 0; k < 9; ++k) m.data()[k] = random.uniform(-1, 1);
  return m;
}

inline Stress hooke(const ElasticMaterial& material, const Mat3& gradient) {
  const Mat3 strain = 0.5 * (gradient + gradient.transpose());
  return voigt(2 * material.mu() * strain + material.lambda() * strain.trace() * Mat3::Identity());
}

inline std::vector<Vec3> affine(const geometry::TetMesh& mesh, const Mat3& a, const Vec3& b) {
  std::vector<Vec3> u;
  for (const Vec3& x : mesh.positions) u.push_back(a * x + b);
  return u;
}

// A force spread over the boundary faces whose vertices all satisfy `on`, by area.
template <class On>
std::vector<NodalForce> spread(const geometry::TetMesh& mesh, const Vec3& force, const On& on) {
  const geometry::TetBoundary boundary = geometry::boundarySurface(mesh);
  std::vector<NodalForce> forces;
  double area = 0;
  for (const geometry::Triangle& t : boundary.surface.triangles) {
    const auto at = [&](size_t k) { return boundary.surface.positions[t[k]]; };
    if (!on(at(0)) || !on(at(1)) || !on(at(2))) continue;
    const double share = 0.5 * (at(1) - at(0)).cross(at(2) - at(0)).norm();
    area += share;
    for (const uint32_t v : t) forces.push_back({boundary.vertexSource[v], share / 3 * force});
  }
  for (NodalForce& f : forces) f.force /= area;
  return forces;
}

// All of it, the upper half included.
inline Eigen::MatrixXd full(const BlockMatrix& matrix) {
  const auto n = static_cast<Eigen::Index>(3 * matrix.rows());
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(n, n);
  for (uint32_t i = 0; i < matrix.rows(); ++i) {
    uint32_t slot = matrix.pattern().lowerStart(i);
    for (const uint32_t j : matrix.pattern().lowerRow(i)) {
      result.block<3, 3>(3 * i, 3 * j) = matrix.block(slot);
      result.block<3, 3>(3 * j, 3 * i) = matrix.block(slot++).transpose();
    }
  }
  return result;
}

}  // namespace sunder::fem
