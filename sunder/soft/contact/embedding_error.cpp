#include "sunder/soft/contact/embedding_error.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/soft/contact/contact_sphere.h"

#include <algorithm>

#include <fmt/format.h>

namespace sunder::soft {

namespace {

constexpr size_t kTargetGrain = 256;
constexpr double kEnoughResidual = 1e-12;  // of the first residual

void requireSurface(std::span<const geometry::Tetrahedron> tets, std::span<const SurfacePoint> surface,
                    size_t targets, size_t vertices) {
  if (targets != surface.size())
    throw Error(ErrorKind::Usage,
                fmt::format("{} targets for {} points of a surface", targets, surface.size()));
  for (size_t i = 0; i < surface.size(); ++i) {
    if (surface[i].place.tet >= tets.size())
      throw Error(ErrorKind::Usage, fmt::format("point {} of a surface is in tetrahedron {} of {}", i,
                                                surface[i].place.tet, tets.size()));
    for (const uint32_t v : tets[surface[i].place.tet])
      if (v >= vertices) throw Error(ErrorKind::Usage, fmt::format("vertex {} of {}", v, vertices));
  }
}

// result = sum_v a_v b_v (b_v . u), the matrix of the least squares times u, one for all three axes.
void multiplySquares(std::span<const geometry::Tetrahedron> tets, std::span<const SurfacePoint> surface,
                     std::span<const Vec3> u, std::span<Vec3> result) {
  std::fill(result.begin(), result.end(), Vec3::Zero());
  for (const SurfacePoint& p : surface) {
    const geometry::Tetrahedron& tet = tets[p.place.tet];
    const Vec3 at = p.area * blended(tet, p.place.weights, u);
    for (size_t k = 0; k < 4; ++k) result[tet[k]] += p.place.weights[k] * at;
  }
}

}  // namespace

PenetrationTargets penetrationTargets(std::span<const geometry::Tetrahedron> tets,
                                      std::span<const SurfacePoint> surface,
                                      std::span<const ObstacleBody> obstacles,
                                      std::span<const Vec3> positions) {
  requireSurface(tets, surface, surface.size(), positions.size());
  PenetrationTargets targets;
  targets.offsets.assign(surface.size(), Vec3::Zero());
  parallelFor(
      surface.size(),
      [&](size_t i) {
        const TetPoint& point = surface[i].place;
        const Vec3 place = blended(tets[point.tet], point.weights, positions);
        double most = 0;
        for (const ObstacleBody& obstacle : obstacles) {
          const ObstacleSample sample = obstacle.shape->at(obstacle.after.toLocal(place));
          if (!(-sample.distance > most)) continue;
          most = -sample.distance;
          targets.offsets[i] = most * (obstacle.after.rotation * sample.gradient);
        }
      },
      kTargetGrain);
  for (const Vec3& offset : targets.offsets) {
    const double depth = offset.norm();
    targets.penetrating += depth > 0;
    targets.deepest = std::max(targets.deepest, depth);
  }
  return targets;
}

double offsetError(std::span<const geometry::Tetrahedron> tets, std::span<const SurfacePoint> surface,
                   std::span<const Vec3> targets, std::span<const Vec3> displacements) {
  requireSurface(tets, surface, targets.size(), displacements.size());
  double sum = 0;
  for (size_t i = 0; i < surface.size(); ++i) {
    const TetPoint& point = surface[i].place;
    sum +=
        surface[i].area * (blended(tets[point.tet], point.weights, displacements) - targets[i]).squaredNorm();
  }
  return sum;
}

BestOffsets bestOffsets(std::span<const geometry::Tetrahedron> tets, std::span<const SurfacePoint> surface,
                        std::span<const Vec3> targets, size_t vertices, size_t mostIterations) {
  requireSurface(tets, surface, targets.size(), vertices);
  BestOffsets best;
  best.displacements.assign(vertices, Vec3::Zero());
  std::vector<Vec3> residual(vertices, Vec3::Zero()), along, product(vertices);
  for (size_t i = 0; i < surface.size(); ++i) {
    const TetPoint& point = surface[i].place;
    for (size_t k = 0; k < 4; ++k)
      residual[tets[point.tet][k]] += surface[i].area * point.weights[k] * targets[i];
  }
  // Conjugate gradients on all three axes at once, with steps of each. The matrix may be singular; what it
  // cannot move stays zero, so the displacements are the shortest ones.
  along = residual;
  const auto inner = [](std::span<const Vec3> a, std::span<const Vec3> b) {
    Vec3 sum = Vec3::Zero();
    for (size_t i = 0; i < a.size(); ++i) sum += a[i].cwiseProduct(b[i]);
    return sum;
  };
  Vec3 size = inner(residual, residual);
  const Vec3 enough = kEnoughResidual * kEnoughResidual * size;
  for (size_t iteration = 0; iteration < mostIterations; ++iteration) {
    if ((size.array() <= enough.array()).all()) break;
    multiplySquares(tets, surface, along, product);
    const Vec3 slope = inner(along, product);
    Vec3 step = Vec3::Zero(), turn = Vec3::Zero();
    for (int k = 0; k < 3; ++k)
      if (slope[k] > 0 && size[k] > enough[k]) step[k] = size[k] / slope[k];
    for (size_t v = 0; v < vertices; ++v) {
      best.displacements[v] += step.cwiseProduct(along[v]);
      residual[v] -= step.cwiseProduct(product[v]);
    }
    const Vec3 next = inner(residual, residual);
    for (int k = 0; k < 3; ++k)
      if (step[k] > 0 && size[k] > 0) turn[k] = next[k] / size[k];
    if (step == Vec3::Zero()) break;
    for (size_t v = 0; v < vertices; ++v) along[v] = residual[v] + turn.cwiseProduct(along[v]);
    size = next;
  }
  best.error = offsetError(tets, surface, targets, best.displacements);
  return best;
}

}  // namespace sunder::soft
