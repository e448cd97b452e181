// What acts on soft bodies from outside, besides what they touch: gravity, the forces of the scene, and the
// bounds of the world.
#include "sunder/world/parts/forces.h"
#include "sunder/world/parts/soft_forces.h"
#include "sunder/world/parts/soft_part.h"

namespace sunder::world {

void SoftPart::findAccelerations(const StepContext& context) {
  const Vec3& gravity = scene_.world.simulation.gravity;
  accelerations_.resize(masses_.size());
  for (size_t v = 0; v < masses_.size(); ++v)
    accelerations_[v] = scene_.softBodies[bodyOf_[v]].gravityScale * gravity;
  for (const ForceSpec& force : scene_.forces) {
    const auto [first, last] = stepsOf(force, context.dt);
    if (context.step < first || context.step >= last) continue;
    for (const uint32_t b : force.softBodies) {
      const Body& body = bodies_[b];
      if (!body.present) continue;
      const SoftMatter matter{.vertices = body.vertices,
                              .positions = motion_.positions(),
                              .velocities = motion_.velocities(),
                              .masses = solid_.masses(),
                              .volume = body.built->volume};
      addForce(force, matter, gravity, context.dt, accelerations_);
    }
  }
}

// As rigid bodies, soft ones are removed when their centre is outside.
void SoftPart::endFrame(StepContext& context) {
  if (!scene_.world.bounds) return;
  for (uint32_t b = 0; b < bodies_.size(); ++b) {
    if (!bodies_[b].present) continue;
    Vec3 centre = Vec3::Zero();
    double mass = 0;
    for (const uint32_t v : bodies_[b].vertices) {
      centre += solid_.masses()[v] * motion_.positions()[v];
      mass += solid_.masses()[v];
    }
    centre /= mass;
    if (scene_.world.bounds->contains(centre)) continue;
    leave(b);
    const uint32_t number = context.bodies.number(b);
    context.events.push_back({record::EventKind::Death, number, kNoIndex, centre.cast<float>(), Vec3f::Zero(),
                              0, 0, "left the bounds"});
    BodyChange gone;
    gone.topology.kind = geometry::ChangeKind::Remove;
    gone.topology.disappeared.push_back({number, 0, 0, 0});
    gone.disappeared.push_back(number);
    context.changes.push_back(std::move(gone));
  }
}

// The motion keeps the vertices of a body that has left, so that numbers stay. They are held where the body
// was at the start, at rest and without energy, and nothing touches or holds it.
void SoftPart::leave(uint32_t local) {
  Body& body = bodies_[local];
  body.present = false;
  std::vector<Vec3> positions(motion_.positions().begin(), motion_.positions().end());
  std::vector<Vec3> velocities(motion_.velocities().begin(), motion_.velocities().end());
  for (uint32_t v = 0; v < body.vertices.size(); ++v) {
    const Vec3& rest = body.built->cage.rest.positions[body.torn.origins()[v]];
    positions[body.vertices[v]] = scene_.softBodies[local].pose.point(rest);
    velocities[body.vertices[v]].setZero();
  }
  motion_.setState(positions, velocities);
  contacts_.setPresent(local, false);
  if (boundary_) boundary_->setPresent(local, false);
  for (const Tie& tie : ties_)
    if (tie.body == local || tie.other == local)
      for (uint32_t i = tie.first; i < tie.last; ++i) attachments_.release(i);
}

}  // namespace sunder::world
