// Rigid bodies as soft bodies see them: obstacles of a step (soft/contact/obstacle.h), and what the step did
// to them as impulses that act in the same step of the rigid bodies.
//
// What moves freely is foreseen for the step that soft bodies make first. A body that rests on others does
// not fall in it: where its speed hardly changed in the last step, all that others did to it is taken to go
// on. State: that speed, and what soft bodies did to it.
#pragma once

#include "sunder/soft/contact/obstacle_bodies.h"
#include "sunder/world/part/part.h"

#include <map>
#include <span>
#include <vector>

namespace sunder::world {

class SoftObstacles {
 public:
  // Those of the solids that come near one of the boxes in the step, and those in `always` (numbers of the
  // table).
  void gather(const StepContext& context, const Vec3& gravity, std::span<const Box3> boxes,
              std::span<const uint32_t> always, soft::ObstacleBodies& obstacles);
  // Leaves the reactions of the step for the solids.
  void giveBack(const soft::ObstacleBodies& obstacles, StepContext& context);

  void save(ByteWriter& out) const;
  void load(ByteReader& in, uint32_t bodies);

 private:
  struct Last {  // step of a solid
    Vec3 velocity = Vec3::Zero(), angularVelocity = Vec3::Zero();
    Vec3 impulse = Vec3::Zero(), angularImpulse = Vec3::Zero();  // of the soft bodies
  };
  soft::ObstaclePtr shapeOf(const rigid::ShapePtr& shape);
  soft::ObstacleBody obstacleOf(const MovingSolid& solid, uint32_t number, double h, const Vec3& gravity);

  std::map<const rigid::Shape*, soft::ObstaclePtr> shapes_;  // each keeps its shape
  std::vector<Last> last_;                                   // by number of the table
};

}  // namespace sunder::world
