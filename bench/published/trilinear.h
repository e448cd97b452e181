// Values on the corners of a regular lattice, looked up anywhere: where a point lies, and trilinear values
// and gradients. The fields on voxels (voxel_field.h) and grids (grid_field.h) share it.
#pragma once

#include "sunder/base/box.h"
#include "sunder/sdf/field.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace sunder::published {
using namespace sdf;

// Nodes box.lower + step * (i, j, k), 0 <= i < nodes[0] and so on, numbered along x first. With one node
// along an axis the lattice is flat there.
struct GridLattice {
  Box3 box;  // of the nodes
  std::array<uint32_t, 3> nodes{1, 1, 1};
  Vec3 perStep = Vec3::Zero();  // 1 / step; 0 along a flat axis
  Vec3 step = Vec3::Zero();

  GridLattice() = default;
  GridLattice(const Box3& nodesBox, const std::array<uint32_t, 3>& count) : box(nodesBox), nodes(count) {
    for (int d = 0; d < 3; ++d) {
      if (nodes[size_t(d)] < 2) continue;
      step[d] = (box.upper[d] - box.lower[d]) / (nodes[size_t(d)] - 1);
      perStep[d] = (nodes[size_t(d)] - 1) / (box.upper[d] - box.lower[d]);
    }
  }

  size_t nodeCount() const { return size_t(nodes[0]) * nodes[1] * nodes[2]; }
  size_t number(uint32_t i, uint32_t j, uint32_t k) const {
    return i + size_t(nodes[0]) * (j + size_t(nodes[1]) * k);
  }
  Vec3 position(uint32_t i, uint32_t j, uint32_t k) const {
    return box.lower + step.cwiseProduct(Vec3(i, j, k));
  }

  // A point's cell, its place in the cell in [0, 1], and the way to it from the nearest point of the box.
  struct Place {
    std::array<uint32_t, 3> cell;
    Vec3 t, outside;
  };
  Place place(const Vec3& point) const {
    Place p;
    for (int d = 0; d < 3; ++d) {
      const double inside = std::clamp(point[d], box.lower[d], box.upper[d]);
      p.outside[d] = point[d] - inside;
      const double u = (inside - box.lower[d]) * perStep[d];
      const uint32_t cells = nodes[size_t(d)] < 2 ? 1 : nodes[size_t(d)] - 1;
      p.cell[size_t(d)] = std::min(uint32_t(u), cells - 1);
      p.t[d] = std::clamp(u - p.cell[size_t(d)], 0.0, 1.0);
    }
    return p;
  }
};

// The value at a place and its derivatives, of the eight corners of its cell.
template <class Value>
FieldSample trilinear(const GridLattice& lattice, const Value* values, const GridLattice::Place& p) {
  const size_t nx = lattice.nodes[0], slice = nx * lattice.nodes[1];
  const size_t at = p.cell[0] + nx * p.cell[1] + slice * p.cell[2];
  const size_t dx = lattice.nodes[0] > 1, dy = lattice.nodes[1] > 1 ? nx : 0;
  const size_t dz = lattice.nodes[2] > 1 ? slice : 0;
  const auto corner = [&](size_t offset) { return double(values[at + offset]); };
  const double c000 = corner(0), c100 = corner(dx), c010 = corner(dy), c110 = corner(dx + dy);
  const double c001 = corner(dz), c101 = corner(dx + dz), c011 = corner(dy + dz), c111 = corner(dx + dy + dz);
  const double x = p.t[0], y = p.t[1], z = p.t[2];
  const double x00 = c000 + x * (c100 - c000), x10 = c010 + x * (c110 - c010);
  const double x01 = c001 + x * (c101 - c001), x11 = c011 + x * (c111 - c011);
  const double y0 = x00 + y * (x10 - x00), y1 = x01 + y * (x11 - x01);
  const double along00 = c100 - c000, along10 = c110 - c010, along01 = c101 - c001, along11 = c111 - c011;
  const double along0 = along00 + y * (along10 - along00), along1 = along01 + y * (along11 - along01);
  FieldSample sample;
  sample.value = y0 + z * (y1 - y0);
  sample.gradient =
      Vec3(along0 + z * (along1 - along0), (x10 - x00) + z * ((x11 - x01) - (x10 - x00)), y1 - y0)
          .cwiseProduct(lattice.perStep);
  return sample;
}

// Outside the lattice: the distance to its box added, the gradient the direction away from it.
inline FieldSample beyond(FieldSample sample, const Vec3& outside) {
  const double distance = outside.norm();
  if (distance == 0) return sample;
  return {sample.value + distance, outside / distance};
}

}  // namespace sunder::published
