#include "sunder/soft/spheres/solid_points.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sunder::soft {

namespace {

// Where the lattice begins, in spacings: no simple fractions, so that its points are not in faces of cages
// that are made of boxes.
const Vec3 kLatticeStart(0.4631, 0.5387, 0.4913);

// Tetrahedra in the same place have the same corners at rest, in any order.
std::vector<uint8_t> sharedPlaces(const Cage& cage) {
  using Corners = std::array<std::array<double, 3>, 4>;
  const size_t tets = cage.rest.tets.size();
  std::vector<Corners> corners(tets);
  for (size_t t = 0; t < tets; ++t) {
    for (size_t k = 0; k < 4; ++k) {
      const Vec3& x = cage.rest.positions[cage.rest.tets[t][k]];
      corners[t][k] = {x.x(), x.y(), x.z()};
    }
    std::sort(corners[t].begin(), corners[t].end());
  }
  std::vector<uint32_t> order(tets);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return corners[a] != corners[b] ? corners[a] < corners[b] : a < b;
  });
  std::vector<uint8_t> shared(tets, 0);
  for (size_t i = 0; i + 1 < tets; ++i)
    if (corners[order[i]] == corners[order[i + 1]]) shared[order[i]] = shared[order[i + 1]] = 1;
  return shared;
}

// The winding number of a closed surface at a point, after van Oosterom and Strackee 1983.
double winding(std::span<const std::array<Vec3, 3>> triangles, const Vec3& point) {
  double sum = 0;
  for (const std::array<Vec3, 3>& t : triangles) {
    const Vec3 a = t[0] - point, b = t[1] - point, c = t[2] - point;
    const double la = a.norm(), lb = b.norm(), lc = c.norm();
    const double over = a.dot(b.cross(c));
    const double under = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    if (over != 0 || under != 0) sum += std::atan2(over, under);
  }
  return sum / (2 * kPi);
}

}  // namespace

TetFrame::TetFrame(const Cage& cage, uint32_t tet) {
  const geometry::Tetrahedron& t = cage.rest.tets[tet];
  const std::vector<Vec3>& x = cage.rest.positions;
  origin_ = x[t[0]];
  const Vec3 e1 = x[t[1]] - origin_, e2 = x[t[2]] - origin_, e3 = x[t[3]] - origin_;
  const double six = e1.dot(e2.cross(e3));
  volume_ = six / 6;
  rows_ = {e2.cross(e3) / six, e3.cross(e1) / six, e1.cross(e2) / six};
}

Vec4 TetFrame::weights(const Vec3& point) const {
  const Vec3 p = point - origin_;
  const double a = rows_[0].dot(p), b = rows_[1].dot(p), c = rows_[2].dot(p);
  return {1 - a - b - c, a, b, c};
}

SolidPoints::SolidPoints(const geometry::TriMesh& surface, const Cage& cage, const SurfaceCopies& copies,
                         const Walls& walls, const sdf::MeshField& solid)
    : cage_(cage),
      copies_(copies),
      walls_(walls),
      solid_(solid),
      box_(geometry::bounds(surface.positions)),
      shared_(sharedPlaces(cage)) {}

void SolidPoints::depths(uint32_t tet, std::span<const Vec3> points, std::span<double> out) const {
  solid_.values(points, out);
  for (double& d : out) d = -d;
  if (!shared_[tet]) return;
  std::vector<std::array<Vec3, 3>> triangles;
  pieceTriangles(cage_, copies_, walls_, tet, triangles);
  for (size_t i = 0; i < points.size(); ++i)
    if (out[i] > 0 && winding(triangles, points[i]) < 0.5) out[i] = -out[i];
}

Box3 SolidPoints::pieceBox(uint32_t tet) const {
  std::vector<std::array<Vec3, 3>> triangles;
  pieceTriangles(cage_, copies_, walls_, tet, triangles);
  Box3 box;
  for (const std::array<Vec3, 3>& t : triangles)
    for (const Vec3& p : t) {
      box.lower = box.lower.cwiseMin(p);
      box.upper = box.upper.cwiseMax(p);
    }
  return box;
}

bool SolidPoints::grid(uint32_t tet, const Box3& pieceBox, double spacing, size_t most,
                       std::vector<GridPoint>& result) const {
  result.clear();
  if (pieceBox.empty()) return true;
  const Vec3 start = box_.lower + spacing * kLatticeStart;
  std::array<int32_t, 3> low{}, high{};
  double count = 1;
  for (int k = 0; k < 3; ++k) {
    const double from = std::ceil((pieceBox.lower[k] - start[k]) / spacing),
                 to = std::floor((pieceBox.upper[k] - start[k]) / spacing);
    if (to < from) return true;
    count *= to - from + 1;
    if (!(count <= static_cast<double>(most)) || std::abs(from) > 1e9 || std::abs(to) > 1e9) return false;
    low[k] = static_cast<int32_t>(from);
    high[k] = static_cast<int32_t>(to);
  }
  const TetFrame frame(cage_, tet);
  std::vector<Vec3> points;
  for (int32_t z = low[2]; z <= high[2]; ++z)
    for (int32_t y = low[1]; y <= high[1]; ++y)
      for (int32_t x = low[0]; x <= high[0]; ++x) {
        const Vec3 p = start + spacing * Vec3(x, y, z);
        if (!TetFrame::inside(frame.weights(p))) continue;
        result.push_back({{x, y, z}, p, 0});
        points.push_back(p);
      }
  std::vector<double> depth(points.size());
  depths(tet, points, depth);
  size_t kept = 0;
  for (size_t i = 0; i < result.size(); ++i) {
    if (!(depth[i] > 0)) continue;
    result[kept] = result[i];
    result[kept++].depth = depth[i];
  }
  result.resize(kept);
  return true;
}

}  // namespace sunder::soft
