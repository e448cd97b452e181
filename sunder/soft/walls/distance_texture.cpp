#include "sunder/soft/walls/distance_texture.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::soft {

double DistanceTexture::at(const Vec3& point) const {
  std::array<size_t, 3> cell{};
  Vec3 share;
  for (int k = 0; k < 3; ++k) {
    const double last = points[k] - 1.0;
    const double x = std::clamp((point[k] - first[k]) / spacing, 0.0, last);
    const double low = std::min(std::floor(x), std::max(0.0, last - 1));
    cell[k] = static_cast<size_t>(low);
    share[k] = x - low;
  }
  double sum = 0;
  for (size_t corner = 0; corner < 8; ++corner) {
    std::array<size_t, 3> at{};
    double weight = 1;
    for (size_t k = 0; k < 3; ++k) {
      const bool far = (corner >> k & 1) != 0;
      at[k] = cell[k] + (far ? 1 : 0);
      const auto axis = static_cast<Eigen::Index>(k);
      weight *= far ? share[axis] : 1 - share[axis];
    }
    sum += weight * static_cast<double>(distances[(at[2] * points[1] + at[1]) * points[0] + at[0]]);
  }
  return sum;
}

DistanceTexture makeDistanceTexture(const sdf::Field& field, const Box3& box, uint32_t points) {
  if (points < 4 || points > 512)
    throw Error(ErrorKind::Usage,
                fmt::format("a distance texture of {} points; 4 to 512 are possible", points));
  const Vec3 size = box.upper - box.lower;
  if (box.empty() || !size.allFinite() || size.maxCoeff() <= 0)
    throw Error(ErrorKind::Usage, "the box of a distance texture is empty or has no end");
  DistanceTexture texture;
  texture.spacing = size.maxCoeff() / (points - 3);
  texture.first = box.lower - Vec3::Constant(texture.spacing);
  size_t count = 1;
  for (int k = 0; k < 3; ++k) {
    texture.points[k] =
        std::min(points, static_cast<uint32_t>(std::ceil(size[k] / texture.spacing - 1e-9)) + 3);
    count *= texture.points[k];
  }
  texture.distances.resize(count);
  const size_t plane = size_t(texture.points[0]) * texture.points[1];
  std::vector<Vec3> places(plane);
  std::vector<double> values(plane);
  for (uint32_t z = 0; z < texture.points[2]; ++z) {
    for (size_t i = 0; i < plane; ++i)
      places[i] = texture.first + texture.spacing * Vec3(static_cast<double>(i % texture.points[0]),
                                                         static_cast<double>(i / texture.points[0]), z);
    sdf::valuesOf(field, places, values);
    for (size_t i = 0; i < plane; ++i) texture.distances[z * plane + i] = static_cast<float>(values[i]);
  }
  return texture;
}

}  // namespace sunder::soft
