// A body-centred cubic lattice of tetrahedra that is turned, stretched and shifted against the world. Its
// cubes have corners at whole numbers; a tetrahedron is made of the centres of two cubes that share a square,
// and an edge of that square. The tetrahedron of a point is found by comparing coordinates, in O(1).
#pragma once

#include "sunder/base/box.h"
#include "sunder/base/math.h"
#include "sunder/geometry/mesh.h"

#include <array>
#include <cstdint>

namespace sunder::soft {

// A tetrahedron by the square that it is made of, of the cubes `cell` and the one before it along `axis`, and
// which of the square's four edges it has.
struct LatticeTet {
  std::array<int32_t, 3> cell;
  uint8_t axis = 0, edge = 0;

  // Different for all tetrahedra within a million cubes of the origin.
  uint64_t key() const {
    uint64_t k = 0;
    for (const int32_t c : cell) k = k << 20 | (uint64_t(int64_t(c) + (1 << 19)) & 0xfffff);
    return k << 4 | uint64_t(axis) << 2 | edge;
  }
};

struct Lattice {
  Vec3 centre = Vec3::Zero();    // of the world, which lies at `offset`
  Mat3 turn = Mat3::Identity();  // rows are the axes of the lattice
  Vec3 stretch = Vec3::Ones();   // lengths of its cubes by axis, relative to `edge`
  double edge = 1;               // m
  Vec3 offset = Vec3::Zero();

  Vec3 toLattice(const Vec3& p) const {
    const Vec3 q = turn * (p - centre);
    return q.cwiseQuotient(stretch * edge) + offset;
  }
  Vec3 toWorld(const Vec3& q) const {
    return centre + turn.transpose() * (q - offset).cwiseProduct(stretch * edge);
  }
  LatticeTet holder(const Vec3& point) const;

  // Every tetrahedron that has a part in a box of lattice coordinates, or just beside it.
  geometry::TetMesh tetsIn(const Box3& box) const;
  // How many that are, about.
  static double countIn(const Box3& box);
};

}  // namespace sunder::soft
