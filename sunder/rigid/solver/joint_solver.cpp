#include "sunder/rigid/solver/joint_solver.h"

#include <algorithm>
#include <cmath>

namespace sunder::rigid {

namespace {

Mat3 crossMatrix(const Vec3& v) {
  Mat3 m;
  m << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
  return m;
}

void twist(SolverBody& a, SolverBody& b, const Vec3& impulse) {
  if (a.movable()) a.angularVelocity() -= a.inverseInertiaTimes(impulse);
  if (b.movable()) b.angularVelocity() += b.inverseInertiaTimes(impulse);
}
void pushApart(SolverBody& a, SolverBody& b, const Vec3& impulse, const Vec3& armA, const Vec3& armB) {
  if (a.movable()) a.push(-impulse, armA);
  if (b.movable()) b.push(impulse, armB);
}

// An impulse >= 0 that keeps `error` >= 0: as far as it may go within the substep while it is open.
double oneSided(double old, double error, double speed, double mass, const Softness& s, bool useBias,
                double h) {
  double bias = 0, massScale = 1, impulseScale = 0;
  if (error > 0) {
    bias = error / h;
  } else if (useBias) {
    bias = s.biasRate * error;
    massScale = s.massScale;
    impulseScale = s.impulseScale;
  }
  return std::max(old - mass * massScale * (speed + bias) - impulseScale * old, 0.0);
}

}  // namespace

Joint makeJoint(const JointSettings& settings, const BodySet& bodies) {
  Joint joint;
  joint.settings = settings;
  const bool world = !settings.a.valid();
  const Pose a =
      world ? Pose{} : Pose{bodies.state.position[settings.a.value], bodies.state.rotation[settings.a.value]};
  const Pose b{bodies.state.position[settings.b.value], bodies.state.rotation[settings.b.value]};
  const bool two = settings.kind == JointKind::Distance;
  joint.anchorA = a.localPoint(settings.anchorA);
  joint.anchorB = b.localPoint(two ? settings.anchorB : settings.anchorA);
  if (settings.kind == JointKind::Hinge) {
    joint.axisA = a.localDirection(settings.axis.normalized());
    joint.axisB = b.localDirection(settings.axis.normalized());
  }
  joint.relative = (a.rotation.conjugate() * b.rotation).normalized();
  joint.length = two ? (settings.anchorB - settings.anchorA).norm() : 0;
  return joint;
}

double hingeAngle(const Joint& joint, const BodySet& bodies) {
  const bool world = !joint.settings.a.valid();
  const Quat a = world ? Quat::Identity() : bodies.state.rotation[joint.settings.a.value];
  const Quat turn =
      joint.relative.conjugate() * (a.conjugate() * bodies.state.rotation[joint.settings.b.value]);
  const double sine = turn.vec().dot(joint.axisB), cosine = turn.w();
  return cosine < 0 ? 2 * std::atan2(-sine, -cosine) : 2 * std::atan2(sine, cosine);
}

void JointSolver::collect(const std::vector<Joint>& joints, const BodySet& bodies) {
  work_.clear();
  for (uint32_t i = 0; i < joints.size(); ++i) {
    const Joint& joint = joints[i];
    if (!joint.works()) continue;
    Work work;
    work.joint = i;
    work.a = joint.settings.a.valid() ? joint.settings.a.value : bodies.dummy();
    work.b = joint.settings.b.value;
    if (!bodies.moves(work.b) && !bodies.moves(work.a)) continue;
    work_.push_back(work);
  }
}

void JointSolver::place(Work& w, const Joint& joint, const BodySet& bodies) const {
  const bool world = w.a == bodies.dummy();
  const Quat qa = world ? Quat::Identity() : bodies.state.rotation[w.a];
  const Quat& qb = bodies.state.rotation[w.b];
  const Vec3 xa = world ? Vec3::Zero() : bodies.state.position[w.a], &xb = bodies.state.position[w.b];
  const Vec3 anchorA = xa + qa * joint.anchorA, anchorB = xb + qb * joint.anchorB;
  w.error = anchorB - anchorA;
  w.armB = anchorB - xb;
  if (joint.settings.kind == JointKind::Distance) {
    w.armA = anchorA - xa;
    const double length = w.error.norm();
    w.direction = length > 1e-12 ? Vec3(w.error / length) : Vec3::UnitY();
    w.axialError = length - joint.length;
    return;
  }
  w.armA = w.armB + xb - xa;  // the same point, so that both see the impulse act in one place
  if (joint.settings.kind == JointKind::Fixed) {
    const Quat turn = qb * (qa * joint.relative).conjugate();
    w.angularError = (turn.w() < 0 ? -2.0 : 2.0) * turn.vec();
  } else if (joint.settings.kind == JointKind::Hinge) {
    w.axis = qa * joint.axisA;
    w.angularError = w.axis.cross(qb * joint.axisB);
    w.angle = hingeAngle(joint, bodies);
  }
}

void JointSolver::prepare(std::vector<Joint>& joints, BodySet& bodies, double) {
  for (Work& w : work_) {
    Joint& joint = joints[w.joint];
    SolverBody &a = bodies.state.solverBody[w.a], &b = bodies.state.solverBody[w.b];
    place(w, joint, bodies);
    const Mat3 ia = a.inverseInertia(), ib = b.inverseInertia();
    if (joint.settings.kind == JointKind::Distance) {
      const Vec3 ta = w.armA.cross(w.direction), tb = w.armB.cross(w.direction);
      w.directionMass = 1 / (a.inverseMass + b.inverseMass + ta.dot(ia * ta) + tb.dot(ib * tb));
      joint.linear = w.direction * w.direction.dot(joint.linear);
      pushApart(a, b, joint.linear, w.armA, w.armB);
      continue;
    }
    const Mat3 ra = crossMatrix(w.armA), rb = crossMatrix(w.armB);
    const Mat3 k = (a.inverseMass + b.inverseMass) * Mat3::Identity() - ra * ia * ra - rb * ib * rb;
    w.pointMass = k.inverse();
    if (joint.settings.kind == JointKind::Fixed) {
      w.angularMass = (ia + ib).inverse();
    } else if (joint.settings.kind == JointKind::Hinge) {
      // Within the plane across the axis: the matrix gets a one along the axis, which nothing excites.
      const Mat3 along = w.axis * w.axis.transpose(), across = Mat3::Identity() - along;
      const double scale = (ia + ib).trace();
      w.angularMass = across * Mat3((across * (ia + ib) * across + scale * along).inverse()) * across;
      w.axialMass = 1 / w.axis.dot((ia + ib) * w.axis);
      joint.angular -= w.axis * w.axis.dot(joint.angular);
      twist(a, b, joint.angular + w.axis * (joint.motor + joint.lower - joint.upper));
    }
    if (joint.settings.kind == JointKind::Fixed) twist(a, b, joint.angular);
    pushApart(a, b, joint.linear, w.armA, w.armB);
  }
}

void JointSolver::solve(std::vector<Joint>& joints, BodySet& bodies, const Softness& softness, bool useBias,
                        double h) {
  const double biasRate = useBias ? softness.biasRate : 0;
  const double massScale = useBias ? softness.massScale : 1,
               impulseScale = useBias ? softness.impulseScale : 0;
  for (Work& w : work_) {
    Joint& joint = joints[w.joint];
    const JointSettings& s = joint.settings;
    SolverBody &a = bodies.state.solverBody[w.a], &b = bodies.state.solverBody[w.b];
    if (!useBias) place(w, joint, bodies);  // the bodies have moved
    if (s.kind == JointKind::Distance) {
      const double speed = w.direction.dot(b.velocityAt(w.armB) - a.velocityAt(w.armA));
      const double old = w.direction.dot(joint.linear);
      double impulse;
      if (s.slack) {
        // A rope pulls: its impulse on b is along -direction.
        impulse = -oneSided(-old, -w.axialError, -speed, w.directionMass, softness, useBias, h);
      } else {
        impulse = old - w.directionMass * massScale * (speed + biasRate * w.axialError) - impulseScale * old;
      }
      // Set anew, so that what is kept is along the present direction.
      joint.linear = w.direction * impulse;
      pushApart(a, b, w.direction * (impulse - old), w.armA, w.armB);
      continue;
    }
    if (s.kind == JointKind::Hinge) {
      const auto speedAbout = [&] { return w.axis.dot(b.angularVelocity() - a.angularVelocity()); };
      if (s.motorTorque > 0) {
        const double old = joint.motor, most = s.motorTorque * h;
        joint.motor = std::clamp(old - w.axialMass * (speedAbout() - s.motorSpeed), -most, most);
        twist(a, b, w.axis * (joint.motor - old));
      }
      if (std::isfinite(s.lowerAngle)) {
        const double old = joint.lower;
        joint.lower = oneSided(old, w.angle - s.lowerAngle, speedAbout(), w.axialMass, softness, useBias, h);
        twist(a, b, w.axis * (joint.lower - old));
      }
      if (std::isfinite(s.upperAngle)) {
        const double old = joint.upper;
        joint.upper = oneSided(old, s.upperAngle - w.angle, -speedAbout(), w.axialMass, softness, useBias, h);
        twist(a, b, w.axis * (old - joint.upper));
      }
    }
    if (s.kind == JointKind::Fixed || s.kind == JointKind::Hinge) {
      const Vec3 speed = b.angularVelocity() - a.angularVelocity();
      const Vec3 change =
          w.angularMass * (-massScale * (speed + biasRate * w.angularError)) - impulseScale * joint.angular;
      joint.angular += change;
      twist(a, b, change);
    }
    const Vec3 speed = b.velocityAt(w.armB) - a.velocityAt(w.armA);
    const Vec3 change =
        w.pointMass * (-massScale * (speed + biasRate * w.error)) - impulseScale * joint.linear;
    joint.linear += change;
    pushApart(a, b, change, w.armA, w.armB);
  }
}

void JointSolver::addUp(const std::vector<Joint>& joints) {
  for (Work& w : work_) {
    const Joint& joint = joints[w.joint];
    w.linearSum += joint.linear;
    w.angularSum += joint.angular;
    if (joint.settings.kind == JointKind::Hinge)
      w.angularSum += w.axis * (joint.motor + joint.lower - joint.upper);
  }
}

uint64_t JointSolver::finish(std::vector<Joint>& joints, BodySet& bodies, double timeStep) {
  uint64_t broken = 0;
  for (const Work& w : work_) {
    Joint& joint = joints[w.joint];
    joint.force = w.linearSum.norm() / timeStep;
    joint.torque = w.angularSum.norm() / timeStep;
    if (joint.settings.kind == JointKind::Hinge) joint.angle = hingeAngle(joint, bodies);
    if (joint.force > joint.settings.breakForce || joint.torque > joint.settings.breakTorque) {
      joint.broken = true;
      joint.linear = joint.angular = Vec3::Zero();
      joint.motor = joint.lower = joint.upper = 0;
      ++broken;
    }
  }
  return broken;
}

}  // namespace sunder::rigid
