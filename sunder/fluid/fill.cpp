#include "sunder/fluid/fill.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace sunder::fluid {

std::vector<Vec3> fillBox(const Box3& box, double spacing) {
  if (!(spacing > 0) || !std::isfinite(spacing))
    throw Error(ErrorKind::Usage, fmt::format("a spacing of particles of {} m", spacing));
  if (!box.lower.allFinite() || !box.upper.allFinite() || box.empty())
    throw Error(ErrorKind::Usage, "a block of fluid needs a box with finite, ordered corners");
  const Vec3 fit =
      (box.extent() / spacing).unaryExpr([](double x) { return std::max(1.0, std::floor(x + 1e-6)); });
  if (!(fit.prod() <= double(kMostParticles)))
    throw Error(ErrorKind::Limit, fmt::format("a block of {:.3g} particles", fit.prod()))
        .hint(fmt::format("at most {}; take larger particles or a smaller block", kMostParticles));
  const Vec3 first = box.center() - 0.5 * spacing * (fit - Vec3::Ones());
  std::vector<Vec3> points;
  points.reserve(size_t(fit.prod()));
  for (int z = 0; z < int(fit.z()); ++z)
    for (int y = 0; y < int(fit.y()); ++y)
      for (int x = 0; x < int(fit.x()); ++x) points.push_back(first + spacing * Vec3(x, y, z));
  return points;
}

std::vector<Vec3> fillField(const sdf::Field& field, const Box3& box, double spacing, double clearance,
                            bool outside) {
  std::vector<Vec3> points = fillBox(box, spacing);
  std::vector<double> distance(points.size());
  sdf::valuesOf(field, points, distance);
  size_t kept = 0;
  for (size_t i = 0; i < points.size(); ++i)
    if ((outside ? distance[i] : -distance[i]) >= clearance) points[kept++] = points[i];
  points.resize(kept);
  return points;
}

}  // namespace sunder::fluid
