// What parts know of each other's bodies.
//
// A moving solid is a body as others see it: its shape with a distance field and a surface, where it was
// before the last step of the solids and where it is after it, how it moves, how hard it is to move, and the
// impulses that others left for it. The part that owns the body publishes it and takes the impulses; anyone
// may read it and push it. Nobody publishes where nobody reads (wanted()).
//
// Matter that deforms is there as points (deforming_solid.h).
//
// Two ways to touch a solid:
//   - push(): an impulse that acts in the next step of the solid. velocityAt() counts what was left so far,
//   so
//     several pushes in a step do not overshoot. For matter that is light against the solid, or flows.
//   - addSite() and addContact(): a point with a velocity and an inverse mass takes part in the contact
//   solver
//     of the solids in this very step (rigid/solver/site_contacts.h). For all that carries or is carried:
//     it stays stable whatever the ratio of the masses.
//
// State: the impulses that were left and not taken yet. Solids and contacts are made anew in each step.
#pragma once

#include "sunder/base/index.h"
#include "sunder/rigid/shape/shape.h"
#include "sunder/rigid/solver/simulation.h"
#include "sunder/world/part/deforming_solid.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder {
class ByteReader;
class ByteWriter;
class Hasher;
}  // namespace sunder

namespace sunder::world {

struct MovingSolid {
  bool present = false;  // else there is no such solid, or no more
  rigid::BodyKind kind = rigid::BodyKind::Static;
  rigid::ShapePtr shape;      // what others touch, in the frame of the poses
  rigid::ShapePtr moves;      // the shape it moves with; another one for bodies that may break
  rigid::Pose before, after;  // the last step; the same for a body that has just been born
  rigid::Pose target;         // where key frames put it at the end of the step that begins; else as `after`
  Vec3 velocity = Vec3::Zero(), angularVelocity = Vec3::Zero();  // of the centre of mass, after the step
  Vec3 centre = Vec3::Zero();                                    // of mass, in the frame of the poses
  // Where it is dynamic: mass, and inertia along the axes of a frame in that of the poses.
  double mass = 0;
  Quat inertiaFrame = Quat::Identity();
  Vec3 inertia = Vec3::Zero();
  double friction = 0.5, restitution = 0;
  double gravityScale = 1;
  Vec3 linear = Vec3::Zero(), angular = Vec3::Zero();  // impulses left for it, about the centre of mass

  bool movable() const { return present && kind == rigid::BodyKind::Dynamic; }
  double inverseMass() const { return movable() ? 1 / mass : 0; }
  // In the world, for a rotation of the frame of the poses; zero where it is not movable.
  Mat3 inverseInertia(const Mat3& rotation) const;
  Box3 bounds() const { return rigid::ShapeHead(*moves).bounds(after); }
  Vec3 centreAfter() const { return after.point(centre); }
  // Velocity of the point that it has at a place now, with what was left for it.
  Vec3 velocityAt(const Vec3& point) const;
  // How much speed along a unit direction an impulse of 1 N s at the point gives.
  double inverseMassAt(const Vec3& point, const Vec3& direction) const;
};

class Exchange {
 public:
  // Whether some part reads solids.
  bool wanted() const { return wanted_; }
  void want() { wanted_ = true; }

  // By number of the table of bodies; bodies that are no solids are not present.
  std::span<const MovingSolid> solids() const { return solids_; }
  const MovingSolid& solid(uint32_t body) const { return solids_[body]; }
  // For the part that owns the body.
  MovingSolid& publish(uint32_t body);

  // Matter that deforms; it must outlive the exchange.
  std::span<DeformingSolid* const> deforming() const { return deforming_; }
  void publish(DeformingSolid& matter) { deforming_.push_back(&matter); }

  // Leaves an impulse at a place of the world, or about the centre of mass.
  void push(uint32_t body, const Vec3& impulse, const Vec3& point);
  void pushCentre(uint32_t body, const Vec3& linear, const Vec3& angular);
  // For the part that owns the bodies: forgets all that was left, once it has been taken.
  void clearImpulses();

  // Sites and contacts of the step that follows; the number of each.
  uint32_t addSite(const rigid::Site& site);
  uint32_t addContact(uint32_t site, uint32_t body, const Vec3& normal, double separation, double friction,
                      double startImpulse = 0);
  uint32_t addSiteContact(uint32_t site, uint32_t other, const Vec3& normal, double separation,
                          double friction, double startImpulse = 0);
  struct Contact {
    rigid::SiteContact values;  // without the body
    uint32_t body = kNoIndex;   // of the table
  };
  std::span<const rigid::Site> sites() const { return sites_; }
  std::span<const Contact> contacts() const { return contacts_; }
  // What the solver made of a contact and of a site. For the part that owns the solids to set.
  const rigid::SiteImpulse& impulse(uint32_t contact) const { return impulses_[contact]; }
  const rigid::SiteMotion& motion(uint32_t site) const { return motions_[site]; }
  void setOutcomes(std::span<const rigid::SiteImpulse> impulses, std::span<const rigid::SiteMotion> motions);
  void clearContacts();

  void save(ByteWriter& out) const;
  void load(ByteReader& in, uint32_t bodies);
  void hash(Hasher& hasher) const;

 private:
  bool wanted_ = false;
  std::vector<MovingSolid> solids_;
  std::vector<DeformingSolid*> deforming_;
  std::vector<rigid::Site> sites_;
  std::vector<Contact> contacts_;
  std::vector<rigid::SiteImpulse> impulses_;
  std::vector<rigid::SiteMotion> motions_;
};

}  // namespace sunder::world
