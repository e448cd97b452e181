#include "sunder/rigid/solver/simulation.h"

#include "sunder/base/error.h"
#include "sunder/rigid/solver/rotation.h"
#include "sunder/rigid/solver/simulation_impl.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace sunder::rigid {

namespace {

void refuse(bool bad, const std::string& what, const std::string& hint) {
  if (bad) throw Error(ErrorKind::Usage, what).hint(hint);
}

void needFinite(const Vec3& v, const char* what) {
  refuse(!v.allFinite(), fmt::format("{} ({}, {}, {}) is not finite", what, v.x(), v.y(), v.z()),
         "give numbers");
}

}  // namespace

double slowestImpact(const SimulationSettings& settings) {
  constexpr double kSlowest = 0.05;  // m/s, whatever the step
  return std::max(kSlowest, settings.gravity.norm() * settings.timeStep);
}

uint32_t Simulation::Impl::checked(BodyIndex body) const {
  refuse(!body.valid() || body.value >= bodies.count(), fmt::format("there is no body {}", body.value),
         "indices come from addBody");
  refuse(!bodies.state.exists[body.value], bodies.describe(body.value) + " was removed",
         "ask exists() first");
  return body.value;
}

uint32_t Simulation::Impl::checked(JointIndex joint) const {
  refuse(!joint.valid() || joint.value >= joints.size(), fmt::format("there is no joint {}", joint.value),
         "indices come from addJoint");
  return joint.value;
}

void Simulation::Impl::updateUnlinked() {
  unlinked.clear();
  for (const Joint& joint : joints) {
    if (joint.works() && !joint.settings.collide && joint.settings.a.valid())
      unlinked.push_back(pairKey(joint.settings.a.value, joint.settings.b.value));
  }
  std::sort(unlinked.begin(), unlinked.end());
}

void Simulation::Impl::wakeIsland(uint32_t body) {
  if (bodies.state.awake[body]) {
    bodies.wake(body);
    return;
  }
  const uint32_t island = bodies.state.island[body];
  for (uint32_t i = 0; i < bodies.count(); ++i) {
    if (bodies.state.exists[i] && !bodies.state.awake[i] && bodies.state.island[i] == island) bodies.wake(i);
  }
}

Simulation::Simulation(const SimulationSettings& s) : impl_(std::make_unique<Impl>(s)) {
  needFinite(s.gravity, "gravity");
  refuse(!(s.timeStep > 0) || !std::isfinite(s.timeStep), fmt::format("the time step is {} s", s.timeStep),
         "it must be positive");
  refuse(s.substeps < 1 || s.substeps > 1000, fmt::format("{} substeps", s.substeps), "use 1 to 1000");
  const auto positive = [](double value, const char* what) {
    refuse(!(value > 0) || !std::isfinite(value), fmt::format("{} is {}", what, value),
           "it must be positive");
  };
  const auto notNegative = [](double value, const char* what) {
    refuse(!(value >= 0) || !std::isfinite(value), fmt::format("{} is {}", what, value),
           "it may not be negative");
  };
  refuse(!(s.contactRate > 0) || !(s.contactRate <= 0.25), fmt::format("contactRate is {}", s.contactRate),
         "it is a part of the rate of substeps, at most 0.25");
  positive(s.contactDamping, "contactDamping");
  positive(s.pushSpeed, "pushSpeed");
  notNegative(s.slop, "slop");
  notNegative(s.bounceSpeed, "bounceSpeed");
  notNegative(s.sleepSpeed, "sleepSpeed");
  notNegative(s.sleepTime, "sleepTime");
  notNegative(s.eventImpulse, "eventImpulse");
}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

const SimulationSettings& Simulation::settings() const { return impl_->settings; }

BodyIndex Simulation::addBody(const BodySettings& body) { return BodyIndex(impl_->bodies.add(body)); }

