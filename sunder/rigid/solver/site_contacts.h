// Contacts of bodies with points of other matter: nodes of deformable bodies, particles, anything that has a
// velocity and an inverse mass at a point. They are solved in the same substeps as the contacts between
// bodies, so that impulses travel from a point through a body to what carries it, whatever the ratio of the
// masses. Normals are soft constraints with a position bias, then relaxed (as in simulation.h); friction is a
// cone.
//
// Guarantees: the momentum of sites and bodies together is kept to rounding. Their angular momentum is kept
// about the places at the start of the step, since arms do not follow bodies that move in the step. Contacts
// are solved in the order in which they were given, so results do not depend on the number of threads.
//
// A site that is more than kHeaviestSite times as heavy as a body it touches presses and moves as if it were
// kHeaviestSite times as heavy, and is counted: the solver would need thousands of passes to carry its load
// through the body. Momentum is then not kept.
//
// Cost: one pass over the contacts for each of warm start, solving and relaxing, a substep; on one thread.
#pragma once

#include "sunder/base/index.h"
#include "sunder/rigid/shape/shape.h"
#include "sunder/rigid/solver/body_set.h"
#include "sunder/rigid/solver/softness.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::rigid {

inline constexpr double kHeaviestSite = 10;

struct SiteSolveSettings {
  double substep = 0;  // s
  double pushSpeed = 0;
  Softness soft, softOnStatic;
};

class SiteContacts {
 public:
  // For the next step. Throws Error (Usage) for indices out of range and numbers that are not finite.
  void set(std::span<const Site> sites, std::span<const SiteContact> contacts, uint32_t bodyCount);
  void clear();
  bool empty() const { return contacts_.empty(); }
  std::span<const SiteContact> contacts() const { return given_; }
  // Of the last step, by contact.
  std::span<const SiteImpulse> impulses() const { return impulses_; }
  std::vector<SiteMotion> motions() const;  // by site

  // Effective masses and arms, from the bodies at the start of the step.
  void prepare(const BodySet& bodies);
  uint64_t lightened() const { return lightened_; }  // sites that are treated as lighter, in this step
  void accelerate(double substep);
  void warmStart(SolverBody* bodies);
  void solve(SolverBody* bodies, const SiteSolveSettings& settings, bool bias);
  void move(double substep);
  // At the end of a substep: adds its impulses to those of the step.
  void addUp();

 private:
  struct Row {
    uint32_t site = 0, body = kNoIndex, other = kNoIndex;
    Vec3 normal = Vec3::UnitY(), arm = Vec3::Zero();  // from the centre of the body to the site
    double separation = 0, friction = 0;              // separation: at the start of the step
    double normalMass = 0, frictionMass = 0;
    double normalImpulse = 0;
    Vec3 frictionImpulse = Vec3::Zero();
    bool onStatic = false;
  };
  // What a site is to the solver: a body that does not turn.
  SolverBody& secondBody(Row& row, SolverBody* bodies) {
    return row.body != kNoIndex ? bodies[row.body] : sites_[row.other];
  }
  void push(Row& row, SolverBody* bodies, const Vec3& impulse);

  std::vector<SiteContact> given_;
  std::vector<SolverBody> sites_;
  std::vector<Vec3> accelerations_, positions_;
  std::vector<Row> contacts_;
  std::vector<SiteImpulse> impulses_;
  uint64_t lightened_ = 0;
};

}  // namespace sunder::rigid
