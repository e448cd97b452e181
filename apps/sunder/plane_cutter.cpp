#include "plane_cutter.h"

#include "sunder/base/error.h"

#include "solid_input.h"

#include <array>

#include <fmt/format.h>

namespace sunder::cli {

Plane planeOf(const std::string& text, const char* option) {
  const std::vector<double> v = numbersOf(text, 6, option, "0,0,0,0,1,0");
  const Plane plane{{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
  if (!(plane.normal.norm() > 0))
    throw Error(ErrorKind::Usage, fmt::format("--{} has no normal", option))
        .hint("a point of the plane and its normal: --plane 0,0.1,0,0,1,0");
  return plane;
}

double reachOf(const Plane& plane, const geometry::PolygonSoup& mesh) {
  double reach = 0;
  for (const Vec3& p : mesh.positions) reach = std::max(reach, (p - plane.point).norm());
  return 1.1 * reach;
}

geometry::PolygonSoup flatCutter(const Plane& plane, double reach) {
  const Vec3 n = plane.normal.normalized(), u = n.unitOrthogonal(), v = n.cross(u);
  geometry::PolygonSoup soup;
  for (const auto& [s, t] : {std::pair{-1, -1}, {1, -1}, {1, 1}, {-1, 1}})
    soup.positions.push_back(plane.point + reach * (s * u + t * v));
  soup.addFace(std::array<uint32_t, 4>{0, 1, 2, 3});
  return soup;
}

}  // namespace sunder::cli
