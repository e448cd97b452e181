// The cubic Serendipity cell: 32 nodes on a cube, 8 corners and 2 on each edge at a third of its length. A
// field given by its values at the nodes is continuous over the faces of cells, and every cubic is kept
// exactly. With coordinates (x, y, z) in [-1, 1] and node i at (xi, yi, zi):
//
//   corner            1/64 (1 + xi x)(1 + yi y)(1 + zi z) (9 (x^2 + y^2 + z^2) - 19)
//   on an edge along x  9/64 (1 - x^2)(1 + 9 xi x)(1 + yi y)(1 + zi z),  xi = +-1/3; y and z alike
//
// The order of the nodes is that of vector code: four groups of eight (corners, edges along x, y, z), and in
// each the lowest bit is the side along x, the next along y, the highest along z.
//
// These are the formulas in double, for reference; density_map_kernel.h has the fast form.
#pragma once

#include "sunder/base/math.h"

#include <array>
#include <cstddef>

namespace sunder::fluid {

inline constexpr size_t kCellNodes = 32;

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

}  // namespace sunder::fluid
