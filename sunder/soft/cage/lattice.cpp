#include "sunder/soft/cage/lattice.h"

#include "sunder/geometry/tet_mesh.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace sunder::soft {

namespace {

// The ends of the edges of a square, in the two axes after the one that is normal to it.
constexpr int kSquareEdges[4][2][2] = {
    {{0, 0}, {1, 0}}, {{1, 0}, {1, 1}}, {{1, 1}, {0, 1}}, {{0, 1}, {0, 0}}};

}  // namespace

LatticeTet Lattice::holder(const Vec3& point) const {
  const Vec3 q = toLattice(point);
  LatticeTet tet;
  Vec3 d;
  for (int k = 0; k < 3; ++k) {
    const double cell = std::floor(q[k]);
    tet.cell[size_t(k)] = int32_t(cell);
    d[k] = q[k] - cell - 0.5;
  }
  const Vec3 size = d.cwiseAbs();
  const int a = size.x() >= size.y() && size.x() >= size.z() ? 0 : size.y() >= size.z() ? 1 : 2;
  const int b = (a + 1) % 3, c = (a + 2) % 3;
  tet.axis = uint8_t(a);
  if (d[a] > 0) ++tet.cell[size_t(a)];
  tet.edge = size[b] > size[c] ? (d[b] > 0 ? 1 : 3) : (d[c] > 0 ? 2 : 0);
  return tet;
}

double Lattice::countIn(const Box3& box) {
  const Vec3 side = box.extent() + Vec3::Constant(2);
  return 12 * side.prod();
}

geometry::TetMesh Lattice::tetsIn(const Box3& box) const {
  std::array<int64_t, 3> low{}, cells{};
  for (int k = 0; k < 3; ++k) {
    low[size_t(k)] = int64_t(std::floor(box.lower[k])) - 1;
    cells[size_t(k)] = int64_t(std::floor(box.upper[k])) + 2 - low[size_t(k)];
  }
  // Numbers of all corners and centres of the box; those in use are picked out at the end.
  const int64_t nx = cells[0] + 2, ny = cells[1] + 2, nz = cells[2] + 2, all = nx * ny * nz;
  const auto node = [&](const std::array<int64_t, 3>& c) {
    return uint32_t(((c[2] + 1) * ny + c[1] + 1) * nx + c[0] + 1);
  };
  const auto place = [&](uint32_t n) -> Vec3 {
    const bool centre = n >= uint64_t(all);
    int64_t i = int64_t(n) - (centre ? all : 0);
    const Vec3 corner(double(i % nx - 1 + low[0]), double(i / nx % ny - 1 + low[1]),
                      double(i / (nx * ny) - 1 + low[2]));
    return centre ? Vec3(corner + Vec3::Constant(0.5)) : corner;
  };
  geometry::TetMesh mesh;
  std::vector<geometry::Tetrahedron> tets;
  std::array<int64_t, 3> c{};
  for (c[2] = 0; c[2] < cells[2]; ++c[2])
    for (c[1] = 0; c[1] < cells[1]; ++c[1])
      for (c[0] = 0; c[0] < cells[0]; ++c[0])
        for (size_t a = 0; a < 3; ++a) {
          std::array<int64_t, 3> before = c;
          --before[a];
          const size_t axes[2] = {(a + 1) % 3, (a + 2) % 3};
          for (const auto& edge : kSquareEdges) {
            std::array<int64_t, 3> p = c, q = c;
            for (size_t k = 0; k < 2; ++k) p[axes[k]] += edge[0][k], q[axes[k]] += edge[1][k];
            tets.push_back({node(p), node(q), uint32_t(all) + node(c), uint32_t(all) + node(before)});
          }
        }
  std::vector<uint32_t> number(2 * size_t(all), 0);
  for (const auto& t : tets)
    for (const uint32_t v : t) number[v] = 1;
  for (uint32_t n = 0; n < number.size(); ++n) {
    if (number[n] == 0) continue;
    number[n] = uint32_t(mesh.positions.size());
    mesh.positions.push_back(toWorld(place(n)));
  }
  for (auto& t : tets) {
    for (uint32_t& v : t) v = number[v];
    if (geometry::signedVolume(mesh.positions[t[0]], mesh.positions[t[1]], mesh.positions[t[2]],
                               mesh.positions[t[3]]) < 0)
      std::swap(t[2], t[3]);
  }
  mesh.tets = std::move(tets);
  return mesh;
}

}  // namespace sunder::soft
