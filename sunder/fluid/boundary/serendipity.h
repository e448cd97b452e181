// The cubic Serendipity cell: 32 nodes on a cube, 8 corners and 2 on each edge at a third of its length. A
// field given by its values at the nodes is continuous over the faces of cells, and every cubic is kept
// exactly. With coordinates (x, y, z) in [-1, 1] and node i at (xi, yi, zi):
//
//   corner            1/64 (1 + xi x)(1 + yi y)(1 + zi z) (9 (x^2 + y^2 + z^2) - 19)
//   on an edge along x  9/64 (1 - x^2)(1 + 9 xi x)(1 + yi y)(1 + zi z),  xi = +-1/3; y and z alike
//
// A cubic in several variables knows nothing of x^2 y^2 and its like, which is most of the error where a
// field does not vary along one axis alone (measured: seven times that of the cell's other terms on tilted
// planes, docs/fluids.md). So each face adds one more function, (1 - x^2)(1 - y^2)(1 +- z)/2 on a face across
// z, which is zero on all other faces: the field stays continuous. Its factor makes the field right on
// average at two points inside the face, a third from opposite corners.
//
// The order of the nodes is that of vector code: four groups of eight (corners, edges along x, y, z), and in
// each the lowest bit is the side along x, the next along y, the highest along z. Then come, for faces across
// x, y, z, the means of both sides' factors and a zero, and half of their differences (upper - lower) and a
// zero.
//
// These are the formulas in double, for reference; density_map_kernel.h has the fast form.
#pragma once

#include "sunder/base/math.h"

#include <array>
#include <cstddef>

namespace sunder::fluid {

inline constexpr size_t kCellNodes = 32, kCellValues = 40;

// Where the node is, in steps of a third of the edge from the lower corner: 0, 1, 2 or 3 along each axis.
constexpr std::array<int, 3> serendipityNode(size_t node) {
  std::array<int, 3> at{};
  const size_t group = node / 8;
  for (size_t d = 0; d < 3; ++d) {
    const int side = int(node >> d & 1);
    at[d] = group == d + 1 ? 1 + side : 3 * side;
  }
  return at;
}

struct SerendipityWeights {
  std::array<double, kCellNodes> value;
  std::array<Vec3, kCellNodes> gradient;  // with respect to `local`
};

inline SerendipityWeights serendipityWeights(const Vec3& local) {
  SerendipityWeights w;
  for (size_t node = 0; node < kCellNodes; ++node) {
    const size_t group = node / 8;
    Vec3 sign, factor;
    for (size_t d = 0; d < 3; ++d) {
      sign[int(d)] = (node >> d & 1) != 0 ? 1 : -1;
      factor[int(d)] = 1 + sign[int(d)] * local[int(d)];
    }
    const Vec3 others(factor.y() * factor.z(), factor.x() * factor.z(), factor.x() * factor.y());
    if (group == 0) {
      const double bubble = (9 * local.squaredNorm() - 19) / 64;
      w.value[node] = factor.prod() * bubble;
      w.gradient[node] = sign.cwiseProduct(others) * bubble + factor.prod() * 18.0 / 64 * local;
      continue;
    }
    const int a = int(group) - 1, b = (a + 1) % 3, c = (a + 2) % 3;
    const double t = local[a], s = 3 * sign[a];
    const double along = 9.0 / 64 * (1 - t * t) * (1 + s * t);
    w.value[node] = along * others[a];
    w.gradient[node][a] = 9.0 / 64 * (s - 2 * t - 3 * s * t * t) * others[a];
    w.gradient[node][b] = along * sign[b] * factor[c];
    w.gradient[node][c] = along * sign[c] * factor[b];
  }
  return w;
}

// Whether values at a lattice point, in thirds of a cell, are needed: nodes, and two points in each face.
constexpr bool isMapNode(int x, int y, int z) {
  const int a = x % 3, b = y % 3, c = z % 3;
  if (a == 0) return b == 0 || c == 0 || b == c;
  return b == 0 ? c == 0 || a == c : c == 0 && a == b;
}

// The last eight values of a cell from its lattice values, value(x, y, z) for 0 to 3 along each axis.
template <class Value>
void faceFactors(const Value& value, float (&out)[8]) {
  static const auto kWeights = [] {
    std::array<SerendipityWeights, 12> weights;  // face, point
    for (size_t n = 0; n < 12; ++n) {
      const int axis = int(n / 4);
      Vec3 local = Vec3::Constant((n & 1) != 0 ? 1.0 / 3 : -1.0 / 3);
      local[axis] = (n & 2) != 0 ? 1 : -1;
      weights[n] = serendipityWeights(local);
    }
    return weights;
  }();
  constexpr double kBubble = 64.0 / 81;  // (1 - 1/9)^2
  for (size_t axis = 0; axis < 3; ++axis) {
    double factor[2];
    for (size_t side = 0; side < 2; ++side) {
      double miss = 0;
      for (size_t point = 0; point < 2; ++point) {
        std::array<int, 3> at{};
        at.fill(1 + int(point));
        at[axis] = 3 * int(side);
        miss += value(at[0], at[1], at[2]);
        for (size_t node = 0; node < kCellNodes; ++node) {
          const std::array<int, 3> n = serendipityNode(node);
          miss -= kWeights[4 * axis + 2 * side + point].value[node] * double(value(n[0], n[1], n[2]));
        }
      }
      factor[side] = 0.5 * miss / kBubble;
    }
    out[axis] = float(0.5 * (factor[1] + factor[0]));
    out[4 + axis] = float(0.5 * (factor[1] - factor[0]));
  }
  out[3] = out[7] = 0;
}

// Value and gradient of the faces' functions alone.
inline Vec4 faceTerms(const Vec3& local, const float* factors) {
  const Vec3 b = (1 - local.array().square()).matrix();
  Vec4 sum = Vec4::Zero();
  for (int d = 0; d < 3; ++d) {
    const int u = (d + 1) % 3, v = (d + 2) % 3;
    const double factor = double(factors[d]) + double(factors[4 + d]) * local[d];
    sum[3] += b[u] * b[v] * factor;
    sum[d] += b[u] * b[v] * double(factors[4 + d]);
    sum[u] += -2 * local[u] * b[v] * factor;
    sum[v] += -2 * local[v] * b[u] * factor;
  }
  return sum;
}

}  // namespace sunder::fluid
