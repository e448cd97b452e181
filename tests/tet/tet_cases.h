// Fields and meshes for tests of the room.
#pragma once

#include "sunder/base/random.h"
#include "sunder/geometry/mesh.h"
#include "sunder/geometry/tet_mesh.h"

#include "sdf/sdf_cases.h"

namespace sunder::tet {

using sdf::FunctionField;

inline FunctionField ballField() {
  return {[](const Vec3& p) { return p.norm() - 1; }, {Vec3::Constant(-1), Vec3::Constant(1)}};
}

// A hollow ball with a wall of 0.24.
inline FunctionField shellField() {
  return {[](const Vec3& p) { return std::abs(p.norm() - 0.88) - 0.12; },
          {Vec3::Constant(-1), Vec3::Constant(1)}};
}

// A sum of waves with random directions, in a box of side 2: caves and islands, no distance.
inline FunctionField waveField(uint64_t seed) {
  RandomStream random(seed, 77);
  std::vector<Vec3> direction;
  std::vector<double> phase;
  for (int i = 0; i < 6; ++i) {
    direction.push_back(random.uniform(2, 6) * random.unitVector());
    phase.push_back(random.uniform(0, 2 * kPi));
  }
  return {[direction, phase](const Vec3& p) {
            double sum = 0.3;
            for (size_t i = 0; i < direction.size(); ++i) sum += std::sin(direction[i].dot(p) + phase[i]);
            return sum / 6;
          },
          {Vec3::Constant(-1), Vec3::Constant(1)}};
}

// Tetrahedra turned positive.
inline void orient(geometry::TetMesh& mesh) { geometry::flipInverted(mesh); }

inline geometry::TetMesh regularTet() {
  geometry::TetMesh mesh;
  mesh.positions = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  mesh.tets = {{0, 1, 2, 3}};
  orient(mesh);
  return mesh;
}

// n^3 cubes of side 1, each of five tetrahedra (mirrored in turn) or six (Kuhn); inner points are moved by up
// to `jitter`.
inline geometry::TetMesh cubes(uint32_t n, bool kuhn, double jitter = 0, uint64_t seed = 0) {
  geometry::TetMesh mesh;
  RandomStream random(seed, 5);
  const auto id = [n](uint32_t x, uint32_t y, uint32_t z) { return x + (n + 1) * (y + (n + 1) * z); };
  for (uint32_t z = 0; z <= n; ++z)
    for (uint32_t y = 0; y <= n; ++y)
      for (uint32_t x = 0; x <= n; ++x) {
        Vec3 p(x, y, z);
        for (int d = 0; d < 3; ++d) {
          const double move = random.uniform(-jitter, jitter);
          if (p[d] > 0 && p[d] < n) p[d] += move;
        }
        mesh.positions.push_back(p);
      }
  for (uint32_t z = 0; z < n; ++z)
    for (uint32_t y = 0; y < n; ++y)
      for (uint32_t x = 0; x < n; ++x) {
        uint32_t c[8];
        const uint32_t flip = !kuhn && (x + y + z) % 2 == 1 ? 1 : 0;
        for (uint32_t k = 0; k < 8; ++k) c[k] = id(x + ((k & 1) ^ flip), y + (k >> 1 & 1), z + (k >> 2));
        if (kuhn) {
          static constexpr uint32_t kPaths[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
          for (const auto& path : kPaths) mesh.tets.push_back({c[0], c[path[0]], c[path[1]], c[7]});
        } else {
          mesh.tets.push_back({c[0], c[3], c[5], c[6]});
          mesh.tets.push_back({c[1], c[0], c[3], c[5]});
          mesh.tets.push_back({c[2], c[0], c[3], c[6]});
          mesh.tets.push_back({c[4], c[0], c[5], c[6]});
          mesh.tets.push_back({c[7], c[3], c[5], c[6]});
        }
      }
  orient(mesh);
  return mesh;
}

// The lattice tetrahedra between n^3 cubes.
inline geometry::TetMesh bccCells(uint32_t n) {
  geometry::TetMesh mesh;
  const auto corner = [n](uint32_t x, uint32_t y, uint32_t z) { return x + (n + 1) * (y + (n + 1) * z); };
  const uint32_t corners = (n + 1) * (n + 1) * (n + 1);
  const auto centre = [n, corners](const std::array<uint32_t, 3>& c) {
    return corners + c[0] + n * (c[1] + n * c[2]);
  };
  for (uint32_t z = 0; z <= n; ++z)
    for (uint32_t y = 0; y <= n; ++y)
      for (uint32_t x = 0; x <= n; ++x) mesh.positions.push_back(Vec3(x, y, z));
  for (uint32_t z = 0; z < n; ++z)
    for (uint32_t y = 0; y < n; ++y)
      for (uint32_t x = 0; x < n; ++x) mesh.positions.push_back(Vec3(x + 0.5, y + 0.5, z + 0.5));
  for (uint32_t z = 0; z < n; ++z)
    for (uint32_t y = 0; y < n; ++y)
      for (uint32_t x = 0; x < n; ++x)
        for (size_t axis = 0; axis < 3; ++axis) {
          std::array<uint32_t, 3> here{x, y, z}, there{x, y, z};
          if (++there[axis] == n) continue;
          for (uint32_t q = 0; q < 4; ++q) {
            uint32_t ends[2];
            for (uint32_t e = 0; e < 2; ++e) {
              static constexpr uint32_t kRing[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
              std::array<uint32_t, 3> k = there;
              k[(axis + 1) % 3] += kRing[(q + e) % 4][0];
              k[(axis + 2) % 3] += kRing[(q + e) % 4][1];
              ends[e] = corner(k[0], k[1], k[2]);
            }
            mesh.tets.push_back({centre(here), centre(there), ends[0], ends[1]});
          }
        }
  orient(mesh);
  return mesh;
}

}  // namespace sunder::tet
