#include "sunder/world/scene/value_text.h"

#include <cmath>

namespace sunder::world {

namespace {

constexpr double kNoLimit = 1e30;  // of the angle of a hinge, where the other one has a limit

Json solverJson(const rigid::SimulationSettings& sim) {
  return {{"contactRate", sim.contactRate},
          {"contactDamping", sim.contactDamping},
          {"pushSpeed", sim.pushSpeed},
          {"slop", sim.slop},
          {"bounceSpeed", sim.bounceSpeed},
          {"continuous", sim.continuous},
          {"contacts", sim.selection.firstLimit},
          {"contactGrowth", sim.selection.growth},
          {"depthTolerance", sim.selection.depthTolerance},
          {"allContacts", sim.selection.full}};
}

Json fractureJson(const FractureSpec& f) {
  const FractureSpec usual;
  Json json = {{"cycles", f.cycles},
               {"arrest", f.arrest},
               {"fine", f.fine},
               {"leastPart", f.leastPart},
               {"mostCracks", f.mostCracks}};
  if (f.edge > 0) json["edge"] = f.edge;
  if (f.young) json["young"] = *f.young;
  if (f.poisson) json["poisson"] = *f.poisson;
  if (f.strength) json["strength"] = *f.strength;
  if (f.surfaceEnergy) json["surfaceEnergy"] = *f.surfaceEnergy;
  if (f.noise != usual.noise) json["noise"] = f.noise;
  if (f.sites == 0) return json;
  json["model"] = "voronoi";
  json["pieces"] = f.sites;
  json["impulse"] = f.impulse;
  json["focus"] = f.focus;
  return json;
}

const char* nameOf(rigid::BodyKind kind) {
  return kind == rigid::BodyKind::Static      ? "static"
         : kind == rigid::BodyKind::Kinematic ? "kinematic"
                                              : "dynamic";
}

const char* nameOf(rigid::JointKind kind) {
  switch (kind) {
    case rigid::JointKind::Fixed:
      return "fixed";
    case rigid::JointKind::Ball:
      return "ball";
    case rigid::JointKind::Hinge:
      return "hinge";
    case rigid::JointKind::Distance:
      break;
  }
  return "distance";
}

}  // namespace

Json worldJson(const WorldSettings& world) {
  const rigid::SimulationSettings& sim = world.simulation;
  Json json = {{"gravity", vectorJson(sim.gravity)},
               {"frameRate", world.frameRate},
               {"substeps", sim.substeps},
               {"frames", world.frames},
               {"seed", world.seed},
               {"sleep", sim.sleep},
               {"sleepSpeed", sim.sleepSpeed},
               {"sleepTime", sim.sleepTime},
               {"solver", solverJson(sim)}};
  // As many steps as there are in a frame decide; the time step of the settings follows.
  json["timeStep"] = 1 / world.frameRate / world.stepsPerFrame;
  if (world.bounds) json["bounds"] = boxJson(*world.bounds);
  return json;
}

Json bodyJson(const BodySpec& body) {
  const BodySpec usual;
  Json json = {{"id", body.id}};
  if (body.kind != usual.kind) json["kind"] = nameOf(body.kind);
  if (body.pose.position != Vec3::Zero()) json["position"] = vectorJson(body.pose.position);
  if (body.pose.rotation.coeffs() != Quat::Identity().coeffs())
    json["rotation"] = rotationJson(body.pose.rotation);
  if (body.velocity != Vec3::Zero()) json["velocity"] = vectorJson(body.velocity);
  if (body.angularVelocity != Vec3::Zero()) json["angularVelocity"] = vectorJson(body.angularVelocity);
  if (body.mass) json["mass"] = *body.mass;
  if (body.gravityScale != usual.gravityScale) json["gravityScale"] = body.gravityScale;
  if (body.linearDamping != usual.linearDamping) json["linearDamping"] = body.linearDamping;
  if (body.angularDamping != usual.angularDamping) json["angularDamping"] = body.angularDamping;
  if (body.group != usual.group) json["group"] = body.group;
  if (body.canSleep != usual.canSleep) json["sleep"] = body.canSleep;
  if (body.repeat) json["repeat"] = true;
  if (body.fracture) json["fracture"] = fractureJson(*body.fracture);
  if (!body.cut.empty()) json["cut"] = cutJson(body.cut);
  if (!body.keyFrames.empty()) json["keyFrames"] = keyFramesJson(body.keyFrames);
  return json;
}

Json jointJson(const JointSpec& spec) {
  const rigid::JointSettings& joint = spec.settings;
  const bool hinge = joint.kind == rigid::JointKind::Hinge,
             distance = joint.kind == rigid::JointKind::Distance;
  Json json = {{"id", spec.id}, {"kind", nameOf(joint.kind)}};
  if (spec.words) {
    if (!spec.words->a.empty()) json["a"] = spec.words->a;
    json["b"] = spec.words->b;
    if (spec.words->relative) json["relative"] = true;
    if (spec.words->anchor) json["anchor"] = vectorJson(*spec.words->anchor);
    if (spec.words->anchorB) json["anchorB"] = vectorJson(*spec.words->anchorB);
  } else {
    json["anchor"] = vectorJson(joint.anchorA);
    if (distance) json["anchorB"] = vectorJson(joint.anchorB);
  }
  if (hinge) {
    json["axis"] = vectorJson(joint.axis);
    if (std::isfinite(joint.lowerAngle) || std::isfinite(joint.upperAngle))
      json["limits"] = {std::isfinite(joint.lowerAngle) ? joint.lowerAngle : -kNoLimit,
                        std::isfinite(joint.upperAngle) ? joint.upperAngle : kNoLimit};
    if (joint.motorTorque > 0) json["motor"] = {{"speed", joint.motorSpeed}, {"torque", joint.motorTorque}};
  }
  if (distance && joint.slack) json["slack"] = true;
  if (joint.collide) json["collide"] = true;
  if (std::isfinite(joint.breakForce)) json["breakForce"] = joint.breakForce;
  if (std::isfinite(joint.breakTorque)) json["breakTorque"] = joint.breakTorque;
  return json;
}

Json forceJson(const ForceSpec& force) {
  Json json = {{"id", force.id}, {"from", force.from}};
  if (std::isfinite(force.until)) json["until"] = force.until;
  switch (force.kind) {
    case ForceKind::Gravity:
      json["gravity"] = {{"acceleration", vectorJson(force.vector)}};
      break;
    case ForceKind::Wind:
      json["wind"] = {{"velocity", vectorJson(force.vector)},
                      {"density", force.density},
                      {"dragCoefficient", force.dragCoefficient}};
      break;
    case ForceKind::Drag:
      json["drag"] = {{"linear", force.linear}, {"angular", force.angular}};
      break;
    case ForceKind::Explosion:
      json["explosion"] = {{"position", vectorJson(force.vector)},
                           {"time", force.time},
                           {"impulse", force.strength},
                           {"radius", force.radius}};
      break;
    case ForceKind::Attractor:
      json["attractor"] = {
          {"position", vectorJson(force.vector)}, {"acceleration", force.strength}, {"radius", force.radius}};
      break;
  }
  return json;
}

}  // namespace sunder::world
