#include "sunder/tet/box_tets.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace sunder::tet {

geometry::TetMesh boxTets(const Box3& box, double edge, size_t mostTets) {
  const Vec3 size = box.extent();
  if (!(size.minCoeff() > 0) || !size.allFinite() || !(edge > 0))
    throw Error(ErrorKind::Usage, "a box to fill needs a volume and an edge length above 0");
  std::array<double, 3> wanted{};
  double cells = 1;
  for (size_t d = 0; d < 3; ++d) {
    wanted[d] = std::max(1.0, std::round(size[Eigen::Index(d)] / edge));
    cells *= wanted[d];
  }
  if (!(6 * cells <= double(mostTets)))
    throw Error(ErrorKind::Limit, fmt::format("{:.3g} tetrahedra are too many", 6 * cells))
        .hint("use a longer edge");
  const std::array<uint32_t, 3> n{uint32_t(wanted[0]), uint32_t(wanted[1]), uint32_t(wanted[2])};
  geometry::TetMesh mesh;
  for (uint32_t z = 0; z <= n[2]; ++z)
    for (uint32_t y = 0; y <= n[1]; ++y)
      for (uint32_t x = 0; x <= n[0]; ++x)
        mesh.positions.push_back(box.lower +
                                 size.cwiseProduct(Vec3(x / wanted[0], y / wanted[1], z / wanted[2])));
  const auto vertex = [&](uint32_t x, uint32_t y, uint32_t z) {
    return x + (n[0] + 1) * (y + (n[1] + 1) * z);
  };
  // Ways from one corner of a cell to the opposite one along its edges; those that turn the other way are
  // negative.
  constexpr std::array<std::array<int, 3>, 6> kOrders{
      {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}}};
  for (uint32_t z = 0; z < n[2]; ++z)
    for (uint32_t y = 0; y < n[1]; ++y)
      for (uint32_t x = 0; x < n[0]; ++x)
        for (size_t k = 0; k < 6; ++k) {
          std::array<uint32_t, 3> at{x, y, z};
          geometry::Tetrahedron t{vertex(x, y, z), 0, 0, 0};
          for (size_t i = 0; i < 3; ++i) {
            ++at[size_t(kOrders[k][i])];
            t[i + 1] = vertex(at[0], at[1], at[2]);
          }
          if (k >= 3) std::swap(t[2], t[3]);
          mesh.tets.push_back(t);
        }
  return mesh;
}

}  // namespace sunder::tet
