// Where a rigid thing is: a turn, then a move. Maps points of its own frame to the frame around it.
#pragma once

#include "sunder/base/math.h"

namespace sunder::rigid {

struct Pose {
  Vec3 position = Vec3::Zero();
  Quat rotation = Quat::Identity();  // of unit length

  Vec3 point(const Vec3& local) const { return position + rotation * local; }
  Vec3 direction(const Vec3& local) const { return rotation * local; }
  Vec3 localPoint(const Vec3& outer) const { return rotation.conjugate() * (outer - position); }
  Vec3 localDirection(const Vec3& outer) const { return rotation.conjugate() * outer; }
};

// First `inner`, then `outer`.
inline Pose operator*(const Pose& outer, const Pose& inner) {
  return {outer.point(inner.position), outer.rotation * inner.rotation};
}
inline Pose inverse(const Pose& pose) {
  const Quat back = pose.rotation.conjugate();
  return {-(back * pose.position), back};
}

}  // namespace sunder::rigid