JointIndex Simulation::addJoint(const JointSettings& s) {
  const uint32_t index = uint32_t(impl_->joints.size());
  const auto bad = [&](bool wrong, const std::string& what, const std::string& hint) {
    refuse(wrong, fmt::format("joint {} ", index) + what, hint);
  };
  bad(!s.b.valid(), "has no second body", "b is a body; the world can only be a");
  impl_->checked(s.b);
  if (s.a.valid()) impl_->checked(s.a);
  bad(s.a == s.b, "joins a body with itself", "give two bodies, or the world and a body");
  bad(!impl_->bodies.constants[s.b.value].dynamic() &&
          (!s.a.valid() || !impl_->bodies.constants[s.a.value].dynamic()),
      "joins nothing that can move", "one of the bodies must be dynamic");
  bad(!s.anchorA.allFinite() || (s.kind == JointKind::Distance && !s.anchorB.allFinite()),
      "has an anchor that is not finite", "give numbers");
  bad(s.kind == JointKind::Hinge && !(s.axis.norm() > 1e-12 && s.axis.allFinite()),
      "has an axis without a direction", "give a vector that is not zero");
  bad(!(s.lowerAngle <= s.upperAngle), "has a lower angle above its upper one", "swap them");
  bad(!std::isfinite(s.motorSpeed) || !(s.motorTorque >= 0) || !std::isfinite(s.motorTorque),
      "has a motor that makes no sense", "speed must be finite, torque finite and >= 0");
  bad(!(s.breakForce > 0) || !(s.breakTorque > 0), "breaks at a force that is not positive",
      "leave it infinite for a joint that holds");
  impl_->joints.push_back(makeJoint(s, impl_->bodies));
  impl_->updateUnlinked();
  impl_->wakeIsland(s.b.value);
  if (s.a.valid()) impl_->wakeIsland(s.a.value);
  return JointIndex(index);
}

void Simulation::removeBody(BodyIndex body) {
  const uint32_t gone = impl_->checked(body);
  for (const PairRecord& pair : impl_->table.pairs) {
    if (!pair.count || (pair.a != gone && pair.b != gone)) continue;
    impl_->wakeIsland(pair.a == gone ? pair.b : pair.a);
  }
  impl_->wakeIsland(gone);
  for (Joint& joint : impl_->joints) {
    if (joint.settings.b == body || joint.settings.a == body) {
      joint.exists = false;
      const BodyIndex other = joint.settings.a == body ? joint.settings.b : joint.settings.a;
      if (other.valid() && impl_->bodies.state.exists[other.value]) impl_->wakeIsland(other.value);
    }
  }
  impl_->updateUnlinked();
  std::erase_if(impl_->table.pairs, [&](const PairRecord& pair) { return pair.a == gone || pair.b == gone; });
  impl_->table.gaps.clear();
  impl_->bodies.state.exists[gone] = 0;
  impl_->bodies.state.awake[gone] = 0;
  impl_->bodies.state.solverBody[gone] = SolverBody();
}

uint32_t Simulation::bodyCount() const { return impl_->bodies.count(); }
bool Simulation::exists(BodyIndex body) const {
  return body.valid() && body.value < impl_->bodies.count() && impl_->bodies.state.exists[body.value];
}
BodyKind Simulation::kind(BodyIndex body) const { return impl_->bodies.constants[impl_->checked(body)].kind; }
const ShapePtr& Simulation::shape(BodyIndex body) const {
  return impl_->bodies.constants[impl_->checked(body)].shape;
}
const std::string& Simulation::name(BodyIndex body) const {
  return impl_->bodies.constants[impl_->checked(body)].name;
}
double Simulation::mass(BodyIndex body) const {
  const BodyConstants& c = impl_->bodies.constants[impl_->checked(body)];
  return c.dynamic() ? c.mass : std::numeric_limits<double>::infinity();
}
Pose Simulation::pose(BodyIndex body) const { return impl_->bodies.state.modelPose[impl_->checked(body)]; }
Vec3 Simulation::centre(BodyIndex body) const { return impl_->bodies.state.position[impl_->checked(body)]; }
Vec3 Simulation::velocity(BodyIndex body) const {
  return impl_->bodies.state.solverBody[impl_->checked(body)].velocity();
}
Vec3 Simulation::angularVelocity(BodyIndex body) const {
  return impl_->bodies.state.solverBody[impl_->checked(body)].angularVelocity();
}
bool Simulation::awake(BodyIndex body) const {
  const uint32_t i = impl_->checked(body);
  return impl_->bodies.constants[i].dynamic() ? impl_->bodies.state.awake[i] != 0 : impl_->bodies.active(i);
}
Box3 Simulation::bounds(BodyIndex body) const { return impl_->bodies.bounds(impl_->checked(body)); }

