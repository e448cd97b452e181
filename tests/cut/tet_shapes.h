// Random tetrahedra and sheets, and the polygons on a face of a tetrahedron that was cut.
#pragma once

#include "sunder/base/rotation.h"
#include "sunder/cut/tet/tet_cutter.h"
#include "sunder/geometry/tet_mesh.h"

#include "cut/cut_shapes.h"

#include <algorithm>
#include <set>

namespace sunder::cut::testing {

using Tet = std::array<Vec3, 4>;

inline double tetVolumeOf(const Tet& t) { return (t[1] - t[0]).dot((t[2] - t[0]).cross(t[3] - t[0])) / 6; }

inline Tet randomTet(RandomStream& random, bool aligned) {
  for (;;) {
    Tet t;
    for (Vec3& p : t)
      p = aligned ? Vec3(random.below(4), random.below(4), random.below(4))
                  : Vec3(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1));
    if (tetVolumeOf(t) < 0) std::swap(t[0], t[1]);
    if (tetVolumeOf(t) > 0.02) return t;
  }
}

// A sheet of 2 n^2 triangles over a square, level or with bumps.
inline geometry::TriMesh randomSheet(RandomStream& random, uint32_t n, double bumps, bool aligned) {
  geometry::TriMesh mesh;
  const Quat turn = rotationBetween(Vec3::UnitZ(), random.unitVector());
  const Vec3 at(random.uniform(-0.3, 0.3), random.uniform(-0.3, 0.3), random.uniform(-0.3, 0.3));
  const double width = aligned ? double(n) : random.uniform(0.5, 4);
  for (uint32_t i = 0; i <= n; ++i)
    for (uint32_t j = 0; j <= n; ++j) {
      if (aligned) {
        const Vec3 p(double(i), double(j), 1 + (bumps > 0 ? random.below(2) : 0));
        mesh.positions.push_back(p);
        continue;
      }
      const Vec3 p(width * (double(i) / n - 0.5), width * (double(j) / n - 0.5),
                   bumps * random.uniform(-1, 1));
      mesh.positions.push_back(turn * p + at);
    }
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t j = 0; j < n; ++j) {
      const uint32_t a = i * (n + 1) + j, b = a + n + 1;
      mesh.triangles.push_back({a, b, b + 1});
      mesh.triangles.push_back({a, b + 1, a + 1});
    }
  return mesh;
}

// The polygons of one face of a tetrahedron, each turned to its smallest form, as bits.
using Polygons = std::multiset<std::vector<std::array<double, 3>>>;
inline Polygons polygonsOn(const TetCut& cut, uint8_t face, bool turned) {
  Polygons all;
  for (const TetPiece& p : cut.pieces) {
    if (p.face != face) continue;
    std::vector<std::array<double, 3>> ring;
    for (const Vec3& c : cut.cornersOf(p)) ring.push_back({c.x(), c.y(), c.z()});
    if (turned) std::reverse(ring.begin(), ring.end());
    // A slit passes a corner twice, so only all corners tell the smallest turn of the ring.
    auto least = ring;
    for (size_t i = 1; i < ring.size(); ++i) {
      std::rotate(ring.begin(), ring.begin() + 1, ring.end());
      least = std::min(least, ring);
    }
    all.insert(least);
  }
  return all;
}

inline std::set<std::array<double, 3>> polygonCornersOf(const Polygons& polygons) {
  std::set<std::array<double, 3>> corners;
  for (const auto& ring : polygons) corners.insert(ring.begin(), ring.end());
  return corners;
}

}  // namespace sunder::cut::testing
