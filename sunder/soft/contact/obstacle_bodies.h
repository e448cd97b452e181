// The obstacles of a step, as a term of its potential: bodies that are movable bring two blocks of unknowns
// each, how far their centre of mass moves in the step and the vector they turn by, with the energy
//
//   1/2 m |u - u'|^2 / h^2 + 1/2 (t - t') . I (t - t') / h^2
//
// where u' and t' are what they would do alone. Contacts and attachments refer to one of these; it is given
// to a Motion before them. What they do to the bodies is collected as impulses, which whoever owns the bodies
// reads after the step.
//
// Guarantee: each force on a vertex has its opposite, at the same place, in the reactions.
#pragma once

#include "sunder/fem/motion/step_term.h"
#include "sunder/soft/contact/obstacle.h"

#include <span>
#include <vector>

namespace sunder::soft {

struct ObstacleReaction {
  Vec3 impulse = Vec3::Zero();         // N s
  Vec3 angularImpulse = Vec3::Zero();  // N m s, about the centre of mass where the step ends
};

class ObstacleBodies final : public fem::StepTerm {
 public:
  // Before each step. Throws Error (Usage) that names the body: without a shape, with a pose, mass or inertia
  // that is not finite or not positive, with negative friction, a restitution outside [0, 1], or a key that
  // another one has.
  void set(std::span<const ObstacleBody> bodies);
  std::span<const ObstacleBody> bodies() const { return bodies_; }
  size_t size() const { return bodies_.size(); }
  // kNoIndex where no body has the key.
  uint32_t find(uint64_t key) const;

  // In the order of the bodies, of the last step; zero for those that nothing touched. Bodies that are not
  // movable have them too.
  std::span<const ObstacleReaction> reactions() const { return reactions_; }
  // What a body moves like after the step, reactions included.
  Vec3 velocity(size_t body) const { return velocities_[body]; }
  Vec3 angularVelocity(size_t body) const { return angularVelocities_[body]; }
  // Where the step took it.
  const ObstaclePose& pose(size_t body) const { return poses_[body]; }

  // For terms that touch bodies. Rows of the two blocks are row and row + 1; kNoIndex where not movable.
  uint32_t row(size_t body) const { return rows_[body]; }
  ObstaclePose poseAt(size_t body, std::span<const Vec3> x) const;
  Vec3 centreAt(size_t body, std::span<const Vec3> x) const;
  // The motion of the whole step at x, of the centre and about it.
  Vec3 moveAt(size_t body, std::span<const Vec3> x) const;
  Vec3 turnAt(size_t body, std::span<const Vec3> x) const;
  double step() const { return h_; }
  // Sets the blocks of bodies to what they do alone; makes room for them.
  void setAlone(std::vector<Vec3>& x) const;
  // After end(): an impulse at a place of the world, collected in the reaction and added to the velocities.
  // `kick`: one beyond what moved the body in this step.
  void push(size_t body, const Vec3& impulse, const Vec3& place, bool kick = false);
  // After a term's last push. Where the forces of a step that did not converge are far from what moved a
  // body, its reaction is what moved it.
  void settle();
  // What a unit impulse along a unit direction at that place gives in speed there.
  double inverseMassAt(size_t body, const Vec3& place, const Vec3& direction) const;
  // Of movable bodies, J: what they would have alone, less what they have now.
  double tookKinetic() const;
  Vec3 velocityAt(size_t body, const Vec3& place) const;      // after the step
  Vec3 velocityBefore(size_t body, const Vec3& place) const;  // before it

  uint32_t ownBlocks() const override;
  void begin(const fem::StepStart& start, std::span<Vec3> own) override;
  double energy(std::span<const Vec3> x) const override;
  void addGradient(std::span<const Vec3> x, std::span<Vec3> gradient) const override;
  void addCurvature(std::span<const Vec3> x, fem::BlockMatrix& matrix, std::span<Mat3> diagonal,
                    fem::OuterTerms& outer) const override;
  void end(std::span<const Vec3> x, std::span<Vec3> velocities) override;

 private:
  void react(size_t body, const ObstacleReaction& reaction);

  std::vector<ObstacleBody> bodies_;
  std::vector<uint32_t> rows_, movable_;
  std::vector<Vec3> moves_, turns_;  // of each body alone
  std::vector<ObstacleReaction> reactions_, pushed_, kicked_, moved_;
  std::vector<Vec3> velocities_, angularVelocities_;
  std::vector<ObstaclePose> poses_;
  std::vector<Mat3> inverseInertias_;
  double h_ = 0;
};

}  // namespace sunder::soft
