#include "sunder/show/solid_depths.h"

#include "sunder/spatial/query/mesh_queries.h"

#include <algorithm>
#include <cmath>

namespace sunder::show {

namespace {

constexpr uint32_t kMostDepths = 32;  // along a side

}  // namespace

// To the nearest triangle of the outside. Points outside of the body have depths too, which nobody asks for.
SoftDepths depthsOf(const record::CagedSurface& caged) {
  SoftDepths depths;
  geometry::TriMesh mesh;
  Box3f box;
  for (const Vec3f& p : caged.surface->positions) {
    mesh.positions.push_back(p.cast<double>());
    box.grow(p);
  }
  const std::vector<uint32_t>& walls = caged.embedding->walls;
  for (size_t t = 0; t < caged.surface->triangles.size(); ++t)
    if (walls.empty() || walls[t] == kNoIndex) mesh.triangles.push_back(caged.surface->triangles[t]);
  if (mesh.triangles.empty() || box.empty()) return depths;
  depths.lower = box.lower;
  depths.upper = box.upper;
  const Vec3f size = box.upper - box.lower;
  const float cell = std::max(size.maxCoeff(), 1e-12f) / float(kMostDepths - 1);
  size_t points = 1;
  for (int k = 0; k < 3; ++k) {
    depths.count[size_t(k)] = std::clamp(uint32_t(std::lround(size[k] / cell)) + 1, 2u, kMostDepths);
    points *= depths.count[size_t(k)];
  }
  const auto [nx, ny, nz] = depths.count;
  std::vector<Vec3> places;
  places.reserve(points);
  for (uint32_t z = 0; z < nz; ++z)
    for (uint32_t y = 0; y < ny; ++y)
      for (uint32_t x = 0; x < nx; ++x) {
        const Vec3f share(float(x) / float(nx - 1), float(y) / float(ny - 1), float(z) / float(nz - 1));
        places.push_back((box.lower + share.cwiseProduct(size)).cast<double>());
      }
  std::vector<spatial::ClosestPoint> nearest(points);
  spatial::MeshQuery(mesh).closest(places, nearest);
  double deepest = 0;
  for (const spatial::ClosestPoint& n : nearest) deepest = std::max(deepest, n.squaredDistance);
  depths.deepest = float(std::sqrt(deepest));
  for (const spatial::ClosestPoint& n : nearest)
    depths.shares.push_back(deepest > 0 ? uint8_t(std::lround(255 * std::sqrt(n.squaredDistance / deepest)))
                                        : uint8_t(0));
  return depths;
}

float SoftDepths::share(const Vec3f& place) const {
  if (shares.empty()) return 0;
  std::array<uint32_t, 3> first{};
  Vec3f part;
  for (int k = 0; k < 3; ++k) {
    const float size = std::max(upper[k] - lower[k], 1e-20f);
    const auto last = float(count[size_t(k)] - 1);
    const float at = std::clamp((place[k] - lower[k]) / size, 0.0f, 1.0f) * last;
    first[size_t(k)] = std::min(uint32_t(at), count[size_t(k)] - 2);
    part[k] = at - float(first[size_t(k)]);
  }
  float sum = 0;
  for (uint32_t corner = 0; corner < 8; ++corner) {
    float weight = 1;
    std::array<size_t, 3> at{};
    for (size_t k = 0; k < 3; ++k) {
      const uint32_t upper = corner >> k & 1u;
      at[k] = first[k] + upper;
      weight *= upper ? part[int(k)] : 1 - part[int(k)];
    }
    sum += weight * float(shares[(at[2] * count[1] + at[1]) * count[0] + at[0]]);
  }
  return sum / 255;
}

}  // namespace sunder::show
