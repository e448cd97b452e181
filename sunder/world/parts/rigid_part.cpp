#include "sunder/world/parts/rigid_part.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/profiler.h"
#include "sunder/world/parts/forces.h"
#include "sunder/world/scene/key_frames.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace sunder::world {

using rigid::BodyIndex;

RigidPart::RigidPart(const Scene& scene, const std::vector<BuiltShape>& shapes, Ledger& ledger)
    : scene_(scene), shapes_(shapes), breakage_(scene, shapes), simulation_(scene.world.simulation) {
  ledger.add(kCoarsePieces, breakage_.report().coarse, 0);
  populate();
}

void RigidPart::populate() {
  forces_ = scene_.forces;
  for (uint32_t b = 0; b < scene_.bodies.size(); ++b) {
    const BodySpec& spec = scene_.bodies[b];
    rigid::BodySettings body = bodySettings(scene_, spec);
    body.shape = breakage_.wholeShape(b);
    if (!body.shape) body.shape = shapes_[spec.shape].shape;
    try {
      simulation_.addBody(body);
    } catch (const Error& error) {
      throw scene_.document.error(spec.pointer, error.message()).hint(error.hint());
    }
  }
  for (const JointSpec& spec : scene_.joints) {
    try {
      simulation_.addJoint(spec.settings);
    } catch (const Error& error) {
      throw scene_.document.error(spec.pointer, error.message()).hint(error.hint());
    }
  }
  breakage_.listen(simulation_);
  brokenJoints_.assign(scene_.joints.size(), 0);
}

void RigidPart::addMesh(OwnBodies& bodies, ShownMesh mesh) {
  meshes_.push_back(mesh);
  bodies.addMesh();
}

// Meshes are those of the scene's shapes, then of bodies that may break, then of pieces.
void RigidPart::start(StepContext& context) {
  meshes_.clear();
  std::vector<uint32_t> ofShape, ofBody(scene_.bodies.size(), kNoIndex);
  const auto add = [&](ShownMesh mesh) {
    addMesh(context.bodies, mesh);
    return context.bodies.all().meshCount() - 1;
  };
  for (uint32_t s = 0; s < shapes_.size(); ++s) ofShape.push_back(add({ShownMesh::Of::Shape, s}));
  for (uint32_t b = 0; b < scene_.bodies.size(); ++b)
    ofBody[b] = breakage_.wholeShape(b) ? add({ShownMesh::Of::Whole, b}) : ofShape[scene_.bodies[b].shape];
  for (uint32_t b = 0; b < scene_.bodies.size(); ++b) context.bodies.add(ofBody[b]);
  publishAll(context, true);
}

void RigidPart::inspect(Ledger& ledger, uint64_t frame) const {
  const auto overlaps = simulation_.overlaps();
  if (overlaps.empty()) return;
  ledger.add("pairs of bodies overlap at the start", overlaps.size(), frame,
             fmt::format("{} and {} by {:.3g} m", simulation_.name(overlaps[0].a),
                         simulation_.name(overlaps[0].b), overlaps[0].depth));
}

void RigidPart::accept(const Input& input, const StepContext& context) const {
  if (input.what != "impulse") return Part::accept(input, context);
  requireImpulse(input, context, "rigid");
}

void RigidPart::apply(const Input& input, StepContext& context) {
  const BodyIndex body(context.bodies.local(input.body));
  // Who acts on what has broken or left meanwhile acts on nothing.
  if (!simulation_.exists(body) || simulation_.kind(body) != rigid::BodyKind::Dynamic) return;
  const Vec3 impulse = Eigen::Map<const Vec3>(input.values.data());
  const Vec3 place = input.values.size() == 6 ? Vec3(Eigen::Map<const Vec3>(input.values.data() + 3))
                                              : simulation_.centre(body);
  simulation_.wake(body);
  simulation_.applyImpulse(body, impulse, place);
}

void RigidPart::begin(StepContext& context) {
  const ProfileScope scope("forces");
  for (uint32_t i = 0; i < scene_.bodies.size(); ++i) {
    const BodySpec& body = scene_.bodies[i];
    if (body.keyFrames.size() < 2) continue;
    const rigid::Pose target = poseAt(body.keyFrames, body.repeat, context.endTime());
    const rigid::Pose now = simulation_.pose(BodyIndex(i));
    if (target.position != now.position || target.rotation.coeffs() != now.rotation.coeffs())
      simulation_.moveTo(BodyIndex(i), target);
  }
  applyForces(forces_, simulation_, context.step);
  if (!context.exchange.wanted()) return;
  takeImpulses(context);
  publishAll(context, false);
}

