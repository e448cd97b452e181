#include "sunder/rigid/shape/motion.h"

#include <cmath>

namespace sunder::rigid {

Quat turnBy(const Vec3& v) {
  const double half = v.norm() / 2;
  // sin(x)/x to rounding where the quotient would lose digits.
  const double ratio = half < 1e-4 ? 1 - half * half / 6 : std::sin(half) / half;
  const Vec3 part = v * (ratio / 2);
  return Quat(std::cos(half), part.x(), part.y(), part.z());
}

Pose Motion::at(double time) const {
  const Vec3 place = start.point(centre) + displacement * time;
  Pose pose;
  pose.rotation = (turnBy(turn * time) * start.rotation).normalized();
  pose.position = place - pose.rotation * centre;
  return pose;
}

}  // namespace sunder::rigid
