// What the solver reads and writes of a body: five rows of four doubles, so that four bodies are gathered
// with loads of whole rows and transposed in registers. Bodies that the solver may not move (static,
// kinematic, asleep) have no inverse mass and inertia and are never written while constraints are solved.
#pragma once

#include "sunder/base/math.h"

namespace sunder::rigid {

struct alignas(32) SolverBody {
  double v[3] = {0, 0, 0}, inverseMass = 0;
  double w[3] = {0, 0, 0}, i00 = 0;       // angular velocity; inverse inertia in the world, symmetric
  double moved[3] = {0, 0, 0}, i01 = 0;   // of the centre since the start of the step
  double turned[3] = {0, 0, 0}, i02 = 0;  // sum of the turns since then, to first order
  double i11 = 0, i12 = 0, i22 = 0;
  double uneven = 0;  // 1 where the inertia is not that of a ball, so that turning changes it in the world

  Eigen::Map<Vec3> velocity() { return Eigen::Map<Vec3>(v); }
  Eigen::Map<Vec3> angularVelocity() { return Eigen::Map<Vec3>(w); }
  Eigen::Map<const Vec3> velocity() const { return Eigen::Map<const Vec3>(v); }
  Eigen::Map<const Vec3> angularVelocity() const { return Eigen::Map<const Vec3>(w); }
  Eigen::Map<Vec3> movedBy() { return Eigen::Map<Vec3>(moved); }
  Eigen::Map<Vec3> turnedBy() { return Eigen::Map<Vec3>(turned); }
  Eigen::Map<const Vec3> movedBy() const { return Eigen::Map<const Vec3>(moved); }
  Eigen::Map<const Vec3> turnedBy() const { return Eigen::Map<const Vec3>(turned); }

  Vec3 inverseInertiaTimes(const Vec3& t) const {
    return {i00 * t.x() + i01 * t.y() + i02 * t.z(), i01 * t.x() + i11 * t.y() + i12 * t.z(),
            i02 * t.x() + i12 * t.y() + i22 * t.z()};
  }
  Mat3 inverseInertia() const {
    Mat3 m;
    m << i00, i01, i02, i01, i11, i12, i02, i12, i22;
    return m;
  }
  void setInverseInertia(const Mat3& m) {
    i00 = m(0, 0), i01 = m(0, 1), i02 = m(0, 2), i11 = m(1, 1), i12 = m(1, 2), i22 = m(2, 2);
  }
  bool movable() const { return inverseMass > 0; }
  // Velocity of the point that is `arm` away from the centre.
  Vec3 velocityAt(const Vec3& arm) const { return velocity() + angularVelocity().cross(arm); }
  void push(const Vec3& impulse, const Vec3& arm) {
    velocity() += inverseMass * impulse;
    angularVelocity() += inverseInertiaTimes(arm.cross(impulse));
  }
};
static_assert(sizeof(SolverBody) == 160);

}  // namespace sunder::rigid