void Simulation::setPose(BodyIndex body, const Pose& pose) {
  const uint32_t i = impl_->checked(body);
  needFinite(pose.position, "the position");
  refuse(!(std::abs(pose.rotation.norm() - 1) < 1e-6), "the rotation is not of unit length",
         "normalize the quaternion");
  // What rested on it or it rested on is to notice.
  for (const PairRecord& pair : impl_->table.pairs) {
    if (pair.count && (pair.a == i || pair.b == i)) impl_->wakeIsland(pair.a == i ? pair.b : pair.a);
  }
  impl_->wakeIsland(i);
  impl_->bodies.setModelPose(i, pose);
  impl_->bodies.refreshSolverBody(i);
}

void Simulation::setVelocity(BodyIndex body, const Vec3& velocity, const Vec3& angularVelocity) {
  const uint32_t i = impl_->checked(body);
  needFinite(velocity, "the velocity");
  needFinite(angularVelocity, "the angular velocity");
  refuse(impl_->bodies.constants[i].kind == BodyKind::Static, impl_->bodies.describe(i) + " is static",
         "static bodies do not move; use a kinematic one");
  impl_->wakeIsland(i);
  impl_->bodies.state.solverBody[i].velocity() = velocity;
  impl_->bodies.state.solverBody[i].angularVelocity() = angularVelocity;
  impl_->bodies.state.hasTarget[i] = 0;
}

void Simulation::moveTo(BodyIndex body, const Pose& pose) {
  const uint32_t i = impl_->checked(body);
  needFinite(pose.position, "the position");
  refuse(!(std::abs(pose.rotation.norm() - 1) < 1e-6), "the rotation is not of unit length",
         "normalize the quaternion");
  refuse(impl_->bodies.constants[i].kind != BodyKind::Kinematic,
         impl_->bodies.describe(i) + " is not kinematic", "only kinematic bodies are moved from outside");
  const Pose own = pose * impl_->bodies.constants[i].massFrame;
  impl_->bodies.state.target[i] = {own.position, own.rotation.normalized()};
  impl_->bodies.state.hasTarget[i] = 1;
}

void Simulation::addForce(BodyIndex body, const Vec3& force) {
  const uint32_t i = impl_->checked(body);
  needFinite(force, "the force");
  if (!impl_->bodies.constants[i].dynamic() || force.isZero(0)) return;
  impl_->wakeIsland(i);
  impl_->bodies.state.force[i] += force;
}
void Simulation::addForce(BodyIndex body, const Vec3& force, const Vec3& worldPoint) {
  addForce(body, force);
  addTorque(body, (worldPoint - centre(body)).cross(force));
}
void Simulation::addTorque(BodyIndex body, const Vec3& torque) {
  const uint32_t i = impl_->checked(body);
  needFinite(torque, "the torque");
  if (!impl_->bodies.constants[i].dynamic() || torque.isZero(0)) return;
  impl_->wakeIsland(i);
  impl_->bodies.state.torque[i] += torque;
}
void Simulation::applyImpulse(BodyIndex body, const Vec3& impulse, const Vec3& worldPoint) {
  const uint32_t i = impl_->checked(body);
  needFinite(impulse, "the impulse");
  needFinite(worldPoint, "the point");
  if (!impl_->bodies.constants[i].dynamic()) return;
  impl_->wakeIsland(i);
  impl_->bodies.refreshSolverBody(i);
  impl_->bodies.state.solverBody[i].push(impulse, worldPoint - impl_->bodies.state.position[i]);
}
void Simulation::wake(BodyIndex body) { impl_->wakeIsland(impl_->checked(body)); }

