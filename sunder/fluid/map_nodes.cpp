#include "sunder/fluid/map_nodes.h"

#include "sunder/fluid/boundary_quadrature.h"
#include "sunder/fluid/serendipity.h"

#include <algorithm>
#include <cmath>

namespace sunder::fluid {

namespace {

constexpr int kEdge = DistanceBricks::kEdge;
static_assert(kernels::kRow == size_t(kEdge));

// Supports. Second differences below it are rounding: the error of taking such a field for linear is below
// a tenth of that of the quadrature.
constexpr float kLinear = 4e-6f;
// Where walls are thin, distances fall to either side of the middle, and central differences cancel: to zero
// for parallel faces, to 0.71 for a right angle.
constexpr double kOpposite = 0.6;

kernels::LatticeRule latticeRule(const BallRule& ball, double perSupport, int edge, double top) {
  kernels::LatticeRule rule;
  rule.ring = ball.ring;
  rule.rowStep = edge;
  rule.layerStep = edge * edge;
  rule.top = float(top);
  for (size_t n = 0; n < ball.offsets.size(); ++n) {
    const Vec3 at = perSupport * ball.offsets[n];
    const Vec3 low = at.array().floor(), t = at - low;
    rule.start.push_back(int(low.x()) + edge * (int(low.y()) + edge * int(low.z())));
    for (int corner = 0; corner < 8; ++corner)
      rule.corners.push_back(
          float(((corner & 1) != 0 ? t.x() : 1 - t.x()) * ((corner & 2) != 0 ? t.y() : 1 - t.y()) *
                ((corner & 4) != 0 ? t.z() : 1 - t.z())));
    rule.weights.push_back(float(ball.weights[n]));
  }
  return rule;
}

}  // namespace

// A brick's distances with those around it.
struct MapNodes::Cube {
  int edge;
  std::vector<float> raw, sharp;  // as they are, sharpened
  std::vector<uint32_t> bent;     // points with second differences, summed up to each corner

  explicit Cube(int e) : edge(e), raw(size_t(e) * size_t(e) * size_t(e)) {}

