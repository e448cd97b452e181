#include "sunder/rigid/solver/rotation.h"

#include <algorithm>
#include <cmath>

namespace sunder::rigid {

namespace {

constexpr double kLargestTurn = 0.1;  // rad in one composition: energy within about 1e-5

// tan(x) / x for x^2 <= 0.0025 to 4e-11, and still a good angle beyond.
double tangentRatio(double squared) { return 1 + squared * (1.0 / 3 + squared * (2.0 / 15)); }

// In the body's frame: turns about axis k by `angle`; the momentum as the body sees it turns the other way.
void turnAboutAxis(int k, double angle, Quat& rotation, Vec3& momentum) {
  const double half = angle / 2, t = half * tangentRatio(half * half);
  const double c = (1 - t * t) / (1 + t * t), s = 2 * t / (1 + t * t);
  const int i = (k + 1) % 3, j = (k + 2) % 3;
  const double mi = momentum[i], mj = momentum[j];
  momentum[i] = c * mi + s * mj;
  momentum[j] = c * mj - s * mi;
  Quat turn(1, 0, 0, 0);
  turn.vec()[k] = t;
  rotation = rotation * turn;  // of length sqrt(1 + t^2); normalized by the caller
}

// The axis about which the inertia is the same all around, or -1.
int axisOfSymmetry(const Vec3& inertia) {
  for (int k = 0; k < 3; ++k) {
    const double a = inertia[(k + 1) % 3], b = inertia[(k + 2) % 3];
    if (std::abs(a - b) <= 1e-12 * a) return k;
  }
  return -1;
}

}  // namespace

Mat3 turnedDiagonal(const Quat& rotation, const Vec3& d) {
  const Mat3 r = rotation.toRotationMatrix();
  Mat3 m;
  for (int i = 0; i < 3; ++i) {
    for (int j = i; j < 3; ++j) {
      m(i, j) = m(j, i) = r(i, 0) * d[0] * r(j, 0) + r(i, 1) * d[1] * r(j, 1) + r(i, 2) * d[2] * r(j, 2);
    }
  }
  return m;
}

void turnSteadily(Quat& rotation, const Vec3& angularVelocity, double time) {
  const Vec3 whole = angularVelocity * (time / 2);
  if (whole.squaredNorm() <= kLargestTurn * kLargestTurn / 4) {
    const Vec3 small = whole * tangentRatio(whole.squaredNorm());
    rotation = Quat(1, small.x(), small.y(), small.z()) * rotation;
    rotation.normalize();
    return;
  }
  const double speed = angularVelocity.norm();
  const double count = std::min(std::ceil(speed * std::abs(time) / kLargestTurn), 10000.0);
  if (!(count > 0)) return;
  const Vec3 half = angularVelocity * (time / (2 * count));
  const Vec3 part = half * tangentRatio(half.squaredNorm());
  const Quat turn = Quat(1, part.x(), part.y(), part.z()).normalized();
  for (double i = 0; i < count; ++i) rotation = turn * rotation;
  rotation.normalize();
}

void turnFreely(Quat& rotation, Vec3& angularVelocity, const Vec3& inertia, bool round, double time) {
  if (round) {
    turnSteadily(rotation, angularVelocity, time);
    return;
  }
  Vec3 momentum = inertia.cwiseProduct(rotation.conjugate() * angularVelocity);
  const Vec3 momentumInWorld = rotation * momentum;
  const int axis = axisOfSymmetry(inertia);
  if (axis >= 0) {
    // The body turns about its own axis while that goes around the momentum, both steadily.
    const double across = inertia[(axis + 1) % 3];
    Vec3 own = Vec3::Zero();
    own[axis] = momentum[axis] * (1 / inertia[axis] - 1 / across);
    turnSteadily(rotation, rotation * own, time);
    turnSteadily(rotation, momentumInWorld / across, time);
    momentum = rotation.conjugate() * momentumInWorld;
    angularVelocity = rotation * momentum.cwiseQuotient(inertia);
    return;
  }
  // An error of the orientation makes one of the energy that grows with the ratio of the inertias.
  const double most = kLargestTurn * std::min(1.0, std::sqrt(6 * inertia.minCoeff() / inertia.maxCoeff()));
  const double count = std::min(std::ceil(angularVelocity.norm() * std::abs(time) / most), 10000.0);
  if (!(count > 0)) return;
  const double h = time / count;
  for (double i = 0; i < count; ++i) {
    turnAboutAxis(0, momentum[0] / inertia[0] * h / 2, rotation, momentum);
    turnAboutAxis(1, momentum[1] / inertia[1] * h / 2, rotation, momentum);
    turnAboutAxis(2, momentum[2] / inertia[2] * h, rotation, momentum);
    turnAboutAxis(1, momentum[1] / inertia[1] * h / 2, rotation, momentum);
    turnAboutAxis(0, momentum[0] / inertia[0] * h / 2, rotation, momentum);
    rotation.normalize();
  }
  // From the momentum in the world, which is thereby kept to rounding however long the composition was.
  momentum = rotation.conjugate() * momentumInWorld;
  angularVelocity = rotation * momentum.cwiseQuotient(inertia);
}

}  // namespace sunder::rigid
