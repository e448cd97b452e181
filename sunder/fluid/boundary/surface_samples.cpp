#include "sunder/fluid/boundary/surface_samples.h"

#include "sunder/fluid/boundary/near_points.h"
#include "sunder/fluid/boundary/poisson_disk.h"
#include "sunder/geometry/mesh_view.h"
#include "sunder/geometry/normals.h"

#include <limits>

namespace sunder::fluid {

namespace {
constexpr size_t kDartsOfAPatch = 20;  // areas are right to a quarter, and add up to the whole
}

SurfaceSamplesPtr makeSurfaceSamples(const geometry::TriMesh& mesh, double spacing) {
  auto samples = std::make_shared<SurfaceSamples>();
  const double area = geometry::surfaceArea(mesh);
  const std::vector<Vec3> normals = geometry::faceNormals(mesh);
  for (const sdf::SurfaceSample& sample : poissonDiskSamples(mesh, spacing)) {
    samples->points.push_back(sample.point);
    samples->normals.push_back(normals[sample.triangle]);
  }
  // Each dart belongs to the nearest patch that looks the same way.
  samples->areas.assign(samples->points.size(), 0);
  const NearPoints patches(samples->points, 2 * spacing);
  const std::vector<sdf::SurfaceSample> darts =
      sdf::scatterOnSurface(mesh, kDartsOfAPatch * samples->points.size(), 2);
  for (const sdf::SurfaceSample& dart : darts) {
    double nearest = std::numeric_limits<double>::infinity();
    size_t owner = 0;
    patches.any(dart.point, [&](uint32_t k) {
      const double turned = 1 - samples->normals[k].dot(normals[dart.triangle]);
      const double far = (samples->points[k] - dart.point).squaredNorm() + turned * spacing * spacing;
      if (far < nearest) {
        nearest = far;
        owner = k;
      }
      return false;
    });
    samples->areas[owner] += area / double(darts.size());
  }
  return samples;
}

}  // namespace sunder::fluid