  size_t at(int i, int j, int k) const {
    return size_t(i) + size_t(edge) * (size_t(j) + size_t(edge) * size_t(k));
  }
  size_t corner(int i, int j, int k) const {
    const size_t n = size_t(edge) + 1;
    return size_t(i) + n * (size_t(j) + n * size_t(k));
  }
  // Whether a point within `reach` of (i, j, k) along each axis has second differences.
  bool anyBent(int i, int j, int k, int reach) const {
    const int x0 = i - reach, y0 = j - reach, z0 = k - reach, x1 = i + reach + 1, y1 = j + reach + 1,
              z1 = k + reach + 1;
    const auto s = [&](int x, int y, int z) { return bent[corner(x, y, z)]; };
    return s(x1, y1, z1) - s(x0, y1, z1) - s(x1, y0, z1) - s(x1, y1, z0) + s(x0, y0, z1) + s(x0, y1, z0) +
               s(x1, y0, z0) - s(x0, y0, z0) !=
           0;
  }
  void findBent(float low, float high);
};

void MapNodes::Cube::findBent(float low, float high) {
  const ptrdiff_t dy = edge, dz = ptrdiff_t(edge) * edge;
  bent.assign(corner(edge, edge, edge) + 1, 0);
  sharp = raw;
  std::vector<uint8_t> row(static_cast<size_t>(edge), 0);
  for (int k = 0; k < edge; ++k) {
    for (int j = 0; j < edge; ++j) {
      std::fill(row.begin(), row.end(), uint8_t(0));
      const bool rim = k == 0 || j == 0 || k == edge - 1 || j == edge - 1;
      for (int i = 1; !rim && i + 1 < edge; ++i) {
        const float* p = raw.data() + at(i, j, k);
        // Bounds are no part of the field: what touches them has no second differences.
        float least = p[0], most = p[0];
        for (const ptrdiff_t step :
             {ptrdiff_t(1), dy, dz, 1 + dy, 1 - dy, 1 + dz, 1 - dz, dy + dz, dy - dz}) {
          least = std::min(least, std::min(p[step], p[-step]));
          most = std::max(most, std::max(p[step], p[-step]));
        }
        if (!(least > low && most < high)) continue;
        const auto along = [&](ptrdiff_t a) { return p[a] - 2 * p[0] + p[-a]; };
        const auto mixed = [&](ptrdiff_t a, ptrdiff_t b) {
          return 0.25f * ((p[a + b] - p[a - b]) - (p[b - a] - p[-a - b]));
        };
        const float xx = along(1), yy = along(dy), zz = along(dz);
        const float largest = std::max({std::abs(xx), std::abs(yy), std::abs(zz), std::abs(mixed(1, dy)),
                                        std::abs(mixed(1, dz)), std::abs(mixed(dy, dz))});
        if (largest <= kLinear) continue;
        row[size_t(i)] = 1;
        sharp[at(i, j, k)] = p[0] - (xx + yy + zz) / 12;
      }
      uint32_t sum = 0;
      for (int i = 0; i < edge; ++i) {
        sum += row[size_t(i)];
        bent[corner(i + 1, j + 1, k + 1)] =
            sum + bent[corner(i + 1, j, k + 1)] + bent[corner(i + 1, j + 1, k)] - bent[corner(i + 1, j, k)];
      }
    }
  }
}

MapNodes::MapNodes(const DistanceBricks& distances, const NodeSettings& settings, double perSupport)
    : distances_(distances),
      settings_(settings),
      reach_(int(std::ceil(perSupport - 1e-9))),
      halo_(reach_ + 1),
      edge_(kEdge + 2 * halo_),
      step_(1 / perSupport) {
  rule_ = latticeRule(makeBallRule(), perSupport, edge_, 1 - settings.offset);
}

void MapNodes::row(const Cube& cube, const Index3& first, int j, int k, float* out,
                   NodeCounts& counts) const {
  // Steps from the map's lower corner; -1 outside of the map.
  const auto step = [&](size_t d, int i) {
    const int s = first[d] + i - settings_.pad;
    return s >= 0 && s <= 3 * settings_.cells[d] ? s : -1;
  };
  const int y = step(1, j), z = step(2, k);
  if (y < 0 || z < 0) return;
  const auto limit = float(2 - settings_.offset);
  bool wanted[kEdge] = {}, any = false;
  for (int i = 0; i < kEdge; ++i) {
    const int x = step(0, i);
    if (x < 0 || !isMapNode(x, y, z)) continue;
    const float phi = cube.raw[cube.at(i + halo_, j + halo_, k + halo_)];
    if (phi >= limit || phi <= settings_.deepest) continue;
    if (cube.anyBent(i + halo_, j + halo_, k + halo_, reach_)) {
      wanted[i] = any = true;
    } else {
      out[DistanceBricks::slot(i, j, k)] = float(planeBoundaryDensity(double(phi) + settings_.offset).value);
      ++counts.plane;
    }
  }
  if (!any) return;
  float values[kernels::kRow];
  kernels::integrateRow(rule_, cube.sharp.data() + cube.at(halo_, j + halo_, k + halo_), values);
  for (int i = 0; i < kEdge; ++i) {
    if (!wanted[i]) continue;
    out[DistanceBricks::slot(i, j, k)] = values[i];
    ++counts.quadrature;
  }
}

void MapNodes::findThin(const Cube& cube, const Index3& first, NodeCounts& counts) const {
  const ptrdiff_t dy = edge_, dz = ptrdiff_t(edge_) * edge_;
  for (int k = 0; k < kEdge; ++k)
    for (int j = 0; j < kEdge; ++j)
      for (int i = 0; i < kEdge; ++i) {
        const float* p = cube.raw.data() + cube.at(i + halo_, j + halo_, k + halo_);
        if (!(p[0] < 0 && p[0] > -1)) continue;
        const Vec3 difference(p[1] - p[-1], p[dy] - p[-dy], p[dz] - p[-dz]);
        if (difference.norm() >= 2 * kOpposite * step_) continue;
        if (counts.thin++ == 0 || -p[0] < counts.thinnest) {
          counts.thinnest = -p[0];
          counts.thinnestAt = {first[0] + i, first[1] + j, first[2] + k};
        }
      }
}

NodeCounts MapNodes::compute(size_t brick, float* out) const {
  NodeCounts counts;
  std::fill_n(out, DistanceBricks::kPoints, 0.0f);
  const Index3& place = distances_.place(brick);
  const Index3 first{kEdge * place[0], kEdge * place[1], kEdge * place[2]};
  Cube cube(edge_);
  distances_.copy({first[0] - halo_, first[1] - halo_, first[2] - halo_}, edge_, cube.raw.data());
  cube.findBent(distances_.lattice().low, distances_.lattice().high);
  for (int k = 0; k < kEdge; ++k)
    for (int j = 0; j < kEdge; ++j) row(cube, first, j, k, out, counts);
  findThin(cube, first, counts);
  return counts;
}

}  // namespace sunder::fluid
