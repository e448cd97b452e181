// Solids in cages, and what their pieces must be, for tests of walls and spheres.
#pragma once

#include "sunder/base/random.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/shapes/extrude.h"
#include "sunder/shapes/lathe.h"
#include "sunder/shapes/round.h"
#include "sunder/shapes/tube.h"
#include "sunder/shapes/wall.h"
#include "sunder/soft/walls/pieces.h"

#include "fem/fem_cases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace sunder::soft {

// A cage of n boxes along each axis over [-1, 1]^3, six tetrahedra each.
inline Cage boxCage(uint32_t n, double jitter = 0, const Vec3& half = Vec3::Ones()) {
  geometry::TetMesh mesh = fem::blockMesh({n, n, n}, 2 * half, jitter, 7);
  for (Vec3& x : mesh.positions) x -= half;
  return makeCage(std::move(mesh));
}

inline geometry::TriMesh turned(geometry::TriMesh mesh, uint64_t seed, double scale = 1) {
  RandomStream random(seed, 3);
  Vec4 q;
  for (int k = 0; k < 4; ++k) q[k] = random.uniform(-1, 1);
  const Mat3 r = Quat(q[0], q[1], q[2], q[3]).normalized().toRotationMatrix();
  for (Vec3& x : mesh.positions) x = scale * (r * x);
  return mesh;
}

inline geometry::TriMesh moved(geometry::TriMesh mesh, const Vec3& by, double scale = 1) {
  for (Vec3& x : mesh.positions) x = scale * x + by;
  return mesh;
}

inline geometry::TriMesh insideOut(geometry::TriMesh mesh) {
  for (geometry::Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
  return mesh;
}

inline geometry::TriMesh both(geometry::TriMesh a, const geometry::TriMesh& b) {
  const auto base = static_cast<uint32_t>(a.positions.size());
  a.positions.insert(a.positions.end(), b.positions.begin(), b.positions.end());
  for (const geometry::Triangle& t : b.triangles)
    a.triangles.push_back({t[0] + base, t[1] + base, t[2] + base});
  return a;
}

// A head with two ears, star-shaped.
inline geometry::TriMesh earedHead(int frequency = 16) {
  geometry::TriMesh mesh = shapes::makeIcosphere({.radius = 1, .frequency = frequency});
  const std::array<Vec3, 2> ears{Vec3(0.35, 0.9, 0.1).normalized(), Vec3(-0.35, 0.9, 0.1).normalized()};
  for (Vec3& x : mesh.positions) {
    double r = 0.42 * (1 + 0.15 * x.z());
    for (const Vec3& ear : ears) r += 0.5 / (1 + 60 * (x - ear).squaredNorm());
    x *= r;
  }
  return mesh;
}

// Two fingers on a palm, seen as the letter U.
inline geometry::TriMesh twoFingers(double gap = 0.12) {
  shapes::Outline outline;
  outline.outer = {{-0.5, -0.7},    {0.5, -0.7},      {0.5, 0.7},      {gap / 2, 0.7},
                   {gap / 2, -0.3}, {-gap / 2, -0.3}, {-gap / 2, 0.7}, {-0.5, 0.7}};
  return shapes::splitTriangles(shapes::extrude(outline, 0.4, 2), 3);
}

struct Embedded {
  geometry::TriMesh surface;
  Cage cage;
  SurfaceCopies copies;
  Walls walls;
  std::vector<PieceMoments> pieces;

  Embedded(geometry::TriMesh mesh, Cage given)
      : surface(std::move(mesh)),
        cage(std::move(given)),
        copies(assignSurface(surface, cage)),
        walls(makeWalls(surface, cage, copies)),
        pieces(pieceMoments(cage, copies, walls)) {}

  double tetVolume(uint32_t t) const {
    const geometry::Tetrahedron& c = cage.rest.tets[t];
    return geometry::signedVolume(cage.rest.positions[c[0]], cage.rest.positions[c[1]],
                                  cage.rest.positions[c[2]], cage.rest.positions[c[3]]);
  }
  double volume() const {
    double sum = 0;
    for (const PieceMoments& p : pieces) sum += p.volume;
    return sum;
  }
  double solidVolume() const { return geometry::massProperties(surface).volume; }
  double worstOpen() const {
    double worst = 0;
    for (const PieceMoments& p : pieces) worst = std::max(worst, p.open.norm());
    return worst;
  }
  // Tetrahedra that hold less than nothing or more than they are.
  size_t impossible() const {
    size_t count = 0;
    for (uint32_t t = 0; t < pieces.size(); ++t)
      if (!(pieces[t].volume >= -1e-12 && pieces[t].volume <= tetVolume(t) * (1 + 1e-10))) ++count;
    return count;
  }
  // Edges of the pieces' triangles that no triangle of the same piece has the other way round.
  size_t openEdges() const {
    using Point = std::array<double, 3>;
    size_t open = 0;
    std::vector<std::array<Vec3, 3>> triangles;
    for (uint32_t t = 0; t < pieces.size(); ++t) {
      pieceTriangles(cage, copies, walls, t, triangles);
      std::vector<std::pair<std::pair<Point, Point>, int>> edges;
      for (const std::array<Vec3, 3>& corners : triangles)
        for (size_t k = 0; k < 3; ++k) {
          const Vec3 &a = corners[k], &b = corners[(k + 1) % 3];
          const Point p{a.x(), a.y(), a.z()}, q{b.x(), b.y(), b.z()};
          if (p < q) edges.push_back({{p, q}, 1});
          if (q < p) edges.push_back({{q, p}, -1});
        }
      std::sort(edges.begin(), edges.end());
      for (size_t i = 0; i < edges.size();) {
        int sum = 0;
        const auto key = edges[i].first;
        for (; i < edges.size() && edges[i].first == key; ++i) sum += edges[i].second;
        open += static_cast<size_t>(std::abs(sum));
      }
    }
    return open;
  }
};

struct NamedMesh {
  std::string name;
  geometry::TriMesh mesh;
};

// Within [-0.95, 0.95]^3 in any direction.
inline std::vector<NamedMesh> solids() {
  return {{"sphere", shapes::makeIcosphere({.radius = 0.9, .frequency = 8})},
          {"torus", shapes::makeTorus({.radius = 0.6, .tube = 0.25, .segments = 32, .sides = 16})},
          {"ears", earedHead(12)},
          {"fingers", twoFingers()},
          {"box", shapes::makeBox({.size = Vec3(0.9, 1.1, 0.7)})},
          {"ripples", moved(shapes::makeRippledSphere({.n = 16}), Vec3::Zero(), 0.6)}};
}

}  // namespace sunder::soft
