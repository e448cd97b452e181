// Solids that several tests of soft bodies put into cages.
#pragma once

#include "sunder/base/math.h"
#include "sunder/geometry/adjacency.h"
#include "sunder/geometry/mesh.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/sdf/field_combine.h"
#include "sunder/sdf/isosurface.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace sunder::soft {

// A sphere of 20 * 4^levels triangles: an icosahedron whose triangles are split at the middles of their
// edges, which move to the sphere.
inline geometry::TriMesh splitSphere(double radius, int levels) {
  const double g = (1 + std::sqrt(5.0)) / 2;
  geometry::TriMesh mesh;
  mesh.positions = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                    {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
  mesh.triangles = {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
                    {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
                    {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
  for (Vec3& p : mesh.positions) p.normalize();
  for (int level = 0; level < levels; ++level) {
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> middles;
    std::vector<geometry::Triangle> finer;
    const auto middle = [&](uint32_t a, uint32_t b) {
      const auto [place, added] =
          middles.try_emplace({std::min(a, b), std::max(a, b)}, uint32_t(mesh.positions.size()));
      if (added) mesh.positions.push_back((mesh.positions[a] + mesh.positions[b]).normalized());
      return place->second;
    };
    for (const geometry::Triangle& t : mesh.triangles) {
      const uint32_t a = middle(t[0], t[1]), b = middle(t[1], t[2]), c = middle(t[2], t[0]);
      finer.insert(finer.end(), {{t[0], a, c}, {t[1], b, a}, {t[2], c, b}, {a, b, c}});
    }
    mesh.triangles = std::move(finer);
  }
  for (Vec3& p : mesh.positions) p *= radius;
  return mesh;
}

// The rabbit of scenes/rabbits.json as a mesh; 0.0159 m give about 5,000 triangles. Vertices are evened out,
// as those of simplified scans are.
inline geometry::TriMesh rabbit(double edge) {
  using namespace sdf;
  const std::vector<FieldPtr> parts{makeEllipsoidField({-0.01, 0.06, 0}, {0.075, 0.06, 0.055}),
                                    makeSphereField({0.06, 0.12, 0}, 0.04),
                                    makeCapsuleField({0.045, 0.145, 0.014}, {0.01, 0.215, 0.032}, 0.014),
                                    makeCapsuleField({0.045, 0.145, -0.014}, {0.01, 0.215, -0.032}, 0.014),
                                    makeSphereField({-0.085, 0.05, 0}, 0.024),
                                    makeCapsuleField({0.03, 0.02, 0.03}, {0.065, 0.016, 0.034}, 0.018),
                                    makeCapsuleField({0.03, 0.02, -0.03}, {0.065, 0.016, -0.034}, 0.018),
                                    makeCapsuleField({-0.05, 0.025, 0.045}, {0.0, 0.018, 0.052}, 0.02),
                                    makeCapsuleField({-0.05, 0.025, -0.045}, {0.0, 0.018, -0.052}, 0.02)};
  FieldPtr field = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) field = makeSmoothUnion(field, parts[i], 0.02);
  IsosurfaceReport report;
  geometry::TriMesh mesh = isosurface(*field, {.edge = edge}, report);
  const geometry::EdgeAdjacency edges = geometry::edgeAdjacency(mesh);
  std::vector<FieldSample> samples(mesh.positions.size());
  for (int round = 0; round < 12; ++round) {
    std::vector<Vec3> sum(mesh.positions.size(), Vec3::Zero());
    std::vector<double> count(mesh.positions.size(), 0);
    for (const auto& [a, b] : edges.edges) {
      sum[a] += mesh.positions[b];
      sum[b] += mesh.positions[a];
      ++count[a];
      ++count[b];
    }
    for (size_t v = 0; v < sum.size(); ++v) mesh.positions[v] = sum[v] / count[v];
    field->samples(mesh.positions, samples);
    for (size_t v = 0; v < sum.size(); ++v)
      mesh.positions[v] -= samples[v].value * samples[v].gradient / samples[v].gradient.squaredNorm();
  }
  return mesh;
}

// Cubes of n^3 cells from -1 to 1, six tetrahedra each around the diagonal from the lowest corner (Kuhn).
inline geometry::TetMesh kuhnCage(int n) {
  geometry::TetMesh mesh;
  const auto node = [&](const std::array<int, 3>& c) {
    return uint32_t((c[2] * (n + 1) + c[1]) * (n + 1) + c[0]);
  };
  for (int k = 0; k <= n; ++k)
    for (int j = 0; j <= n; ++j)
      for (int i = 0; i <= n; ++i)
        mesh.positions.push_back(Vec3(2.0 * i / n - 1, 2.0 * j / n - 1, 2.0 * k / n - 1));
  std::array<int, 3> axes{0, 1, 2};
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        axes = {0, 1, 2};
        do {
          std::array<int, 3> c{i, j, k};
          geometry::Tetrahedron tet{node(c)};
          for (size_t s = 0; s < 3; ++s) {
            ++c[size_t(axes[s])];
            tet[s + 1] = node(c);
          }
          if (geometry::signedVolume(mesh.positions[tet[0]], mesh.positions[tet[1]], mesh.positions[tet[2]],
                                     mesh.positions[tet[3]]) < 0)
            std::swap(tet[2], tet[3]);
          mesh.tets.push_back(tet);
        } while (std::next_permutation(axes.begin(), axes.end()));
      }
  return mesh;
}

inline geometry::TriMesh box(const Vec3& low, const Vec3& high) {
  geometry::TriMesh mesh;
  for (int i = 0; i < 8; ++i)
    mesh.positions.push_back(
        {i & 1 ? high.x() : low.x(), i & 2 ? high.y() : low.y(), i & 4 ? high.z() : low.z()});
  mesh.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                    {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return mesh;
}

// Both in one mesh.
inline geometry::TriMesh together(const geometry::TriMesh& a, const geometry::TriMesh& b) {
  geometry::TriMesh mesh = a;
  const auto shift = uint32_t(a.positions.size());
  mesh.positions.insert(mesh.positions.end(), b.positions.begin(), b.positions.end());
  for (const geometry::Triangle& t : b.triangles)
    mesh.triangles.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
  return mesh;
}

inline double areaOf(const geometry::TriMesh& mesh, uint32_t t) {
  const geometry::Triangle& v = mesh.triangles[t];
  const Vec3& a = mesh.positions[v[0]];
  return 0.5 * (mesh.positions[v[1]] - a).cross(mesh.positions[v[2]] - a).norm();
}

}  // namespace sunder::soft