uint32_t Simulation::jointCount() const { return uint32_t(impl_->joints.size()); }
const JointSettings& Simulation::joint(JointIndex joint) const {
  return impl_->joints[impl_->checked(joint)].settings;
}
JointState Simulation::jointState(JointIndex index) const {
  const Joint& joint = impl_->joints[impl_->checked(index)];
  const bool hinge = joint.works() && joint.settings.kind == JointKind::Hinge;
  return {!joint.works(), joint.force, joint.torque, hinge ? hingeAngle(joint, impl_->bodies) : joint.angle};
}
Vec3 Simulation::jointAnchor(JointIndex index, BodyIndex body) const {
  const Joint& joint = impl_->joints[impl_->checked(index)];
  refuse(joint.settings.a != body && joint.settings.b != body,
         fmt::format("joint {} does not hold body {}", index.value, body.value), "ask for one of its bodies");
  const Pose& frame = impl_->bodies.constants[impl_->checked(body)].massFrame;
  return frame.point(joint.settings.b == body ? joint.anchorB : joint.anchorA);
}
void Simulation::moveJoint(JointIndex index, BodyIndex from, BodyIndex to) {
  Joint& joint = impl_->joints[impl_->checked(index)];
  JointSettings& s = joint.settings;
  refuse(s.a != from && s.b != from, fmt::format("joint {} does not hold body {}", index.value, from.value),
         "move one of its ends");
  refuse(s.a == to || s.b == to, fmt::format("joint {} would join a body with itself", index.value),
         "give another body");
  // By the frames of the shapes alone: the same bits wherever the bodies are.
  const Pose& old = impl_->bodies.constants[impl_->checked(from)].massFrame;
  const Pose& frame = impl_->bodies.constants[impl_->checked(to)].massFrame;
  const bool second = s.b == from;
  (second ? s.b : s.a) = to;
  Vec3& anchor = second ? joint.anchorB : joint.anchorA;
  anchor = frame.localPoint(old.point(anchor));
  Vec3& axis = second ? joint.axisB : joint.axisA;
  axis = frame.localDirection(old.direction(axis));
  const Quat turn = old.rotation.conjugate() * frame.rotation;
  joint.relative = (second ? joint.relative * turn : turn.conjugate() * joint.relative).normalized();
  impl_->updateUnlinked();
  impl_->wakeIsland(to.value);
}
void Simulation::setMotor(JointIndex index, double speed, double torque) {
  Joint& joint = impl_->joints[impl_->checked(index)];
  refuse(!std::isfinite(speed) || !(torque >= 0) || !std::isfinite(torque),
         fmt::format("a motor of {} rad/s and {} N m makes no sense", speed, torque),
         "speed must be finite, torque finite and >= 0");
  joint.settings.motorSpeed = speed;
  joint.settings.motorTorque = torque;
  if (!(torque > 0)) joint.motor = 0;
  if (joint.exists) impl_->wakeIsland(joint.settings.b.value);
}

void Simulation::step() { impl_->step(); }
uint64_t Simulation::stepsDone() const { return impl_->steps; }
const StepReport& Simulation::report() const { return impl_->report; }
std::span<const ContactEvent> Simulation::events() const { return impl_->events; }
std::vector<ContactEvent> Simulation::everyContact() const {
  std::vector<ContactEvent> out;
  impl_->eventsOf(0, false, out);
  return out;
}

void Simulation::listen(BodyIndex body, bool on) {
  const uint32_t index = impl_->checked(body);
  if (impl_->listened.size() <= index) impl_->listened.resize(index + 1, 0);
  impl_->listened[index] = on ? 1 : 0;
}

void Simulation::touch(std::span<const Site> sites, std::span<const SiteContact> contacts) {
  impl_->sites.set(sites, contacts, impl_->bodies.count());
  impl_->sitesGiven = true;
  for (const SiteContact& contact : contacts) {
    if (!contact.body.valid()) continue;
    const uint32_t body = impl_->checked(contact.body);
    if (!impl_->bodies.constants[body].dynamic() || impl_->bodies.state.awake[body]) continue;
    const Site& site = sites[contact.site];
    if (-contact.normal.dot(site.velocity) > impl_->settings.sleepSpeed) impl_->wakeIsland(body);
  }
}
std::span<const SiteImpulse> Simulation::siteImpulses() const { return impl_->sites.impulses(); }
std::vector<SiteMotion> Simulation::siteMotions() const { return impl_->sites.motions(); }

