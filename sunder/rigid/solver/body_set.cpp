#include "sunder/rigid/solver/body_set.h"

#include "sunder/base/error.h"
#include "sunder/rigid/solver/rotation.h"

#include <cmath>

#include <fmt/format.h>

namespace sunder::rigid {

namespace {

constexpr double kSlowTurn = 0.02;  // rad in a substep: below, one explicit turn is as good
constexpr double kSlender =
    20;  // ... unless the largest moment of inertia exceeds this multiple of the smallest

bool finite(const Pose& pose) { return pose.position.allFinite() && pose.rotation.coeffs().allFinite(); }

}  // namespace

std::string BodySet::describe(uint32_t body) const {
  const std::string& name = constants[body].name;
  return name.empty() ? fmt::format("body {}", body) : fmt::format("body {} '{}'", body, name);
}

uint32_t BodySet::add(const BodySettings& s) {
  const uint32_t index = count();
  const std::string who =
      s.name.empty() ? fmt::format("body {}", index) : fmt::format("body {} '{}'", index, s.name);
  const auto refuse = [&](const std::string& what, const std::string& hint) {
    throw Error(ErrorKind::Usage, who + " " + what).hint(hint);
  };
  if (!s.shape) refuse("has no shape", "make one with makeBox, makeSolid, ...");
  if (!finite(s.pose)) refuse("has a pose that is not finite", "give numbers");
  if (std::abs(s.pose.rotation.norm() - 1) > 1e-6)
    refuse("has a rotation that is not of unit length", "normalize the quaternion");
  if (!s.velocity.allFinite() || !s.angularVelocity.allFinite())
    refuse("has a velocity that is not finite", "give numbers");
  if (!(s.surface.friction >= 0) || !(s.surface.restitution >= 0) || s.surface.restitution > 1 ||
      !(s.surface.rollingFriction >= 0) || !std::isfinite(s.surface.friction) ||
      !std::isfinite(s.surface.rollingFriction))
    refuse("has a surface that makes no sense", "friction and rolling friction >= 0, restitution in 0..1");
  if (!(s.linearDamping >= 0) || !(s.angularDamping >= 0) || !std::isfinite(s.gravityScale))
    refuse("has a damping below 0 or a gravity scale that is not finite", "use values >= 0");

  BodyConstants c;
  c.kind = s.kind;
  c.shape = s.shape;
  c.plane = s.shape->kind() == ShapeKind::Plane;
  c.ball = s.shape->kind() == ShapeKind::Sphere;
  c.name = s.name;
  c.surface = s.surface;
  c.massFrame = s.shape->massFrame();
  c.fromMassFrame = inverse(c.massFrame);
  c.gravityScale = s.gravityScale;
  c.linearDamping = s.linearDamping;
  c.angularDamping = s.angularDamping;
  c.category = s.category;
  c.mask = s.mask;
  c.group = s.group;
  c.canSleep = s.canSleep;
  c.outer = s.shape->outerRadius();
  c.inner = s.shape->innerRadius();
  if (c.dynamic()) {
    if (c.plane) refuse("is a plane that moves", "planes are static or kinematic");
    const double volume = s.shape->mass().volume;
    const double density = s.mass ? *s.mass / volume : s.density;
    const double mass = s.mass ? *s.mass : density * volume;
    if (!(mass > 0) || !std::isfinite(mass) || !(density > 0))
      refuse(fmt::format("has the mass {} kg", mass), "mass and density must be positive");
    c.mass = mass;
    c.inverseMass = 1 / mass;
    c.inertia = s.shape->principalInertia() * density;
    if (!(c.inertia.minCoeff() > 0)) refuse("has no inertia", "its shape encloses no volume");
    c.inverseInertia = c.inertia.cwiseInverse();
    if (!c.inverseInertia.allFinite() || !std::isfinite(c.inverseMass))
      refuse(fmt::format("has the mass {} kg, too small to divide by", mass), "use a larger one");
    c.round = c.inertia.maxCoeff() - c.inertia.minCoeff() <= 1e-9 * c.inertia.maxCoeff();
    if (c.round) {
      c.inertia = Vec3::Constant(c.inertia.x());
      c.inverseInertia = Vec3::Constant(c.inverseInertia.x());
    }
  }
  heads.emplace_back(*s.shape);
  solids |= s.shape->kind() == ShapeKind::Solid;
  constants.push_back(std::move(c));

  state.exists.push_back(1);
  state.awake.push_back(1);
  state.hasTarget.push_back(0);
  state.position.emplace_back(Vec3::Zero());
  state.rotation.emplace_back(Quat::Identity());
  state.modelPose.emplace_back();
  if (state.solverBody.empty()) state.solverBody.emplace_back();
  state.solverBody.emplace_back();
  state.force.emplace_back(Vec3::Zero());
  state.torque.emplace_back(Vec3::Zero());
  state.quiet.push_back(0);
  state.island.push_back(index);
  state.target.emplace_back();
  setModelPose(index, s.pose);
  if (s.kind != BodyKind::Static) {
    state.solverBody[index].velocity() = s.velocity;
    state.solverBody[index].angularVelocity() = s.angularVelocity;
  }
  refreshSolverBody(index);
  return index;
}

bool BodySet::active(uint32_t body) const {
  const BodyConstants& c = constants[body];
  if (c.kind == BodyKind::Static) return false;
  if (c.dynamic()) return state.awake[body];
  const SolverBody& m = state.solverBody[body];
  return state.hasTarget[body] || !m.velocity().isZero(0) || !m.angularVelocity().isZero(0);
}

void BodySet::move(uint32_t body, double time) {
  const BodyConstants& c = constants[body];
  SolverBody& m = state.solverBody[body];
  const Vec3 step = time * m.velocity(), turn = time * m.angularVelocity();
  state.position[body] += step;
  m.movedBy() += step;
  m.turnedBy() += turn;
  Quat& rotation = state.rotation[body];
  if (c.round || !c.dynamic()) {
    turnSteadily(rotation, m.angularVelocity(), time);
    return;
  }
  if (turn.squaredNorm() < kSlowTurn * kSlowTurn && c.inertia.maxCoeff() < kSlender * c.inertia.minCoeff()) {
    const Vec3 momentum = rotation * c.inertia.cwiseProduct(rotation.conjugate() * Vec3(m.angularVelocity()));
    turnSteadily(rotation, m.angularVelocity(), time);
    m.setInverseInertia(turnedDiagonal(rotation, c.inverseInertia));
    m.angularVelocity() = m.inverseInertiaTimes(momentum);
  } else {
    Vec3 angularVelocity = m.angularVelocity();
    turnFreely(rotation, angularVelocity, c.inertia, false, time);
    m.angularVelocity() = angularVelocity;
    m.setInverseInertia(turnedDiagonal(rotation, c.inverseInertia));
  }
}

void BodySet::updateModelPose(uint32_t body) {
  state.modelPose[body] = Pose{state.position[body], state.rotation[body]} * constants[body].fromMassFrame;
}

void BodySet::setModelPose(uint32_t body, const Pose& pose) {
  const Pose own = pose * constants[body].massFrame;
  state.position[body] = own.position;
  state.rotation[body] = own.rotation.normalized();
  updateModelPose(body);
}

void BodySet::refreshSolverBody(uint32_t body) {
  SolverBody& m = state.solverBody[body];
  if (!dynamicAwake(body)) {
    m.inverseMass = 0;
    m.setInverseInertia(Mat3::Zero());
    return;
  }
  const BodyConstants& c = constants[body];
  m.inverseMass = c.inverseMass;
  m.uneven = c.round ? 0 : 1;
  m.setInverseInertia(c.round ? Mat3(c.inverseInertia.asDiagonal())
                              : turnedDiagonal(state.rotation[body], c.inverseInertia));
}

void BodySet::wake(uint32_t body) {
  state.quiet[body] = 0;
  if (state.awake[body]) return;
  state.awake[body] = 1;
  refreshSolverBody(body);
}

}  // namespace sunder::rigid
