// A piecewise polynomial on a grid of octrees: each leaf cell has the coefficients of a polynomial of its own
// total degree, in the orthonormal Legendre basis of the cell (legendre.h). What the construction of
// hp-adaptive fields works on (hp_build.h, hp_continuity.h); hp_field.h makes the form for queries of it.
//
// Nodes: the base cells first, x fastest, then families of eight children in order of creation; bit d of a
// child's number says that it is the upper half along axis d. Leaves are numbered in the order of their
// nodes.
#pragma once

#include "sunder/base/box.h"
#include "sunder/base/math.h"
#include "sunder/sdf/hp/legendre.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace sunder::sdf {

struct HpForest {
  Box3 domain;
  std::array<uint32_t, 3> base{};  // cells of the coarsest grid
  std::vector<int32_t> child;      // per node: its first child, or -1 - leaf
  std::vector<uint32_t> begin;     // per leaf, and one more: where its coefficients start
  std::vector<uint8_t> degree;     // per leaf
  std::vector<double> coefficients;

  size_t leafCount() const { return degree.size(); }
  std::span<const double> of(size_t leaf) const {
    return {coefficients.data() + begin[leaf], begin[leaf + 1] - begin[leaf]};
  }
  std::span<double> of(size_t leaf) {
    return {coefficients.data() + begin[leaf], begin[leaf + 1] - begin[leaf]};
  }
  Vec3 baseSize() const {
    return domain.extent().cwiseQuotient(Vec3(double(base[0]), double(base[1]), double(base[2])));
  }
  size_t bytes() const {
    return child.size() * sizeof(int32_t) + begin.size() * sizeof(uint32_t) + degree.size() +
           coefficients.size() * sizeof(double);
  }
};

// Where a leaf is: its cell in the grid of its level, which has base * 2^level cells along each axis.
struct HpCell {
  std::array<uint32_t, 3> at{};
  uint32_t level = 0;
  int32_t node = 0;
};
HpCell childOf(const HpCell& parent, uint32_t which, int32_t node);
std::vector<HpCell> leafCells(const HpForest& forest);  // by leaf
Box3 cellBox(const HpForest& forest, const HpCell& cell);

// Finds the leaf at a point of the domain, and the point's coordinates in it, -1 to 1. A point on a face
// belongs to the upper cell, points outside to the nearest cell (coordinates clamped).
struct HpPlace {
  uint32_t leaf;
  Vec3 local;
  Vec3 size;
};
HpPlace locate(const HpForest& forest, const Vec3& point);

// The polynomial of a leaf, straight from the definition: for measuring and tests, not for speed.
double evaluate(const HpForest& forest, const Vec3& point);
// The same for a cell on its own.
double evaluate(const Box3& box, int degree, std::span<const double> coefficients, const Vec3& point);

}  // namespace sunder::sdf
