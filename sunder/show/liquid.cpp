#include "sunder/show/liquid.h"

#include <algorithm>

namespace sunder::show {

bool isLiquid(const record::BodyEntry& body, const record::BodyPoints& points) {
  return body.kind == record::BodyKind::Fluid && points.radius > 0;
}

fluid::LiquidSurface surfaceOf(const record::BodyPoints& points, fluid::SurfaceSettings settings) {
  settings.radius = double(points.radius);
  const auto recorded = std::find_if(
      points.fields.begin(), points.fields.end(),
      [](const record::PointField& field) { return field.name == "velocity" && field.components == 3; });
  std::vector<Vec3> positions;
  std::vector<Vec3f> velocities;
  for (size_t i = 0; i < points.positions.size(); ++i) {
    if (!points.positions[i].allFinite()) continue;
    positions.push_back(points.positions[i].cast<double>());
    if (recorded != points.fields.end())
      velocities.push_back(Eigen::Map<const Vec3f>(recorded->values.data() + 3 * i));
  }
  return fluid::liquidSurface(positions, velocities, settings);
}

}  // namespace sunder::show
