#include "sunder/soft/contact/obstacle_bodies.h"

#include "sunder/base/error.h"
#include "sunder/base/index.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::soft {

namespace {

// How far the forces of a step may be from what moved a body.
constexpr double kTrusted = 0.1;
constexpr double kTrustedSpeed = 0.02, kTrustedTurn = 0.2;  // m/s, 1/s

bool finitePose(const ObstaclePose& pose) {
  return pose.position.allFinite() && pose.rotation.coeffs().allFinite() &&
         std::abs(pose.rotation.squaredNorm() - 1) < 1e-6;
}

const char* wrongWithObstacle(const ObstacleBody& body) {
  if (!body.shape) return "has no shape";
  if (!finitePose(body.before) || !finitePose(body.after)) return "has a pose that is no rotation and place";
  if (!body.velocity.allFinite() || !body.angularVelocity.allFinite() || !body.centre.allFinite())
    return "has a velocity or centre that is not finite";
  if (!(body.inverseMass >= 0) || !std::isfinite(body.inverseMass))
    return "has an inverse mass that is negative or not finite";
  if (!(body.friction >= 0) || !std::isfinite(body.friction)) return "has a friction that is not from 0 on";
  if (!(body.restitution >= 0 && body.restitution <= 1)) return "has a restitution outside [0, 1]";
  if (!body.movable()) return nullptr;
  const Mat3& inertia = body.inertia;
  const double size = inertia.norm();
  if (!inertia.allFinite() || !((inertia - inertia.transpose()).norm() <= 1e-9 * size))
    return "has an inertia that is not symmetric and finite";
  // Sylvester: all leading minors of a positive definite matrix are positive.
  const double second = inertia(0, 0) * inertia(1, 1) - inertia(0, 1) * inertia(1, 0);
  if (!(inertia(0, 0) > 0 && second > 0 && inertia.determinant() > 0))
    return "has an inertia that is not positive";
  return nullptr;
}

}  // namespace

void ObstacleBodies::set(std::span<const ObstacleBody> bodies) {
  std::vector<uint64_t> keys;
  for (size_t i = 0; i < bodies.size(); ++i) {
    if (const char* wrong = wrongWithObstacle(bodies[i]))
      throw Error(ErrorKind::Usage, fmt::format("obstacle {} {}", i, wrong));
    keys.push_back(bodies[i].key);
  }
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice != keys.end())
    throw Error(ErrorKind::Usage, fmt::format("two obstacles have the key {}", *twice));

  bodies_.assign(bodies.begin(), bodies.end());
  movable_.clear();
  rows_.assign(bodies_.size(), kNoIndex);
  moves_.resize(bodies_.size());
  turns_.resize(bodies_.size());
  inverseInertias_.assign(bodies_.size(), Mat3::Zero());
  poses_.resize(bodies_.size());
  velocities_.resize(bodies_.size());
  angularVelocities_.resize(bodies_.size());
  reactions_.assign(bodies_.size(), {});
  for (size_t i = 0; i < bodies_.size(); ++i) {
    const ObstacleBody& body = bodies_[i];
    moves_[i] = body.after.point(body.centre) - body.before.point(body.centre);
    turns_[i] = rotationVector(body.before.rotation, body.after.rotation);
    poses_[i] = body.before;
    velocities_[i] = body.velocity;
    angularVelocities_[i] = body.angularVelocity;
    if (!body.movable()) continue;
    inverseInertias_[i] = body.inertia.inverse();
    movable_.push_back(static_cast<uint32_t>(i));
  }
}

uint32_t ObstacleBodies::find(uint64_t key) const {
  for (size_t i = 0; i < bodies_.size(); ++i)
    if (bodies_[i].key == key) return static_cast<uint32_t>(i);
  return kNoIndex;
}

uint32_t ObstacleBodies::ownBlocks() const { return static_cast<uint32_t>(2 * movable_.size()); }

void ObstacleBodies::begin(const fem::StepStart& start, std::span<Vec3> own) {
  h_ = start.h;
  reactions_.assign(bodies_.size(), {});
  for (size_t k = 0; k < movable_.size(); ++k) {
    rows_[movable_[k]] = start.firstRow + static_cast<uint32_t>(2 * k);
    own[2 * k] = moves_[movable_[k]];
    own[2 * k + 1] = turns_[movable_[k]];
  }
}

void ObstacleBodies::setAlone(std::vector<Vec3>& x) const {
  for (const uint32_t i : movable_) {
    if (x.size() < size_t(rows_[i]) + 2) x.resize(size_t(rows_[i]) + 2, Vec3::Zero());
    x[rows_[i]] = moves_[i];
    x[rows_[i] + 1] = turns_[i];
  }
}

Vec3 ObstacleBodies::moveAt(size_t body, std::span<const Vec3> x) const {
  return rows_[body] == kNoIndex ? moves_[body] : x[rows_[body]];
}

Vec3 ObstacleBodies::turnAt(size_t body, std::span<const Vec3> x) const {
  return rows_[body] == kNoIndex ? turns_[body] : x[rows_[body] + 1];
}

ObstaclePose ObstacleBodies::poseAt(size_t body, std::span<const Vec3> x) const {
  const ObstacleBody& b = bodies_[body];
  if (rows_[body] == kNoIndex) return b.after;
  return moved(b.before, b.centre, x[rows_[body]], x[rows_[body] + 1]);
}

Vec3 ObstacleBodies::centreAt(size_t body, std::span<const Vec3> x) const {
  return bodies_[body].before.point(bodies_[body].centre) + moveAt(body, x);
}

