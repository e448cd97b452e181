#include "sunder/soft/contact/largest_offset.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace sunder::soft {

namespace {

constexpr size_t kOffsetGrain = 64;

struct OffsetHit {
  double depth = 0;
  Vec3 normal = Vec3::UnitY();
  Vec3 change = Vec3::Zero();  // of the sphere's velocity
};

OffsetHit deepestHit(const ContactSphere& sphere, const ContactBody& body, const Vec3& place,
                     const Vec3& velocity, std::span<const ObstacleBody> obstacles) {
  OffsetHit hit;
  for (const ObstacleBody& obstacle : obstacles) {
    const ObstacleSample sample = obstacle.shape->at(obstacle.after.toLocal(place));
    const double depth = sphere.radius - sample.distance;
    if (!(depth > hit.depth)) continue;
    hit.depth = depth;
    hit.normal = obstacle.after.rotation * sample.gradient;
    const Vec3 arm = place - obstacle.after.point(obstacle.centre);
    const Vec3 relative = velocity - obstacle.velocity - obstacle.angularVelocity.cross(arm);
    hit.change = respond(relative, hit.normal, restitutionOf(body.restitution, obstacle.restitution),
                         frictionOf(body.friction, obstacle.friction)) -
                 relative;
  }
  return hit;
}

}  // namespace

OffsetShares offsetShares(const std::array<double, 4>& barycentric, const std::array<double, 4>& masses) {
  std::array<double, 4> each{};
  double sum = 0;
  for (size_t k = 0; k < 4; ++k) {
    each[k] = masses[k] > 0 ? barycentric[k] / masses[k] : 0;
    sum += barycentric[k] * each[k];
  }
  if (!(sum > 0)) return {};
  for (double& w : each) w /= sum;
  return {each, 1 / sum};
}

Vec3 respond(const Vec3& velocity, const Vec3& normal, double restitution, double friction) {
  const double approach = normal.dot(velocity);
  if (!(approach < 0)) return velocity;
  const Vec3 along = velocity - approach * normal;
  const double speed = along.norm();
  const double kept =
      speed > 0 ? std::max(0.0, 1 - friction * (1 + restitution) * std::abs(approach) / speed) : 0;
  return -restitution * approach * normal + kept * along;
}

OffsetOutcome applyLargestOffset(std::span<const geometry::Tetrahedron> tets,
                                 std::span<const ContactSphere> spheres, std::span<const ContactBody> bodies,
                                 std::span<const ObstacleBody> obstacles, std::span<const double> masses,
                                 std::span<Vec3> positions, std::span<Vec3> velocities) {
  if (positions.size() != velocities.size() || positions.size() != masses.size())
    throw Error(ErrorKind::Usage, fmt::format("{} positions, {} velocities and {} masses", positions.size(),
                                              velocities.size(), masses.size()));
  for (size_t i = 0; i < spheres.size(); ++i)
    if (spheres[i].tet >= tets.size() || spheres[i].body >= bodies.size())
      throw Error(ErrorKind::Usage, fmt::format("sphere {} is in tetrahedron {} of {} and body {} of {}", i,
                                                spheres[i].tet, tets.size(), spheres[i].body, bodies.size()));

  std::vector<OffsetHit> hits(spheres.size());
  parallelFor(
      spheres.size(),
      [&](size_t i) {
        const ContactSphere& s = spheres[i];
        hits[i] = deepestHit(s, bodies[s.body], blended(tets[s.tet], s.weights, positions),
                             blended(tets[s.tet], s.weights, velocities), obstacles);
      },
      kOffsetGrain);

  OffsetOutcome outcome;
  std::vector<Vec3> offsets(positions.size(), Vec3::Zero()), changes(positions.size(), Vec3::Zero());
  std::vector<double> largest(positions.size(), 0);
  for (size_t i = 0; i < spheres.size(); ++i) {
    const OffsetHit& hit = hits[i];
    if (!(hit.depth > 0)) continue;
    ++outcome.hits;
    outcome.deepest = std::max(outcome.deepest, hit.depth);
    const geometry::Tetrahedron& tet = tets[spheres[i].tet];
    const OffsetShares shares =
        offsetShares(spheres[i].weights, {masses[tet[0]], masses[tet[1]], masses[tet[2]], masses[tet[3]]});
    for (size_t k = 0; k < 4; ++k) {
      const double size = std::abs(shares.weights[k]) * hit.depth;
      if (!(size > largest[tet[k]])) continue;
      largest[tet[k]] = size;
      offsets[tet[k]] = shares.weights[k] * hit.depth * hit.normal;
      changes[tet[k]] = shares.weights[k] * hit.change;
    }
  }
  for (size_t v = 0; v < positions.size(); ++v) {
    if (!(largest[v] > 0)) continue;
    ++outcome.vertices;
    positions[v] += offsets[v];
    velocities[v] += changes[v];
    outcome.momentum += masses[v] * changes[v];
  }
  return outcome;
}

}  // namespace sunder::soft
