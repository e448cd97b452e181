#include "sunder/fluid/boundary/map_nodes.h"

#include "sunder/base/parallel.h"
#include "sunder/fluid/boundary/boundary_quadrature.h"
#include "sunder/fluid/boundary/serendipity.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sunder::fluid {

namespace {

constexpr int kEdge = DistanceBricks::kEdge;
static_assert(kernels::kRow == size_t(kEdge));

// Supports. Second differences below it are rounding: the error of taking such a field for linear is below
// a tenth of that of the quadrature.
constexpr float kLinear = 4e-6f;
// Supports. The kernel weighs what is farther so little that a kink of the field there changes a density by
// less than 4/15 0.17^6 = 6e-6 (the tail of the closed form).
constexpr double kFelt = 0.83;
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

// What a brick's nodes need, with a margin of the quadrature's reach.
struct MapNodes::Cube {
  int edge;
  std::vector<float> sharp;
  std::vector<uint32_t> bent;  // summed up to each corner

  size_t at(int i, int j, int k) const {
    return size_t(i) + size_t(edge) * (size_t(j) + size_t(edge) * size_t(k));
  }
  size_t corner(int i, int j, int k) const {
    const size_t n = size_t(edge) + 1;
    return size_t(i) + n * (size_t(j) + n * size_t(k));
  }
  // Whether any point of the cube (i, j, k) + [0, 2 reach] is bent.
  bool anyBent(int i, int j, int k, int reach) const {
    const int x = i + 2 * reach + 1, y = j + 2 * reach + 1, z = k + 2 * reach + 1;
    const auto s = [&](int a, int b, int c) { return bent[corner(a, b, c)]; };
    return s(x, y, z) - s(i, y, z) - s(x, j, z) - s(x, y, k) + s(i, j, z) + s(i, y, k) + s(x, j, k) -
               s(i, j, k) !=
           0;
  }
  void sumUp(const std::vector<uint8_t>& flags) {
    bent.assign(corner(edge, edge, edge) + 1, 0);
    for (int k = 0; k < edge; ++k)
      for (int j = 0; j < edge; ++j) {
        uint32_t row = 0;
        for (int i = 0; i < edge; ++i) {
          row += flags[at(i, j, k)];
          bent[corner(i + 1, j + 1, k + 1)] =
              row + bent[corner(i + 1, j, k + 1)] + bent[corner(i + 1, j + 1, k)] - bent[corner(i + 1, j, k)];
        }
      }
  }
};

MapNodes::MapNodes(const DistanceBricks& distances, const NodeSettings& settings, double perSupport)
    : distances_(distances),
      settings_(settings),
      reach_(int(std::ceil(perSupport - 1e-9))),
      felt_(int(std::ceil(kFelt * perSupport))),
      step_(1 / perSupport),
      rule_(latticeRule(makeBallRule(), perSupport, kEdge + 2 * reach_, 1 - settings.offset)) {
  const size_t points = distances.brickCount() * DistanceBricks::kPoints;
  sharp_.resize(points);
  bent_.resize(points);
  std::vector<std::vector<ThinPoint>> thin(distances.brickCount());
  parallelFor(
      thin.size(), [&](size_t brick) { thin[brick] = lookAt(brick); }, 1);
  for (const std::vector<ThinPoint>& some : thin) thin_.insert(thin_.end(), some.begin(), some.end());
}

std::vector<ThinPoint> MapNodes::lookAt(size_t brick) {
  constexpr int kWide = kEdge + 2;
  constexpr ptrdiff_t kY = kWide, kZ = kWide * kWide;
  const Index3& place = distances_.place(brick);
  const Index3 first{kEdge * place[0], kEdge * place[1], kEdge * place[2]};
  std::array<float, size_t(kWide) * kWide * kWide> around;
  distances_.copyDistances({first[0] - 1, first[1] - 1, first[2] - 1}, kWide, around.data());
  const float low = distances_.lattice().low, high = distances_.lattice().high;
  float* sharp = sharp_.data() + brick * DistanceBricks::kPoints;
  uint8_t* bent = bent_.data() + brick * DistanceBricks::kPoints;
  std::vector<ThinPoint> thin;
  for (int k = 0; k < kEdge; ++k)
    for (int j = 0; j < kEdge; ++j)
      for (int i = 0; i < kEdge; ++i, ++sharp, ++bent) {
        const float* p = around.data() + (i + 1) + kY * (j + 1) + kZ * (k + 1);
        *sharp = p[0];
        *bent = 0;
        if (!(p[0] > low && p[0] < high)) continue;
        // Bounds are no part of the field: what touches them has no second differences.
        float least = p[0], most = p[0];
        for (const ptrdiff_t step :
             {ptrdiff_t(1), kY, kZ, 1 + kY, 1 - kY, 1 + kZ, 1 - kZ, kY + kZ, kY - kZ}) {
          least = std::min(least, std::min(p[step], p[-step]));
          most = std::max(most, std::max(p[step], p[-step]));
        }
        if (!(least > low && most < high)) continue;
        const auto along = [&](ptrdiff_t a) { return p[a] - 2 * p[0] + p[-a]; };
        const auto mixed = [&](ptrdiff_t a, ptrdiff_t b) {
          return 0.25f * ((p[a + b] - p[a - b]) - (p[b - a] - p[-a - b]));
        };
        const float xx = along(1), yy = along(kY), zz = along(kZ);
        const float largest = std::max({std::abs(xx), std::abs(yy), std::abs(zz), std::abs(mixed(1, kY)),
                                        std::abs(mixed(1, kZ)), std::abs(mixed(kY, kZ))});
        if (largest <= kLinear) continue;
        *bent = 1;
        *sharp = p[0] - (xx + yy + zz) / 12;
        // Inside, the distance has a valley along the middle of a wall, and no ridge as in a gap between two
        // solids. A sheet may lie between lattice points.
        if (!(p[0] < float(step_) && p[0] > -1)) continue;
        if (!(xx + yy + zz > 0 && std::min({xx, yy, zz}) > float(-0.25 * step_))) continue;
        const double difference = Vec3(p[1] - p[-1], p[kY] - p[-kY], p[kZ] - p[-kZ]).norm();
        if (difference >= 2 * kOpposite * step_) continue;
        // The way to the middle of a wall is what the difference is short of: none in the middle itself.
        const float depth = std::max(0.0f, float(0.5 * difference) - p[0]);
        if (depth < 1) thin.push_back({{first[0] + i, first[1] + j, first[2] + k}, depth});
      }
  return thin;
}

void MapNodes::row(const Cube& cube, size_t brick, int j, int k, float* out, NodeCounts& counts) const {
  // Steps from the map's lower corner; -1 outside of the map.
  const auto step = [&](size_t d, int i) {
    const int s = kEdge * distances_.place(brick)[d] + i - settings_.pad;
    return s >= 0 && s <= 3 * settings_.cells[d] ? s : -1;
  };
  const int y = step(1, j), z = step(2, k);
  if (y < 0 || z < 0) return;
  const auto limit = float(2 - settings_.offset);
  const float* distances = distances_.values(brick);
  bool wanted[kEdge] = {}, any = false;
  for (int i = 0; i < kEdge; ++i) {
    const int x = step(0, i);
    if (x < 0 || !isMapNode(x, y, z)) continue;
    const size_t slot = DistanceBricks::slot(i, j, k);
    const float phi = distances[slot];
    if (phi >= limit || phi <= settings_.deepest) continue;
    if (cube.anyBent(i + reach_ - felt_, j + reach_ - felt_, k + reach_ - felt_, felt_)) {
      wanted[i] = any = true;
    } else {
      out[slot] = float(planeBoundaryDensity(double(phi) + settings_.offset).value);
      ++counts.plane;
    }
  }
  if (!any) return;
  float values[kernels::kRow];
  kernels::integrateRow(rule_, cube.sharp.data() + cube.at(reach_, j + reach_, k + reach_), values);
  for (int i = 0; i < kEdge; ++i) {
    if (!wanted[i]) continue;
    out[DistanceBricks::slot(i, j, k)] = values[i];
    ++counts.quadrature;
  }
}

NodeCounts MapNodes::compute(size_t brick, float* out) const {
  NodeCounts counts;
  std::fill_n(out, DistanceBricks::kPoints, 0.0f);
  const Index3& place = distances_.place(brick);
  const Index3 first{kEdge * place[0] - reach_, kEdge * place[1] - reach_, kEdge * place[2] - reach_};
  Cube cube{.edge = kEdge + 2 * reach_, .sharp = {}, .bent = {}};
  const size_t points = size_t(cube.edge) * size_t(cube.edge) * size_t(cube.edge);
  cube.sharp.resize(points);
  std::vector<uint8_t> flags(points);
  const DistanceLattice& lattice = distances_.lattice();
  distances_.copy(sharp_, lattice.low, lattice.high, first, cube.edge, cube.sharp.data());
  distances_.copy(bent_, uint8_t(0), uint8_t(0), first, cube.edge, flags.data());
  cube.sumUp(flags);
  for (int k = 0; k < kEdge; ++k)
    for (int j = 0; j < kEdge; ++j) row(cube, brick, j, k, out, counts);
  return counts;
}

}  // namespace sunder::fluid
