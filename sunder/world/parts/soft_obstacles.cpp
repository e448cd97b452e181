#include "sunder/world/parts/soft_obstacles.h"

#include "sunder/base/bytes.h"

#include <algorithm>

namespace sunder::world {

namespace {

// A speed that changes by less than what this many times gravity would do in a step is that of rest or of
// smooth motion, not of a blow.
constexpr double kSmooth = 4;

class ShapeObstacle final : public soft::Obstacle {
 public:
  explicit ShapeObstacle(rigid::ShapePtr shape) : shape_(std::move(shape)) {}

  soft::ObstacleSample at(const Vec3& point) const override {
    const Box3& domain = shape_->fieldDomain();
    if (domain.contains(point)) {
      const sdf::FieldSample sample = shape_->field().sample(point);
      const double length = sample.gradient.norm();
      return {sample.value, length > 0 ? Vec3(sample.gradient / length) : Vec3::UnitY()};
    }
    // Beyond its domain a field knows nothing; the way to the solid's box is a bound.
    const Box3& box = shape_->localBounds();
    const Vec3 away = point - point.cwiseMax(box.lower).cwiseMin(box.upper);
    const double distance = away.norm();
    return {distance, distance > 0 ? Vec3(away / distance) : Vec3::UnitY()};
  }
  Box3 bounds() const override { return shape_->localBounds(); }

 private:
  rigid::ShapePtr shape_;
};

bool overlap(const Box3& a, const Box3& b) {
  return (a.lower.array() <= b.upper.array()).all() && (b.lower.array() <= a.upper.array()).all();
}

}  // namespace

soft::ObstaclePtr SoftObstacles::shapeOf(const rigid::ShapePtr& shape) {
  soft::ObstaclePtr& made = shapes_[shape.get()];
  if (!made) made = std::make_shared<ShapeObstacle>(shape);
  return made;
}

soft::ObstacleBody SoftObstacles::obstacleOf(const MovingSolid& solid, uint32_t number, double h,
                                             const Vec3& gravity) {
  soft::ObstacleBody body;
  body.shape = shapeOf(solid.shape);
  body.key = number;
  body.before = {solid.after.position, solid.after.rotation};
  body.after = {solid.target.position, solid.target.rotation};
  body.velocity = solid.velocity;
  body.angularVelocity = solid.angularVelocity;
  body.centre = solid.centre;
  body.friction = solid.friction;
  body.restitution = std::clamp(solid.restitution, 0.0, 1.0);
  if (solid.kind == rigid::BodyKind::Kinematic) {
    body.velocity = (body.after.point(body.centre) - body.before.point(body.centre)) / h;
    body.angularVelocity = soft::rotationVector(body.before.rotation, body.after.rotation) / h;
  }
  if (!solid.movable()) return body;
  body.inverseMass = solid.inverseMass();
  const Mat3 axes = (solid.after.rotation * solid.inertiaFrame).toRotationMatrix();
  body.inertia = axes * solid.inertia.asDiagonal() * axes.transpose();
  const Last& last = last_[number];
  const Vec3 fall = solid.gravityScale * gravity * h;
  Vec3 gain = solid.velocity - last.velocity, turn = solid.angularVelocity - last.angularVelocity;
  const bool smooth = gain.norm() <= kSmooth * std::max(fall.norm(), gravity.norm() * h);
  if (smooth) {
    gain -= last.impulse / solid.mass;
    turn -= body.inertia.ldlt().solve(last.angularImpulse);
  } else {
    gain = fall;
    turn.setZero();
  }
  body.after =
      soft::moved(body.before, body.centre, h * (solid.velocity + gain), h * (solid.angularVelocity + turn));
  return body;
}

void SoftObstacles::gather(const StepContext& context, const Vec3& gravity, std::span<const Box3> boxes,
                           std::span<const uint32_t> always, soft::ObstacleBodies& obstacles) {
  const std::span<const MovingSolid> solids = context.exchange.solids();
  while (last_.size() < solids.size()) {
    // Nothing is known of what has just appeared: it moves on, and falls.
    const MovingSolid& solid = solids[last_.size()];
    last_.push_back({solid.velocity - solid.gravityScale * gravity * context.dt, solid.angularVelocity});
  }
  std::vector<soft::ObstacleBody> bodies;
  for (uint32_t b = 0; b < solids.size(); ++b) {
    const MovingSolid& solid = solids[b];
    if (!solid.present || !solid.shape) continue;
    bool near = std::binary_search(always.begin(), always.end(), b);
    if (!near) {
      Box3 reach = solid.bounds();
      const Vec3 way = (solid.velocity.cwiseAbs() + gravity.cwiseAbs() * context.dt) * context.dt +
                       (solid.target.position - solid.after.position).cwiseAbs();
      const double turn = solid.angularVelocity.norm() * context.dt * reach.extent().cwiseMin(1e30).norm();
      reach.lower -= way + Vec3::Constant(turn);
      reach.upper += way + Vec3::Constant(turn);
      near = std::any_of(boxes.begin(), boxes.end(), [&](const Box3& box) { return overlap(box, reach); });
    }
    if (near) bodies.push_back(obstacleOf(solid, b, context.dt, gravity));
  }
  for (uint32_t b = 0; b < solids.size(); ++b) {
    last_[b].velocity = solids[b].velocity;
    last_[b].angularVelocity = solids[b].angularVelocity;
    last_[b].impulse.setZero();
    last_[b].angularImpulse.setZero();
  }
  obstacles.set(bodies);
}

void SoftObstacles::giveBack(const soft::ObstacleBodies& obstacles, StepContext& context) {
  for (size_t i = 0; i < obstacles.size(); ++i) {
    const soft::ObstacleBody& body = obstacles.bodies()[i];
    const soft::ObstacleReaction& reaction = obstacles.reactions()[i];
    if (!body.movable() || (reaction.impulse.isZero(0) && reaction.angularImpulse.isZero(0))) continue;
    const auto number = static_cast<uint32_t>(body.key);
    context.exchange.pushCentre(number, reaction.impulse, reaction.angularImpulse);
    last_[number].impulse = reaction.impulse;
    last_[number].angularImpulse = reaction.angularImpulse;
  }
}

void SoftObstacles::save(ByteWriter& out) const {
  out.u32(static_cast<uint32_t>(last_.size()));
  for (const Last& last : last_)
    for (const Vec3* v : {&last.velocity, &last.angularVelocity, &last.impulse, &last.angularImpulse})
      for (const double x : *v) out.f64(x);
}

void SoftObstacles::load(ByteReader& in, uint32_t bodies) {
  const uint32_t count = in.u32("number of obstacles");
  in.need(count, 96, "obstacles");
  if (count > bodies) in.fail("the state has more obstacles than bodies");
  last_.assign(count, {});
  for (Last& last : last_)
    for (Vec3* v : {&last.velocity, &last.angularVelocity, &last.impulse, &last.angularImpulse})
      for (double& x : *v) x = in.boundedF64("what an obstacle did");
}

}  // namespace sunder::world
