// How a body moves in a step, for finding when it first touches: the centre on a straight line, the body
// turning at constant speed about an axis through it.
#pragma once

#include "sunder/rigid/shape/pose.h"

namespace sunder::rigid {

// The turn by |v| radians about v.
Quat turnBy(const Vec3& v);

struct Motion {
  Pose start;
  Vec3 centre = Vec3::Zero();        // in the model frame
  Vec3 displacement = Vec3::Zero();  // of the centre
  Vec3 turn = Vec3::Zero();          // rotation vector, world
  double reach = 0;                  // largest distance of a point of the shape from the centre

  Pose at(double time) const;  // time in [0, 1]
  // No point of the shape moves farther than this in the whole step.
  double farthest() const { return displacement.norm() + turn.norm() * reach; }
};

}  // namespace sunder::rigid