std::vector<ContactView> Simulation::contacts() const {
  std::vector<ContactView> views;
  for (const PairRecord& pair : impl_->table.pairs) {
    for (uint32_t i = pair.first; i < pair.first + pair.count; ++i) {
      const KeptContact& kept = impl_->table.contacts[i];
      const Vec3 slide(kept.slide[0], kept.slide[1], kept.slide[2]);
      views.push_back({BodyIndex(pair.a), BodyIndex(pair.b), kept.contact,
                       kept.contact.normal * double(kept.total) + slide});
    }
  }
  return views;
}

Energy Simulation::energy() const {
  Energy sum;
  for (uint32_t i = 0; i < impl_->bodies.count(); ++i) {
    const BodyConstants& c = impl_->bodies.constants[i];
    const BodyState& state = impl_->bodies.state;
    if (!state.exists[i] || !c.dynamic()) continue;
    const Vec3 angularVelocity = state.rotation[i].conjugate() * Vec3(state.solverBody[i].angularVelocity());
    sum.kinetic += 0.5 * (c.mass * state.solverBody[i].velocity().squaredNorm() +
                          angularVelocity.dot(c.inertia.cwiseProduct(angularVelocity)));
    sum.potential -= c.mass * c.gravityScale * impl_->settings.gravity.dot(state.position[i]);
  }
  return sum;
}

Vec3 Simulation::momentum() const {
  Vec3 sum = Vec3::Zero();
  for (uint32_t i = 0; i < impl_->bodies.count(); ++i) {
    if (impl_->bodies.state.exists[i] && impl_->bodies.constants[i].dynamic())
      sum += impl_->bodies.constants[i].mass * impl_->bodies.state.solverBody[i].velocity();
  }
  return sum;
}

Vec3 Simulation::angularMomentum() const {
  Vec3 sum = Vec3::Zero();
  for (uint32_t i = 0; i < impl_->bodies.count(); ++i) {
    const BodyConstants& c = impl_->bodies.constants[i];
    const BodyState& state = impl_->bodies.state;
    if (!state.exists[i] || !c.dynamic()) continue;
    const Quat& q = state.rotation[i];
    sum += c.mass * state.position[i].cross(Vec3(state.solverBody[i].velocity()));
    sum += q * c.inertia.cwiseProduct(q.conjugate() * Vec3(state.solverBody[i].angularVelocity()));
  }
  return sum;
}

std::vector<Simulation::Overlap> Simulation::overlaps() const {
  const BodySet& bodies = impl_->bodies;
  BroadPhase broad;
  const std::vector<double> margin(bodies.count(), 0.0);
  ContactScratch scratch;
  SelectionSettings selection = impl_->settings.selection;
  selection.full = true;
  std::vector<Contact> found;
  std::vector<Overlap> result;
  for (const uint64_t key : broad.find(bodies, margin, impl_->unlinked, false)) {
    const uint32_t a = uint32_t(key >> 32), b = uint32_t(key);
    PairMemory memory;
    found.clear();
    findContacts(*bodies.constants[a].shape, bodies.state.modelPose[a], *bodies.constants[b].shape,
                 bodies.state.modelPose[b], 0, selection, memory, scratch, found);
    Overlap overlap{BodyIndex(a), BodyIndex(b), 0, Vec3::Zero()};
    for (const Contact& contact : found) {
      if (-contact.separation <= overlap.depth) continue;
      overlap.depth = -contact.separation;
      overlap.point = contact.point;
    }
    const double slop = impl_->settings.slop * std::min(bodies.constants[a].outer, bodies.constants[b].outer);
    if (overlap.depth > slop) result.push_back(overlap);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Overlap& x, const Overlap& y) { return x.depth > y.depth; });
  return result;
}

}  // namespace sunder::rigid
