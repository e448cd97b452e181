#include "bench/published/grid_field.h"

#include "sunder/base/error.h"

#include <cassert>
#include <cmath>

#include <fmt/format.h>

namespace sunder::published {
using namespace sdf;

namespace {

// Catmull-Rom: weights of the four nodes around t in [0, 1], and their derivatives.
struct CubicWeights {
  double w[4], slope[4];
  explicit CubicWeights(double t) {
    const double t2 = t * t, t3 = t2 * t;
    w[0] = -0.5 * t3 + t2 - 0.5 * t;
    w[1] = 1.5 * t3 - 2.5 * t2 + 1;
    w[2] = -1.5 * t3 + 2 * t2 + 0.5 * t;
    w[3] = 0.5 * t3 - 0.5 * t2;
    slope[0] = -1.5 * t2 + 2 * t - 0.5;
    slope[1] = 4.5 * t2 - 5 * t;
    slope[2] = -4.5 * t2 + 4 * t + 0.5;
    slope[3] = 1.5 * t2 - t;
  }
};

// The least Bezier coefficient of a cell's polynomial, below which it has no values.
double lowerBound(double (&values)[4][4][4]) {
  const auto toBezier = [](double& v0, double& v1, double& v2, double& v3) {
    const double b1 = v1 + (v2 - v0) / 6, b2 = v2 - (v3 - v1) / 6;
    v0 = v1;
    v3 = v2;
    v1 = b1;
    v2 = b2;
  };
  for (size_t a = 0; a < 4; ++a)
    for (size_t b = 0; b < 4; ++b)
      toBezier(values[a][b][0], values[a][b][1], values[a][b][2], values[a][b][3]);
  for (size_t a = 0; a < 4; ++a)
    for (size_t b = 0; b < 4; ++b)
      toBezier(values[a][0][b], values[a][1][b], values[a][2][b], values[a][3][b]);
  for (size_t a = 0; a < 4; ++a)
    for (size_t b = 0; b < 4; ++b)
      toBezier(values[0][a][b], values[1][a][b], values[2][a][b], values[3][a][b]);
  return *std::min_element(&values[0][0][0], &values[0][0][0] + 64);
}

}  // namespace

FieldGrid sampleGrid(const Field& field, const Box3& box, const std::array<uint32_t, 3>& nodes) {
  if (box.empty() || !box.lower.allFinite() || !box.upper.allFinite())
    throw Error(ErrorKind::Usage, "a field can be sampled in a finite box only");
  double count = 1;
  for (const uint32_t n : nodes) {
    if (n < 2)
      throw Error(ErrorKind::Usage, fmt::format("{} nodes along an axis make no grid", n)).hint("take 2");
    count *= n;
  }
  if (!(box.extent().minCoeff() > 0))
    throw Error(ErrorKind::Usage, "a field cannot be sampled in a flat box");
  if (count > 0x1p32)
    throw Error(ErrorKind::Limit,
                fmt::format("{} x {} x {} nodes are too many", nodes[0], nodes[1], nodes[2]));
  FieldGrid grid{GridLattice(box, nodes), {}};
  grid.values.resize(grid.lattice.nodeCount());
  std::vector<Vec3> points;  // of a slice: rows of neighbours, as fields like them
  for (uint32_t k = 0; k < nodes[2]; ++k) {
    points.clear();
    for (uint32_t j = 0; j < nodes[1]; ++j)
      for (uint32_t i = 0; i < nodes[0]; ++i) points.push_back(grid.lattice.position(i, j, k));
    valuesOf(field, points, std::span(grid.values).subspan(points.size() * k, points.size()));
  }
  return grid;
}

FieldGrid sampleGrid(const Field& field, const Box3& box, double step) {
  if (!(step > 0))
    throw Error(ErrorKind::Usage, fmt::format("a field cannot be sampled in steps of {}", step));
  std::array<uint32_t, 3> nodes{2, 2, 2};
  for (int d = 0; d < 3 && !box.empty(); ++d) {
    const double steps = std::ceil(box.extent()[d] / step * (1 - 1e-12));
    if (!(steps < 0x1p31)) throw Error(ErrorKind::Limit, "a grid of so small steps is too large");
    nodes[size_t(d)] = std::max(2u, uint32_t(steps) + 1);
  }
  return sampleGrid(field, box, nodes);
}

GridField::GridField(FieldGrid grid, Interpolation interpolation)
    : grid_(std::move(grid)), interpolation_(interpolation) {
  for (const uint32_t n : grid_.lattice.nodes)
    if (n < 2) throw Error(ErrorKind::Usage, "a grid field needs two nodes along each axis");
  if (grid_.values.size() != grid_.lattice.nodeCount())
    throw Error(ErrorKind::Usage,
                fmt::format("{} values for {} nodes", grid_.values.size(), grid_.lattice.nodeCount()));
  solid_ = findSolid();
}

void GridField::neighbourhood(const std::array<uint32_t, 3>& cell, double (&values)[4][4][4]) const {
  const GridLattice& lattice = grid_.lattice;
  // A node beyond the border is 2 a - b of the two at the border, axis after axis.
  uint32_t first[3], second[3];
  for (size_t d = 0; d < 3; ++d) {
    first[d] = cell[d] == 0 ? 1 : 0;  // of the four, which exist
    second[d] = cell[d] + 2 >= lattice.nodes[d] ? 3 : 4;
  }
  for (uint32_t z = first[2]; z < second[2]; ++z)
    for (uint32_t y = first[1]; y < second[1]; ++y)
      for (uint32_t x = first[0]; x < second[0]; ++x)
        values[z][y][x] = grid_.values[lattice.number(cell[0] + x - 1, cell[1] + y - 1, cell[2] + z - 1)];
  for (uint32_t z = first[2]; z < second[2]; ++z) {
    for (uint32_t y = first[1]; y < second[1]; ++y) {
      if (first[0] == 1) values[z][y][0] = 2 * values[z][y][1] - values[z][y][2];
      if (second[0] == 3) values[z][y][3] = 2 * values[z][y][2] - values[z][y][1];
    }
    for (uint32_t x = 0; x < 4; ++x) {
      if (first[1] == 1) values[z][0][x] = 2 * values[z][1][x] - values[z][2][x];
      if (second[1] == 3) values[z][3][x] = 2 * values[z][2][x] - values[z][1][x];
    }
  }
  for (uint32_t y = 0; y < 4; ++y) {
    for (uint32_t x = 0; x < 4; ++x) {
      if (first[2] == 1) values[0][y][x] = 2 * values[1][y][x] - values[2][y][x];
      if (second[2] == 3) values[3][y][x] = 2 * values[2][y][x] - values[1][y][x];
    }
  }
}

FieldSample GridField::tricubic(const GridLattice::Place& place) const {
  double values[4][4][4];
  neighbourhood(place.cell, values);
  const CubicWeights wx(place.t.x()), wy(place.t.y()), wz(place.t.z());
  FieldSample out;
  for (size_t z = 0; z < 4; ++z) {
    double inPlane = 0, alongX = 0, alongY = 0;
    for (size_t y = 0; y < 4; ++y) {
      double row = 0, slope = 0;
      for (size_t x = 0; x < 4; ++x) {
        row += wx.w[x] * values[z][y][x];
        slope += wx.slope[x] * values[z][y][x];
      }
      inPlane += wy.w[y] * row;
      alongX += wy.w[y] * slope;
      alongY += wy.slope[y] * row;
    }
    out.value += wz.w[z] * inPlane;
    out.gradient += Vec3(wz.w[z] * alongX, wz.w[z] * alongY, wz.slope[z] * inPlane);
  }
  out.gradient = out.gradient.cwiseProduct(grid_.lattice.perStep).eval();
  return out;
}

FieldSample GridField::at(const Vec3& point) const {
  const GridLattice::Place place = grid_.lattice.place(point);
  return beyond(interpolation_ == Interpolation::Trilinear
                    ? trilinear(grid_.lattice, grid_.values.data(), place)
                    : tricubic(place),
                place.outside);
}

void GridField::values(std::span<const Vec3> points, std::span<double> out) const {
  assert(points.size() == out.size());
  for (size_t i = 0; i < points.size(); ++i) out[i] = at(points[i]).value;
}

void GridField::samples(std::span<const Vec3> points, std::span<FieldSample> out) const {
  assert(points.size() == out.size());
  for (size_t i = 0; i < points.size(); ++i) out[i] = at(points[i]);
}

Box3 GridField::findSolid() const {
  const GridLattice& lattice = grid_.lattice;
  Box3 solid;
  double deepestAtBorder = 0;
  double around[4][4][4];
  for (uint32_t k = 0; k + 1 < lattice.nodes[2]; ++k) {
    for (uint32_t j = 0; j + 1 < lattice.nodes[1]; ++j) {
      for (uint32_t i = 0; i + 1 < lattice.nodes[0]; ++i) {
        double low = Box3::kInfinity;
        if (interpolation_ == Interpolation::Trilinear) {
          for (uint32_t c = 0; c < 8; ++c)
            low = std::min(low, grid_.values[lattice.number(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2))]);
        } else {
          neighbourhood({i, j, k}, around);
          low = lowerBound(around);
        }
        if (!(low < 0)) continue;
        solid.grow(lattice.position(i, j, k));
        solid.grow(lattice.position(i + 1, j + 1, k + 1));
        const bool border = i == 0 || j == 0 || k == 0 || i + 2 == lattice.nodes[0] ||
                            j + 2 == lattice.nodes[1] || k + 2 == lattice.nodes[2];
        if (border) deepestAtBorder = std::min(deepestAtBorder, low);
      }
    }
  }
  // A solid that is cut off by the box goes on outside until the added distance has eaten its depth.
  if (deepestAtBorder < 0) {
    solid.grow(Vec3(lattice.box.lower + Vec3::Constant(deepestAtBorder)));
    solid.grow(Vec3(lattice.box.upper - Vec3::Constant(deepestAtBorder)));
  }
  return solid;
}

}  // namespace sunder::published
