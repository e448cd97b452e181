#include "sunder/fluid/surface/particle_shapes.h"

#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/spatial/points/point_grid.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>

namespace sunder::fluid {

namespace {

// Lengths in spacings.
constexpr double kReach = 3;        // of neighbourhoods
constexpr double kSupport = 2.75;   // radius of the shape of a particle with neighbours all around
constexpr double kRound = 2;        // the same where shapes are balls: wider ones would lose sheets
constexpr double kLone = 1;         // radius of the shape of one without any
constexpr double kLayer = 1;        // half the thickness of a layer
constexpr double kAveraging = 0.9;  // how far particles go to the average of their layer
constexpr double kStretch = 3;      // longest axis over shortest, at most
constexpr double kLongest = 1.25;   // longest axis, of the support
constexpr double kThinnest = 1.5;   // shortest axis in cells: thinner shapes fall between the nodes

// A full neighbourhood: the sum of the weights 1 - (r/reach)^3 at one particle a cubic spacing, and the
// variance of a coordinate, both as integrals.
constexpr double kFullSum = 4 * kPi * kReach * kReach * kReach / 6;
constexpr double kFullVariance = 0.15 * kReach * kReach;

constexpr double kFewest = 0.02, kEnough = 0.12;  // of a full sum: alone below, not alone above
// Neighbourhoods of the inside: nearly full, and their middle this near to the particle, in reaches.
constexpr double kDeepFilling = 0.85, kDeepShift = 0.05;

constexpr double kPeak = 315 / (64 * kPi);  // (1 - q^2)^3 times this has the integral one

struct Neighbourhood {
  double company = 0;  // 0: alone, 1: not alone
  bool deep = false;   // the surface is far: a ball does
  Mat3 axes = Mat3::Identity();
  Vec3 deviations = Vec3::Ones();  // along the axes, ascending, of those of a full one
};

Neighbourhood neighbourhood(std::span<const Vec3> positions, size_t i, std::span<const uint32_t> row,
                            double spacing) {
  Neighbourhood result;
  const double scale = 1 / (kReach * spacing);
  double sum = 1;  // the particle itself
  Vec3 mean = Vec3::Zero();
  double xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;
  for (const uint32_t j : row) {
    const Vec3 away = (positions[j] - positions[i]) * scale;
    const double square = away.squaredNorm(), weight = 1 - square * std::sqrt(square);
    const Vec3 weighed = weight * away;
    sum += weight;
    mean += weighed;
    xx += weighed.x() * away.x(), xy += weighed.x() * away.y(), xz += weighed.x() * away.z();
    yy += weighed.y() * away.y(), yz += weighed.y() * away.z(), zz += weighed.z() * away.z();
  }
  const double filling = (sum - 1) / kFullSum;
  const double share = std::clamp((filling - kFewest) / (kEnough - kFewest), 0.0, 1.0);
  result.company = share * share * (3 - 2 * share);
  mean /= sum;
  result.deep = filling > kDeepFilling && mean.squaredNorm() < kDeepShift * kDeepShift;
  if (result.deep) return result;
  Mat3 covariance;
  covariance << xx, xy, xz, xy, yy, yz, xz, yz, zz;
  covariance = covariance / sum - mean * mean.transpose();
  Eigen::SelfAdjointEigenSolver<Mat3> solver;
  solver.computeDirect(covariance);
  result.axes = solver.eigenvectors();
  for (int k = 0; k < 3; ++k)
    result.deviations[k] =
        std::sqrt(std::max(solver.eigenvalues()[k], 0.0) * kReach * kReach / kFullVariance);
  if (!result.axes.allFinite() || !result.deviations.allFinite()) return {};
  return result;
}

// To the middle of the particle's layer, along the normal: moves along the layer would make clusters.
Vec3 toLayer(std::span<const Vec3> positions, size_t i, std::span<const uint32_t> row, const Vec3& normal,
             double spacing) {
  const double scale = 1 / (kReach * spacing), layer = 1 / (kLayer * spacing);
  double sum = 1, mean = 0;
  for (const uint32_t j : row) {
    const Vec3 away = positions[j] - positions[i];
    const double height = away.dot(normal) * layer, share = std::max(1 - height * height, 0.0);
    const double square = away.squaredNorm() * scale * scale;
    const double weight = (1 - square * std::sqrt(square)) * share * share;
    sum += weight;
    mean += weight * height;
  }
  return normal * (kLayer * spacing * mean / sum);
}

}  // namespace

std::vector<ParticleShape> particleShapes(std::span<const Vec3> positions, const SurfaceSettings& settings) {
  const ProfileScope scope("shapes");
  const double spacing = 2 * settings.radius, volume = spacing * spacing * spacing;
  spatial::NeighbourRows rows;
  spatial::pointNeighbours(positions, kReach * spacing, rows);

  const double thinnest = std::min(kThinnest * settings.cell / spacing, kLone);
  // A lone ball of the particle's volume has this radius; its field has the level there.
  const double ball = std::cbrt(3 / (4 * kPi)), within = 1 - ball * ball / (kLone * kLone);
  const double loneWeight = kSurfaceLevel / (within * within * within);

  std::vector<ParticleShape> shapes(positions.size());
  parallelFor(
      positions.size(),
      [&](size_t i) {
        const Neighbourhood here = neighbourhood(positions, i, rows.row(i), spacing);
        const double company = here.company;
        ParticleShape& shape = shapes[i];
        shape.deep = here.deep;
        shape.centre = positions[i];
        if (!here.deep && company > 0)
          shape.centre +=
              kAveraging * company * toLayer(positions, i, rows.row(i), here.axes.col(0), spacing);
        Vec3 radii = Vec3::Constant(kRound);
        if (settings.method == SurfaceMethod::Anisotropic)
          for (int k = 0; k < 3; ++k)
            radii[k] = kSupport *
                       std::clamp(std::max(here.deviations[k], here.deviations[2] / kStretch), 0.1, kLongest);
        radii = (kLone + company * (radii.array() - kLone)).max(thinnest) * spacing;
        // The lone ball's weight is what fits its level, that of others what makes the integral the volume.
        const double full = volume * kPeak / radii.prod();
        shape.weight = float(company * full + (1 - company) * loneWeight);
        const Mat3 inverse = here.axes * radii.cwiseAbs2().asDiagonal() * here.axes.transpose();
        const Mat3 metric = here.axes * radii.cwiseAbs2().cwiseInverse().asDiagonal() * here.axes.transpose();
        const double entries[6] = {metric(0, 0), metric(1, 1), metric(2, 2),
                                   metric(0, 1), metric(0, 2), metric(1, 2)};
        std::copy_n(entries, 6, shape.metric);
        shape.reach = inverse.diagonal().cwiseSqrt().cast<float>();
      },
      1024);
  return shapes;
}

}  // namespace sunder::fluid
