#include "sunder/fluid/boundary/skin.h"

#include "sunder/fluid/boundary/near_points.h"
#include "sunder/fluid/boundary/poisson_disk.h"
#include "sunder/geometry/mesh_view.h"
#include "sunder/geometry/normals.h"

#include <limits>

namespace sunder::fluid {

namespace {
constexpr size_t kDartsOfAPatch = 20;  // areas are right to a quarter, and add up to the whole
}

SkinPtr makeSkin(const geometry::TriMesh& mesh, double spacing) {
  auto skin = std::make_shared<Skin>();
  const double area = geometry::surfaceArea(mesh);
  const std::vector<Vec3> normals = geometry::faceNormals(mesh);
  for (const sdf::SurfaceSample& sample : poissonDiskSamples(mesh, spacing)) {
    skin->points.push_back(sample.point);
    skin->normals.push_back(normals[sample.triangle]);
  }
  // Each dart belongs to the nearest patch that looks the same way.
  skin->areas.assign(skin->points.size(), 0);
  const NearPoints patches(skin->points, 2 * spacing);
  const std::vector<sdf::SurfaceSample> darts =
      sdf::scatterOnSurface(mesh, kDartsOfAPatch * skin->points.size(), 2);
  for (const sdf::SurfaceSample& dart : darts) {
    double nearest = std::numeric_limits<double>::infinity();
    size_t owner = 0;
    patches.any(dart.point, [&](uint32_t k) {
      const double turned = 1 - skin->normals[k].dot(normals[dart.triangle]);
      const double far = (skin->points[k] - dart.point).squaredNorm() + turned * spacing * spacing;
      if (far < nearest) {
        nearest = far;
        owner = k;
      }
      return false;
    });
    skin->areas[owner] += area / double(darts.size());
  }
  return skin;
}

}  // namespace sunder::fluid
