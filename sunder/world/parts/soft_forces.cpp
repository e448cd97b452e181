#include "sunder/world/parts/soft_forces.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

namespace sunder::world {

namespace {

double massOf(const SoftMatter& body) {
  double mass = 0;
  for (const uint32_t v : body.vertices) mass += body.masses[v];
  return mass;
}

void wind(const ForceSpec& force, const SoftMatter& body, double dt, std::span<Vec3> accelerations) {
  const double mass = massOf(body), radius = std::cbrt(0.75 / kPi * body.volume);
  const double drag = 0.5 * force.density * force.dragCoefficient * kPi * radius * radius / mass;
  for (const uint32_t v : body.vertices) {
    const Vec3 relative = force.vector - body.velocities[v];
    accelerations[v] += std::min(drag * relative.norm(), 1 / dt) * relative;
  }
}

void drag(const ForceSpec& force, const SoftMatter& body, double dt, std::span<Vec3> accelerations) {
  const double mass = massOf(body);
  Vec3 centre = Vec3::Zero(), velocity = Vec3::Zero(), momentum = Vec3::Zero();
  for (const uint32_t v : body.vertices) {
    centre += body.masses[v] / mass * body.positions[v];
    velocity += body.masses[v] / mass * body.velocities[v];
  }
  Mat3 inertia = Mat3::Zero();
  for (const uint32_t v : body.vertices) {
    const Vec3 arm = body.positions[v] - centre;
    momentum += body.masses[v] * arm.cross(body.velocities[v] - velocity);
    inertia += body.masses[v] * (arm.squaredNorm() * Mat3::Identity() - arm * arm.transpose());
  }
  const Eigen::LLT<Mat3> factor(inertia);  // none where all vertices lie on a line
  const Vec3 spin = factor.info() == Eigen::Success ? Vec3(factor.solve(momentum)) : Vec3(Vec3::Zero());
  const double slower = force.linear / (1 + force.linear * dt),
               calmer = force.angular / (1 + force.angular * dt);
  for (const uint32_t v : body.vertices)
    accelerations[v] -= slower * velocity + calmer * spin.cross(body.positions[v] - centre);
}

void attract(const ForceSpec& force, const SoftMatter& body, std::span<Vec3> accelerations) {
  for (const uint32_t v : body.vertices) {
    const Vec3 way = force.vector - body.positions[v];
    const double distance = way.norm(), ratio = distance / force.radius;
    if (!(distance > 0)) continue;
    accelerations[v] += force.strength * (ratio < 1 ? ratio : 1 / (ratio * ratio)) / distance * way;
  }
}

void explode(const ForceSpec& force, const SoftMatter& body, double dt, std::span<Vec3> accelerations) {
  const double speed = force.strength / massOf(body);
  for (const uint32_t v : body.vertices) {
    const Vec3 way = body.positions[v] - force.vector;
    const double distance = way.norm();
    if (distance >= force.radius) continue;
    const Vec3 direction = distance > 1e-9 * force.radius ? Vec3(way / distance) : Vec3(Vec3::UnitY());
    accelerations[v] += speed / dt * (1 - distance / force.radius) * direction;
  }
}

}  // namespace

void addForce(const ForceSpec& force, const SoftMatter& body, const Vec3& gravity, double timeStep,
              std::span<Vec3> accelerations) {
  switch (force.kind) {
    case ForceKind::Gravity:
      for (const uint32_t v : body.vertices) accelerations[v] += force.vector - gravity;
      break;
    case ForceKind::Wind:
      wind(force, body, timeStep, accelerations);
      break;
    case ForceKind::Drag:
      drag(force, body, timeStep, accelerations);
      break;
    case ForceKind::Explosion:
      explode(force, body, timeStep, accelerations);
      break;
    case ForceKind::Attractor:
      attract(force, body, accelerations);
      break;
  }
}

}  // namespace sunder::world