// What others left for our bodies acts as a force over the step.
void RigidPart::takeImpulses(StepContext& context) {
  const double dt = context.dt;
  for (uint32_t i = 0; i < simulation_.bodyCount(); ++i) {
    const BodyIndex index(i);
    if (!simulation_.exists(index) || simulation_.kind(index) != rigid::BodyKind::Dynamic) continue;
    const MovingSolid& solid = context.exchange.solid(context.bodies.number(i));
    if (solid.linear.isZero(0) && solid.angular.isZero(0)) continue;
    simulation_.wake(index);
    simulation_.addForce(index, solid.linear / dt);
    simulation_.addTorque(index, solid.angular / dt);
  }
  context.exchange.clearImpulses();
}

void RigidPart::step(StepContext& context) {
  {
    const ProfileScope scope("step");
    if (context.exchange.wanted()) takeImpulses(context);
    if (breakage_.any()) breakage_.watch(simulation_);
    solveSites(context);
    simulation_.step();
    if (!context.exchange.contacts().empty())
      context.exchange.setOutcomes(simulation_.siteImpulses(), simulation_.siteMotions());
  }
  gather(context);
  publishMotion(context);
}

// Contacts of other parts' sites go into the solver with our own numbers of bodies.
void RigidPart::solveSites(StepContext& context) {
  if (context.exchange.contacts().empty()) return;
  std::vector<rigid::SiteContact> contacts;
  for (const Exchange::Contact& given : context.exchange.contacts()) {
    rigid::SiteContact contact = given.values;
    if (given.body != kNoIndex) contact.body = BodyIndex(context.bodies.local(given.body));
    contacts.push_back(contact);
  }
  simulation_.touch(context.exchange.sites(), contacts);
}

void RigidPart::gather(StepContext& context) {
  const rigid::StepReport& report = simulation_.report();
  mostContacts_ = std::max(mostContacts_, report.contacts);
  context.ledger.add("fast bodies were stopped at their first contact and lost the rest of a step",
                     report.stoppedBodies, context.frame);
  context.ledger.add("times a row of impacts was cut off", report.slowImpacts, context.frame);
  context.ledger.add("times a point pressed less than it weighs: it is far heavier than the body it touches",
                     report.lightenedSites, context.frame);
  const double least = scene_.world.simulation.eventImpulse;
  const auto numberOf = [&](BodyIndex body) {
    return body.valid() ? context.bodies.number(body.value) : kNoIndex;
  };
  for (const rigid::ContactEvent& event : simulation_.events())
    if (least > 0 && event.impulse >= least)
      context.events.push_back({record::EventKind::Contact, numberOf(event.a), numberOf(event.b),
                                event.point.cast<float>(), event.normal.cast<float>(),
                                static_cast<float>(std::hypot(event.impulse, event.tangential.norm())),
                                static_cast<float>(event.approach), ""});
  if (report.brokenJoints == 0) return;
  for (uint32_t j = 0; j < brokenJoints_.size(); ++j) {
    if (brokenJoints_[j] || !simulation_.jointState(rigid::JointIndex(j)).broken) continue;
    brokenJoints_[j] = 1;
    const rigid::JointSettings& joint = scene_.joints[j].settings;
    context.events.push_back({record::EventKind::JointBreak, numberOf(joint.a), numberOf(joint.b),
                              joint.anchorA.cast<float>(), Vec3f::Zero(), 0, 0, scene_.joints[j].id});
  }
}

void RigidPart::change(StepContext& context) {
  if (!breakage_.any()) return;
  for (const BreakRecord& broke : breakage_.act(simulation_, context.frame, context.ledger)) {
    const size_t pieces = broke.change.appeared.size();
    const uint32_t parent = context.bodies.number(broke.body);
    context.events.push_back({record::EventKind::Fracture, parent, kNoIndex, broke.point.cast<float>(),
                              broke.normal.cast<float>(), static_cast<float>(broke.impulse), 0,
                              broke.intoPieces() ? fmt::format("{} pieces", pieces) : "cracked, in one piece",
                              static_cast<float>(broke.energy)});
    if (!broke.intoPieces()) continue;
    BodyChange told{broke.change, {parent}, {}};
    for (uint32_t p = 0; p < pieces; ++p) {
      addMesh(context.bodies, {ShownMesh::Of::Piece, *breakage_.pieceNumber(broke.firstPiece + p)});
      told.appeared.push_back(
          context.bodies.addPiece(parent, broke.frame, context.bodies.all().meshCount() - 1));
    }
    context.changes.push_back(std::move(told));
  }
}