double ObstacleBodies::energy(std::span<const Vec3> x) const {
  double sum = 0;
  for (const uint32_t i : movable_) {
    const Vec3 move = x[rows_[i]] - moves_[i], turn = x[rows_[i] + 1] - turns_[i];
    sum += move.squaredNorm() / bodies_[i].inverseMass + turn.dot(bodies_[i].inertia * turn);
  }
  return sum / (2 * h_ * h_);
}

void ObstacleBodies::addGradient(std::span<const Vec3> x, std::span<Vec3> gradient) const {
  const double scale = 1 / (h_ * h_);
  for (const uint32_t i : movable_) {
    gradient[rows_[i]] += scale / bodies_[i].inverseMass * (x[rows_[i]] - moves_[i]);
    gradient[rows_[i] + 1] += scale * (bodies_[i].inertia * (x[rows_[i] + 1] - turns_[i]));
  }
}

void ObstacleBodies::addCurvature(std::span<const Vec3> /*x*/, fem::BlockMatrix& /*matrix*/,
                                  std::span<Mat3> diagonal, fem::OuterTerms& /*outer*/) const {
  const double scale = 1 / (h_ * h_);
  for (const uint32_t i : movable_) {
    diagonal[rows_[i]] += scale / bodies_[i].inverseMass * Mat3::Identity();
    diagonal[rows_[i] + 1] += scale * bodies_[i].inertia;
  }
}

// Velocities start from what the bodies would do alone; forces come in by push(), so that what a body gains
// is its reaction over its mass to the last bit.
void ObstacleBodies::end(std::span<const Vec3> x, std::span<Vec3> /*velocities*/) {
  pushed_.assign(bodies_.size(), {});
  kicked_.assign(bodies_.size(), {});
  moved_.assign(bodies_.size(), {});
  for (size_t i = 0; i < bodies_.size(); ++i) {
    poses_[i] = poseAt(i, x);
    if (rows_[i] == kNoIndex) continue;
    moved_[i].impulse = (x[rows_[i]] - moves_[i]) / (bodies_[i].inverseMass * h_);
    moved_[i].angularImpulse = bodies_[i].inertia * (x[rows_[i] + 1] - turns_[i]) / h_;
  }
  for (size_t i = 0; i < bodies_.size(); ++i) react(i, {});
}

void ObstacleBodies::react(size_t body, const ObstacleReaction& reaction) {
  reactions_[body] = reaction;
  velocities_[body] = moves_[body] / h_ + bodies_[body].inverseMass * reaction.impulse;
  angularVelocities_[body] = turns_[body] / h_ + inverseInertias_[body] * reaction.angularImpulse;
}

void ObstacleBodies::push(size_t body, const Vec3& impulse, const Vec3& place, bool kick) {
  const Vec3 centre = poses_[body].point(bodies_[body].centre);
  const Vec3 angular = (place - centre).cross(impulse);
  ObstacleReaction& sum = kick ? kicked_[body] : pushed_[body];
  sum.impulse += impulse;
  sum.angularImpulse += angular;
  react(body, {pushed_[body].impulse + kicked_[body].impulse,
               pushed_[body].angularImpulse + kicked_[body].angularImpulse});
}

void ObstacleBodies::settle() {
  for (const uint32_t i : movable_) {
    const ObstacleReaction &pushed = pushed_[i], &moved = moved_[i], &kicked = kicked_[i];
    // In speed, of the centre and at about the radius of gyration from it.
    const double off = bodies_[i].inverseMass * (pushed.impulse - moved.impulse).norm();
    const double all = bodies_[i].inverseMass * moved.impulse.norm();
    const Mat3& inverse = inverseInertias_[i];
    const double turnOff = (inverse * (pushed.angularImpulse - moved.angularImpulse)).norm();
    const double turnAll = (inverse * moved.angularImpulse).norm();
    const bool trusted =
        off <= kTrusted * all + kTrustedSpeed && turnOff <= kTrusted * turnAll + kTrustedTurn;
    const ObstacleReaction& base = trusted ? pushed : moved;
    react(i, {base.impulse + kicked.impulse, base.angularImpulse + kicked.angularImpulse});
  }
}

double ObstacleBodies::tookKinetic() const {
  double sum = 0;
  for (const uint32_t i : movable_) {
    const Vec3 speed = moves_[i] / h_, spin = turns_[i] / h_;
    sum += (speed.squaredNorm() - velocities_[i].squaredNorm()) / bodies_[i].inverseMass +
           spin.dot(bodies_[i].inertia * spin) -
           angularVelocities_[i].dot(bodies_[i].inertia * angularVelocities_[i]);
  }
  return 0.5 * sum;
}

double ObstacleBodies::inverseMassAt(size_t body, const Vec3& place, const Vec3& direction) const {
  const Vec3 arm = (place - poses_[body].point(bodies_[body].centre)).cross(direction);
  return bodies_[body].inverseMass + arm.dot(inverseInertias_[body] * arm);
}

Vec3 ObstacleBodies::velocityAt(size_t body, const Vec3& place) const {
  const Vec3 arm = place - poses_[body].point(bodies_[body].centre);
  return velocities_[body] + angularVelocities_[body].cross(arm);
}

Vec3 ObstacleBodies::velocityBefore(size_t body, const Vec3& place) const {
  const ObstacleBody& b = bodies_[body];
  return b.velocity + b.angularVelocity.cross(place - b.before.point(b.centre));
}

}  // namespace sunder::soft
