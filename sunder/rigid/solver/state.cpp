// The state of a simulation as bytes. Masses in the world, model poses and everything else that a step starts
// by computing is left out.
#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/hash.h"
#include "sunder/rigid/solver/simulation_impl.h"

#include <cmath>

#include <fmt/format.h>

namespace sunder::rigid {

namespace {

constexpr uint32_t kMagic = 0x32474452;  // "RDG2"

void put(ByteWriter& out, const Vec3& v) {
  for (int k = 0; k < 3; ++k) out.f64(v[k]);
}
void put(ByteWriter& out, const Quat& q) {
  for (int k = 0; k < 4; ++k) out.f64(q.coeffs()[k]);
}
constexpr uint64_t kMostSteps = uint64_t(1) << 50;  // as a double still exact, with room to go on

Vec3 getVector(ByteReader& in, const char* what) {
  Vec3 v;
  for (int k = 0; k < 3; ++k) v[k] = in.boundedF64(what);
  return v;
}
Quat getQuat(ByteReader& in, const char* what) {
  Quat q;
  for (int k = 0; k < 4; ++k) q.coeffs()[k] = in.f64(what);
  if (!(std::abs(q.norm() - 1) < 1e-6)) in.fail(fmt::format("{} is not of unit length", what));
  return q;
}
void expect(ByteReader& in, bool fits, const std::string& message) {
  if (!fits) throw in.error(message).hint("load into a simulation with the same bodies, shapes and joints");
}

}  // namespace

void Simulation::save(ByteWriter& out) const {
  const Impl& s = *impl_;
  const BodyState& state = s.bodies.state;
  out.u32(kMagic);
  out.u32(s.bodies.count());
  out.u32(uint32_t(s.joints.size()));
  out.u64(s.steps);
  for (uint32_t i = 0; i < s.bodies.count(); ++i) {
    out.u8(state.exists[i]);
    out.u8(state.awake[i]);
    out.u8(state.hasTarget[i]);
    put(out, state.position[i]);
    put(out, state.rotation[i]);
    put(out, Vec3(state.solverBody[i].velocity()));
    put(out, Vec3(state.solverBody[i].angularVelocity()));
    put(out, state.force[i]);
    put(out, state.torque[i]);
    out.f64(state.quiet[i]);
    out.u32(state.island[i]);
    put(out, state.target[i].position);
    put(out, state.target[i].rotation);
  }
  for (const Joint& joint : s.joints) {
    out.u8(uint8_t(joint.exists ? 1 : 0));
    out.u8(uint8_t(joint.broken ? 1 : 0));
    put(out, joint.anchorA);
    put(out, joint.anchorB);
    put(out, joint.axisA);
    put(out, joint.axisB);
    put(out, joint.relative);
    out.f64(joint.length);
    put(out, joint.linear);
    put(out, joint.angular);
    for (const double value : {joint.motor, joint.lower, joint.upper, joint.force, joint.torque, joint.angle,
                               joint.settings.motorSpeed, joint.settings.motorTorque})
      out.f64(value);
  }
  out.u32(uint32_t(s.table.pairs.size()));
  for (const PairRecord& pair : s.table.pairs) {
    for (const uint32_t value :
         {pair.a, pair.b, pair.count, pair.memory.limitA, pair.memory.limitB, pair.memory.feature})
      out.u32(value);
    for (const float value : pair.rolling) out.f32(value);
    for (uint32_t i = pair.first; i < pair.first + pair.count; ++i) {
      const KeptContact& kept = s.table.contacts[i];
      put(out, kept.contact.point);
      put(out, kept.contact.normal);
      out.f64(kept.contact.separation);
      out.u32(kept.contact.id);
      out.f32(kept.normalImpulse);
      for (const float value : kept.friction) out.f32(value);
      out.f32(kept.total);
      for (const float value : kept.slide) out.f32(value);
    }
  }
}

void Simulation::load(ByteReader& in) {
  Impl& s = *impl_;
  expect(in, in.u32("the mark of a rigid state") == kMagic, "this is not the state of rigid bodies");
  const uint32_t bodies = in.u32("the number of bodies"), joints = in.u32("the number of joints");
  expect(in, bodies == s.bodies.count(),
         fmt::format("the state has {} bodies, the simulation {}", bodies, s.bodies.count()));
  expect(in, joints == s.joints.size(),
         fmt::format("the state has {} joints, the simulation {}", joints, s.joints.size()));
  const uint64_t steps = in.u64("the number of steps");
  expect(in, steps <= kMostSteps, fmt::format("the state is of step {}", steps));
  BodyState state = s.bodies.state;  // so that a state that ends early changes nothing
  for (uint32_t i = 0; i < bodies; ++i) {
    state.exists[i] = in.u8("a body") ? 1 : 0;
    state.awake[i] = in.u8("a body") ? 1 : 0;
    state.hasTarget[i] = in.u8("a body");
    expect(in, state.hasTarget[i] <= 2, "a body's target is of no kind that there is");
    state.position[i] = getVector(in, "a body's position");
    state.rotation[i] = getQuat(in, "a body's rotation");
    state.solverBody[i] = SolverBody();
    state.solverBody[i].velocity() = getVector(in, "a body's velocity");
    state.solverBody[i].angularVelocity() = getVector(in, "a body's angular velocity");
    state.force[i] = getVector(in, "a body's force");
    state.torque[i] = getVector(in, "a body's torque");
    state.quiet[i] = in.boundedF64("a body's time of rest");
    state.island[i] = in.u32("a body's island");
    expect(in, state.island[i] < bodies, "a body's island is not one of the bodies");
    state.target[i].position = getVector(in, "a body's target");
    state.target[i].rotation = getQuat(in, "a body's target");
  }
  std::vector<Joint> loaded = s.joints;
  for (Joint& joint : loaded) {
    joint.exists = in.u8("a joint") != 0;
    joint.broken = in.u8("a joint") != 0;
    joint.anchorA = getVector(in, "a joint's anchor");
    joint.anchorB = getVector(in, "a joint's anchor");
    joint.axisA = getVector(in, "a joint's axis");
    joint.axisB = getVector(in, "a joint's axis");
    joint.relative = getQuat(in, "a joint's rotation");
    joint.length = in.boundedF64("a joint's length");
    joint.linear = getVector(in, "a joint's impulse");
    joint.angular = getVector(in, "a joint's impulse");
    for (double* value : {&joint.motor, &joint.lower, &joint.upper, &joint.force, &joint.torque, &joint.angle,
                          &joint.settings.motorSpeed, &joint.settings.motorTorque})
      *value = in.boundedF64("a joint's state");
  }
  PairTable table;
  const uint32_t pairs = in.u32("the number of pairs");
  in.need(pairs, 36, "pairs");
  uint64_t lastKey = 0;
  for (uint32_t p = 0; p < pairs; ++p) {
    PairRecord& pair = table.pairs.emplace_back();
    for (uint32_t* value :
         {&pair.a, &pair.b, &pair.count, &pair.memory.limitA, &pair.memory.limitB, &pair.memory.feature})
      *value = in.u32("a pair");
    for (float& value : pair.rolling) value = in.boundedF32("a pair's impulse");
    expect(in, pair.a < pair.b && pair.b < bodies, "a pair is not of two bodies");
    expect(in, state.exists[pair.a] && state.exists[pair.b], "a pair is of a body that is gone");
    const uint64_t key = pairKey(pair.a, pair.b);
    expect(in, p == 0 || key > lastKey, "the pairs are out of order");
    lastKey = key;
    pair.first = uint32_t(table.contacts.size());
    in.need(pair.count, 92, "contacts");
    for (uint32_t i = 0; i < pair.count; ++i) {
      KeptContact& kept = table.contacts.emplace_back();
      kept.contact.point = getVector(in, "a contact's point");
      kept.contact.normal = getVector(in, "a contact's normal");
      kept.contact.separation = in.boundedF64("a contact's separation");
      kept.contact.id = in.u32("a contact");
      kept.normalImpulse = in.boundedF32("a contact's impulse");
      for (float& value : kept.friction) value = in.boundedF32("a contact's impulse");
      kept.total = in.boundedF32("a contact's impulse");
      for (float& value : kept.slide) value = in.boundedF32("a contact's impulse");
    }
  }
  for (const Joint& joint : loaded)
    for (const BodyIndex body : {joint.settings.a, joint.settings.b})
      expect(in, !joint.exists || !body.valid() || state.exists[body.value],
             "a joint holds a body that is gone");
  s.steps = steps;
  s.bodies.state = std::move(state);
  s.joints = std::move(loaded);
  s.table = std::move(table);
  s.events.clear();
  s.report = {};
  for (uint32_t i = 0; i < bodies; ++i) {
    s.bodies.updateModelPose(i);
    s.bodies.refreshSolverBody(i);
  }
  s.updateUnlinked();
}

uint64_t Simulation::hash() const {
  std::string bytes;
  ByteWriter writer(bytes);
  save(writer);
  return hash64(bytes);
}

}  // namespace sunder::rigid
