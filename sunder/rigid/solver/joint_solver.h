// Joints as soft constraints within the substeps, solved in order before the contacts. Impulses act at one
// point of both bodies, so momentum is conserved to rounding.
#pragma once

#include "sunder/rigid/solver/body_set.h"
#include "sunder/rigid/solver/softness.h"

#include <vector>

namespace sunder::rigid {

// A joint with its anchors in the frames of the principal axes, and what it keeps from step to step.
struct Joint {
  JointSettings settings;
  Vec3 anchorA = Vec3::Zero(), anchorB = Vec3::Zero();  // in the bodies; of the world where a is the world
  Vec3 axisA = Vec3::UnitY(), axisB = Vec3::UnitY();
  Quat relative = Quat::Identity();  // from b's axes to a's when it was made
  double length = 0;

  bool exists = true;
  bool broken = false;
  Vec3 linear = Vec3::Zero(), angular = Vec3::Zero();  // impulses of a substep on b
  double motor = 0, lower = 0, upper = 0;
  double force = 0, torque = 0, angle = 0;

  bool works() const { return exists && !broken; }
};

Joint makeJoint(const JointSettings& settings, const BodySet& bodies);
double hingeAngle(const Joint& joint, const BodySet& bodies);

class JointSolver {
 public:
  // Joints that work and have a body that moves.
  void collect(const std::vector<Joint>& joints, const BodySet& bodies);
  bool empty() const { return work_.empty(); }
  void prepare(std::vector<Joint>& joints, BodySet& bodies, double substep);  // and warm start
  void solve(std::vector<Joint>& joints, BodySet& bodies, const Softness& softness, bool useBias,
             double substep);
  // Forces of the step; breaks joints above their limits and returns how many. `sums` of the substeps.
  uint64_t finish(std::vector<Joint>& joints, BodySet& bodies, double timeStep);
  void addUp(const std::vector<Joint>& joints);  // after each substep

 private:
  struct Work {
    uint32_t joint = 0, a = 0, b = 0;               // bodies
    Vec3 armA = Vec3::Zero(), armB = Vec3::Zero();  // to the point where the impulse acts
    Vec3 axis = Vec3::UnitY(), direction = Vec3::UnitY();
    Vec3 error = Vec3::Zero(), angularError = Vec3::Zero();
    double axialError = 0, angle = 0;
    Mat3 pointMass = Mat3::Zero(), angularMass = Mat3::Zero();
    double axialMass = 0, directionMass = 0;
    Vec3 linearSum = Vec3::Zero(), angularSum = Vec3::Zero();
  };
  void place(Work& work, const Joint& joint, const BodySet& bodies) const;
  std::vector<Work> work_;
};

}  // namespace sunder::rigid
