#include "sunder/world/parts/forces.h"

#include "sunder/base/error.h"

#include <cmath>

#include <fmt/core.h>

namespace sunder::world {

namespace {

using rigid::BodyIndex;
using rigid::Simulation;

// The step that holds a time. A hair of tolerance, because times are decimal and steps are not.
uint64_t stepOf(double time, double timeStep) {
  const double step = std::floor(time / timeStep + 1e-6);
  return step < 1e18 ? static_cast<uint64_t>(step) : UINT64_MAX;
}

void wind(const ForceSpec& force, Simulation& simulation, BodyIndex body) {
  const double mass = simulation.mass(body), dt = simulation.settings().timeStep;
  const double radius = std::cbrt(0.75 / kPi * simulation.shape(body)->mass().volume);
  const Vec3 relative = force.vector - simulation.velocity(body);
  double factor = 0.5 * force.density * force.dragCoefficient * kPi * radius * radius * relative.norm();
  factor = std::min(factor, mass / dt);
  simulation.addForce(body, factor * relative);
}

void drag(const ForceSpec& force, Simulation& simulation, BodyIndex body) {
  const double mass = simulation.mass(body), dt = simulation.settings().timeStep;
  const rigid::Shape& shape = *simulation.shape(body);
  simulation.addForce(body, -mass * force.linear / (1 + force.linear * dt) * simulation.velocity(body));
  if (!(force.angular > 0)) return;
  const Quat frame = simulation.pose(body).rotation * shape.massFrame().rotation;
  const Vec3 inertia = shape.principalInertia() * (mass / shape.mass().volume);
  const Vec3 spin = frame.conjugate() * simulation.angularVelocity(body);
  simulation.addTorque(body,
                       frame * Vec3(-force.angular / (1 + force.angular * dt) * inertia.cwiseProduct(spin)));
}

void attract(const ForceSpec& force, Simulation& simulation, BodyIndex body) {
  const Vec3 way = force.vector - simulation.centre(body);
  const double distance = way.norm(), ratio = distance / force.radius;
  if (!(distance > 0)) return;
  const double acceleration = force.strength * (ratio < 1 ? ratio : 1 / (ratio * ratio));
  simulation.addForce(body, simulation.mass(body) * acceleration / distance * way);
}

void explode(const ForceSpec& force, Simulation& simulation, BodyIndex body) {
  const Vec3 centre = simulation.centre(body), way = centre - force.vector;
  const double distance = way.norm();
  if (distance >= force.radius) return;
  const Vec3 direction = distance > 1e-9 * force.radius ? Vec3(way / distance) : Vec3(Vec3::UnitY());
  simulation.wake(body);
  simulation.applyImpulse(body, force.strength * (1 - distance / force.radius) * direction, centre);
}

void apply(const ForceSpec& force, Simulation& simulation, BodyIndex body) {
  switch (force.kind) {
    case ForceKind::Gravity:
      simulation.addForce(body, simulation.mass(body) * (force.vector - simulation.settings().gravity));
      break;
    case ForceKind::Wind:
      wind(force, simulation, body);
      break;
    case ForceKind::Drag:
      drag(force, simulation, body);
      break;
    case ForceKind::Explosion:
      explode(force, simulation, body);
      break;
    case ForceKind::Attractor:
      attract(force, simulation, body);
      break;
  }
}

}  // namespace

ForceSteps stepsOf(const ForceSpec& force, double timeStep) {
  const bool once = force.kind == ForceKind::Explosion;
  const uint64_t first = stepOf(once ? force.time : force.from, timeStep);
  return {first, once ? first + 1 : stepOf(force.until, timeStep)};
}

void applyForces(std::span<const ForceSpec> forces, Simulation& simulation, uint64_t step) {
  const double dt = simulation.settings().timeStep;
  for (const ForceSpec& force : forces) {
    const bool once = force.kind == ForceKind::Explosion;
    const auto [first, last] = stepsOf(force, dt);
    const bool change = !once && (step == first || step == last) && step > 0;
    if (step < first || (step >= last && !change)) continue;
    for (const uint32_t index : force.bodies) {
      const BodyIndex body(index);
      if (!simulation.exists(body)) continue;
      if (change) simulation.wake(body);
      if (step >= last || (!once && !simulation.awake(body))) continue;
      try {
        apply(force, simulation, body);
      } catch (const Error& error) {
        throw Error(ErrorKind::Numerical,
                    fmt::format("body {} '{}': {}", index, simulation.name(body), error.message()))
            .hint("look for extreme forces and speeds");
      }
    }
  }
}

}  // namespace sunder::world