// Forces on a body act on its pieces, and others may touch them.
void RigidPart::follow(const BodyChange& change, StepContext& context) {
  const BodyTable& table = context.bodies.all();
  for (const uint32_t body : change.appeared) {
    if (!context.bodies.mine(body)) continue;
    const uint32_t local = context.bodies.local(body), origin = table[table[body].origin].local;
    for (ForceSpec& force : forces_)
      if (std::binary_search(force.bodies.begin(), force.bodies.end(), origin)) force.bodies.push_back(local);
    if (context.exchange.wanted()) publish(context, local, true);
  }
  if (!context.exchange.wanted()) return;
  for (const uint32_t body : change.disappeared)
    if (context.bodies.mine(body)) context.exchange.publish(body).present = false;
}

void RigidPart::endFrame(StepContext& context) {
  if (!scene_.world.bounds) return;
  for (uint32_t i = 0; i < simulation_.bodyCount(); ++i) {
    const BodyIndex body(i);
    if (!simulation_.exists(body) || simulation_.kind(body) != rigid::BodyKind::Dynamic) continue;
    const Vec3 centre = simulation_.centre(body);
    if (scene_.world.bounds->contains(centre)) continue;
    const uint32_t number = context.bodies.number(i);
    context.events.push_back({record::EventKind::Death, number, kNoIndex, centre.cast<float>(), Vec3f::Zero(),
                              0, 0, "left the bounds"});
    simulation_.removeBody(body);
    ++removed_;
    BodyChange gone;
    gone.topology.kind = geometry::ChangeKind::Remove;
    gone.topology.disappeared.push_back({number, 0, 0, 0});
    gone.disappeared.push_back(number);
    context.changes.push_back(std::move(gone));
  }
}

std::string RigidPart::suspect() const {
  BodyIndex farthest;
  double most = -1;
  for (uint32_t i = 0; i < simulation_.bodyCount(); ++i) {
    const BodyIndex body(i);
    if (!simulation_.exists(body) || simulation_.kind(body) != rigid::BodyKind::Dynamic) continue;
    const double way = simulation_.centre(body).norm() + simulation_.velocity(body).norm();
    if (most >= way) continue;
    most = way;
    farthest = body;
  }
  if (!farthest.valid()) return {};
  return fmt::format("; the farthest is body {} '{}', {:.3g} m from the origin at {:.3g} m/s", farthest.value,
                     simulation_.name(farthest), simulation_.centre(farthest).norm(),
                     simulation_.velocity(farthest).norm());
}

// Others see bodies that may break in the shape that they look like, not in that of their tetrahedra.
void RigidPart::publish(StepContext& context, uint32_t local, bool born) const {
  const BodyIndex body(local);
  MovingSolid& solid = context.exchange.publish(context.bodies.number(local));
  solid.present = simulation_.exists(body);
  const BodySpec& spec = scene_.bodies[breakage_.originOf(local)];
  if (born) {
    const std::optional<uint32_t> piece = breakage_.pieceNumber(local);
    solid.shape = piece ? breakage_.spawned()[*piece].shape : shapes_[spec.shape].shape;
  }
  if (!solid.present) return;
  solid.after = simulation_.pose(body);
  if (born) {
    const rigid::Shape& shape = *simulation_.shape(body);
    solid.kind = simulation_.kind(body);
    solid.moves = simulation_.shape(body);
    solid.centre = shape.mass().centre;
    solid.friction = scene_.materials[spec.material].friction;
    solid.restitution = scene_.materials[spec.material].restitution;
    solid.gravityScale = spec.gravityScale;
    if (solid.kind == rigid::BodyKind::Dynamic) {
      solid.mass = simulation_.mass(body);
      solid.inertiaFrame = shape.massFrame().rotation;
      solid.inertia = shape.principalInertia() * (solid.mass / shape.mass().volume);
    }
  }
  solid.before = solid.target = solid.after;
  if (local < scene_.bodies.size() && scene_.bodies[local].keyFrames.size() > 1)
    solid.target = poseAt(scene_.bodies[local].keyFrames, scene_.bodies[local].repeat, context.endTime());
  solid.velocity = simulation_.velocity(body);
  solid.angularVelocity = simulation_.angularVelocity(body);
}

void RigidPart::publishAll(StepContext& context, bool born) const {
  if (!context.exchange.wanted()) return;
  for (uint32_t i = 0; i < simulation_.bodyCount(); ++i) publish(context, i, born);
}

void RigidPart::publishMotion(StepContext& context) const {
  if (!context.exchange.wanted()) return;
  for (uint32_t i = 0; i < simulation_.bodyCount(); ++i) {
    const BodyIndex body(i);
    MovingSolid& solid = context.exchange.publish(context.bodies.number(i));
    if (!solid.present) continue;
    solid.after = simulation_.pose(body);
    solid.velocity = simulation_.velocity(body);
    solid.angularVelocity = simulation_.angularVelocity(body);
  }
}

}  // namespace sunder::world
