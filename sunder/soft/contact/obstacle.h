// What soft bodies touch besides each other: shapes with a signed distance, and bodies of such a shape that
// stand still, move as prescribed, or take part in a step with six unknowns. Whoever has rigid bodies makes
// obstacles of them; this room knows nothing else of them.
#pragma once

#include "sunder/base/box.h"
#include "sunder/base/math.h"
#include "sunder/sdf/field.h"

#include <cstdint>
#include <memory>

namespace sunder::soft {

struct ObstacleSample {
  double distance = 0;            // negative inside
  Vec3 gradient = Vec3::UnitY();  // of unit length, away from the solid
};

// A shape in its own frame. Distances may be bounds (never larger than the true distance outside), but close
// to the surface they must be distances. Calls come from many threads at once.
class Obstacle {
 public:
  virtual ~Obstacle() = default;
  virtual ObstacleSample at(const Vec3& point) const = 0;
  virtual Box3 bounds() const = 0;  // of what is inside; infinite sides for solids without end
};

using ObstaclePtr = std::shared_ptr<const Obstacle>;

// All points with normal . p <= offset. Throws Error (Usage) where the normal has no direction.
ObstaclePtr makePlaneObstacle(const Vec3& normal, double offset);
// Throws Error (Usage) unless the radius is positive and finite.
ObstaclePtr makeSphereObstacle(const Vec3& centre, double radius);
// Throws Error (Usage) where there is no field.
ObstaclePtr makeFieldObstacle(sdf::FieldPtr field);

struct ObstaclePose {
  Vec3 position = Vec3::Zero();
  Quat rotation = Quat::Identity();
  Vec3 point(const Vec3& p) const { return position + rotation * p; }
  Vec3 toLocal(const Vec3& p) const { return rotation.conjugate() * (p - position); }
};

// The pose after turning by `turn` about `centre` (in the frame of the pose) and moving that point by `move`.
ObstaclePose moved(const ObstaclePose& pose, const Vec3& centre, const Vec3& move, const Vec3& turn);
// The turn, of at most half a revolution, that takes one rotation to the other.
Vec3 rotationVector(const Quat& from, const Quat& to);

// A body in one step. One that is not movable is at `after` when the step ends; of one that is movable,
// `after` is where it would be without what the soft bodies do to it.
struct ObstacleBody {
  ObstaclePtr shape;
  uint64_t key = 0;  // tells bodies apart from step to step: contacts remember their forces by it
  ObstaclePose before, after;
  Vec3 velocity = Vec3::Zero(), angularVelocity = Vec3::Zero();  // of the centre of mass, before the step
  Vec3 centre = Vec3::Zero();                                    // of mass, in the frame of the poses
  double inverseMass = 0;                                        // 0: not movable
  Mat3 inertia = Mat3::Identity();  // about the centre of mass, along the axes of the world, before the step
  double friction = 0.5, restitution = 0;
  bool movable() const { return inverseMass > 0; }
};

}  // namespace sunder::soft
