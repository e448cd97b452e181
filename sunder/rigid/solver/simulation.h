// Rigid bodies in contact: one step of detect, solve, move. The solver works at the velocity level with warm
// starting and substeps: contacts and joints are soft constraints that are solved with a position bias, then,
// after the bodies moved, relaxed without it (the "soft step" of Catto, Box2D v3; small steps after Macklin
// et al. 2019). Friction is a true cone, bounces are a sequence of impacts so that they travel through rows
// of touching bodies.
//
// Contacts are springs from the first touch on, so what rests sinks in by about g / (2 pi rate)^2 for each
// body above it: 0.1 to 0.2 mm with the 240 substeps a second of the defaults; static ground is four times as
// stiff. Stiffer springs (contactRate) make stacks of a few bodies tremble, softer ones let high stacks
// buckle: n boxes of side b stand on each other as long as the substep is shorter than 0.26 sqrt(b / g) / n.
// That is 20 boxes of 1 m with the defaults; 20 of 20 cm need 12 substeps. The rate follows the substeps.
// Under loads that would press bodies together by more than 0.5 % of their radius springs are up to four
// times as stiff.
//
// Guarantees:
//   - results do not depend on the number of threads; save() and load() give a run that goes on bit for bit
//   - momentum is conserved to rounding by contacts, impacts and joints between bodies. Bodies that are
//     stopped (see below) keep their momentum, not their place: the angular momentum of the whole changes
//   - free flight follows the parabola to rounding; free rotation keeps the angular momentum to rounding
//     and the energy without drift (splitting of McLachlan 1993 and Reich 1993)
//   - no body passes through another in a step, however fast: those that would are stopped at the first
//     contact and counted in the report. Of bodies that touch already, the balls half as large as the
//     largest inside them do not pass
//   - a body that overlaps another at the start is pushed out at a bounded speed
// A number that is not finite throws Error (Numerical) naming the body; the state is then that before the
// step.
//
// Cost: linear in the bodies and contacts. Memory: some 1 kB a body, 400 bytes a contact.
#pragma once

#include "sunder/rigid/contact/contact.h"
#include "sunder/rigid/shape/shape.h"
#include "sunder/rigid/solver/joint.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sunder {
class ByteReader;
class ByteWriter;
}  // namespace sunder

namespace sunder::rigid {

enum class BodyKind : uint8_t { Static, Kinematic, Dynamic };

// How a surface answers. Of two that touch: friction is the geometric mean, the others the larger one.
struct Surface {
  double friction = 0.5;
  double restitution = 0;
  double rollingFriction = 0;  // length: the lever arm by which rolling is resisted
};

struct BodySettings {
  BodyKind kind = BodyKind::Dynamic;
  ShapePtr shape;
  Pose pose;                     // of the model frame
  Vec3 velocity = Vec3::Zero();  // of the centre of mass
  Vec3 angularVelocity = Vec3::Zero();
  double density = 1000;       // kg/m^3
  std::optional<double> mass;  // kg, instead of the density; the inertia follows the shape
  Surface surface;
  double gravityScale = 1;
  double linearDamping = 0, angularDamping = 0;  // 1/s
  uint32_t category = 1,
           mask = 0xffffffffu;  // two bodies meet when each one's category is in the other's mask
  uint32_t group = 0;           // bodies of one group other than 0 do not meet
  bool canSleep = true;
  std::string name;  // for messages
};

struct SimulationSettings {
  Vec3 gravity{0, -9.81, 0};
  double timeStep = 1.0 / 60;
  uint32_t substeps = 4;
  bool sleep = true;
  double sleepSpeed = 0.02;   // m/s at the body's surface
  double sleepTime = 0.5;     // s below it, the whole island
  double contactRate = 0.2;   // of the contacts' springs, as a part of the rate of substeps; at most 0.25
  double contactDamping = 2;  // ratio
  double pushSpeed = 3;       // m/s, the most
  double slop = 0.0005;       // part of the smaller body's outer radius that counts as touching
  double bounceSpeed = 0.05;  // m/s: slower approaches do not bounce
  bool continuous = true;     // stop fast bodies at what they would pass through
  double eventImpulse = 0;    // N s in a step: contacts at or above are reported as events; 0: none of them
  SelectionSettings selection;
};

// m/s: contacts that approach more slowly rest. Solvers need some steps until each contact carries its load;
// until then bodies at rest fall as if nothing held them, up to the speed that gravity gives in a step.
double slowestImpact(const SimulationSettings& settings);

// An impulse through a contact in the last step.
struct ContactEvent {
  BodyIndex a, b;
  Vec3 point = Vec3::Zero(), normal = Vec3::UnitY();
  double impulse = 0;              // N s along the normal
  Vec3 tangential = Vec3::Zero();  // N s on b, by friction
  double approach = 0;             // m/s along the normal before the step
};

// A point of other matter that touches bodies in a step (site_contacts.h).
struct Site {
  Vec3 position = Vec3::Zero(), velocity = Vec3::Zero();
  Vec3 acceleration = Vec3::Zero();  // that acts on it during the step, besides its contacts
  double inverseMass = 0;            // 1/kg; 0: contacts do not move it
};
// A contact of a site with a body, or with another site where `body` is none.
struct SiteContact {
  uint32_t site = 0;
  BodyIndex body;
  uint32_t other = kNoIndex;
  Vec3 normal = Vec3::UnitY();  // unit, from the body to the site
  double separation = 0;        // m at the start of the step; negative where they overlap
  double friction = 0.5;
  double startImpulse = 0;  // N s: SiteImpulse::last of the same contact in the step before, or 0
};
struct SiteImpulse {
  Vec3 impulse = Vec3::Zero();  // N s in the step, on the site
  double last = 0;              // N s along the normal in the last substep
};

// What a step did to a site. Contacts that overlap push it out without leaving it the speed, so the way is
// not what the velocities alone give.
struct SiteMotion {
  Vec3 moved = Vec3::Zero();     // m, in the step
  Vec3 velocity = Vec3::Zero();  // after it
};

// A contact as it is now, for viewers and statistics.
struct ContactView {
  BodyIndex a, b;
  Contact contact;
  Vec3 impulse = Vec3::Zero();  // N s, on b, in the last step
};

struct StepReport {
  uint64_t bodies = 0, awake = 0, islands = 0;
  uint64_t pairs = 0;     // of the broad phase
  uint64_t touching = 0;  // pairs with contacts
  uint64_t contacts = 0;
  double deepest = 0;    // largest overlap at the start of the step, length
  double meanDepth = 0;  // over overlapping contacts
  ContactWork work;
  uint64_t colours = 0, overflow = 0;  // of the contact graph; units beyond the last colour, solved in order
  // What went less well than asked; each is to be told to the user at the end.
  uint64_t stoppedBodies = 0;   // fast bodies that lost the rest of the step
  uint64_t slowImpacts = 0;     // rows of impacts cut off at the limit of rounds
  uint64_t lightenedSites = 0;  // sites that press less than they weigh (site_contacts.h)
  uint64_t brokenJoints = 0;
};

struct Energy {
  double kinetic = 0, potential = 0;  // J; potential relative to the origin
  double total() const { return kinetic + potential; }
};

class Simulation {
 public:
  // Throws Error (Usage) for settings that make no sense.
  explicit Simulation(const SimulationSettings& settings);
  ~Simulation();
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;

  const SimulationSettings& settings() const;

  // Indices are given out in order and never again. Throw Error (Usage): no shape, a mass that is not
  // positive, a pose that is not finite, a dynamic plane, a joint of a body with itself.
  BodyIndex addBody(const BodySettings& body);
  JointIndex addJoint(const JointSettings& joint);
  void removeBody(BodyIndex body);  // with its joints; what it touched wakes up

  uint32_t bodyCount() const;  // indices given out, removed ones included
  bool exists(BodyIndex body) const;
  BodyKind kind(BodyIndex body) const;
  const ShapePtr& shape(BodyIndex body) const;
  const std::string& name(BodyIndex body) const;
  double mass(BodyIndex body) const;    // infinite where not dynamic
  Pose pose(BodyIndex body) const;      // of the model frame
  Vec3 centre(BodyIndex body) const;    // of mass, world
  Vec3 velocity(BodyIndex body) const;  // of the centre
  Vec3 angularVelocity(BodyIndex body) const;
  bool awake(BodyIndex body) const;
  Box3 bounds(BodyIndex body) const;

  void setPose(BodyIndex body, const Pose& pose);  // wakes it
  void setVelocity(BodyIndex body, const Vec3& velocity, const Vec3& angularVelocity);
  void moveTo(BodyIndex body, const Pose& pose);     // kinematic: be there at the end of the next step
  void addForce(BodyIndex body, const Vec3& force);  // for the next step, at the centre
  void addForce(BodyIndex body, const Vec3& force, const Vec3& worldPoint);
  void addTorque(BodyIndex body, const Vec3& torque);
  void applyImpulse(BodyIndex body, const Vec3& impulse, const Vec3& worldPoint);
  void wake(BodyIndex body);

  uint32_t jointCount() const;
  const JointSettings& joint(JointIndex joint) const;
  JointState jointState(JointIndex joint) const;
  void setMotor(JointIndex joint, double speed, double torque);
  // Where the joint holds one of its bodies, in the body's model frame.
  Vec3 jointAnchor(JointIndex joint, BodyIndex body) const;
  // One end of the joint from a body to another that has the same model frame, as a piece of it has; length,
  // angles and impulses stay. Throws Error (Usage) where `from` is none of its bodies or `to` is the other.
  void moveJoint(JointIndex joint, BodyIndex from, BodyIndex to);

  // Contacts with other matter, for the next step alone. A body that sleeps is woken where a site approaches
  // faster than the speed of sleep. Throws Error (Usage) for what is not there or not finite.
  void touch(std::span<const Site> sites, std::span<const SiteContact> contacts);
  std::span<const SiteImpulse> siteImpulses() const;  // of the last step, by contact
  std::vector<SiteMotion> siteMotions() const;        // of the last step, by site

  // Whether all contacts of a body are events, however weak. Saved nowhere: who listens says so again.
  void listen(BodyIndex body, bool on = true);

  void step();
  uint64_t stepsDone() const;

  const StepReport& report() const;  // of the last step
  // Of the last step, ordered by bodies and contact: contacts at or above eventImpulse, and those of bodies
  // that somebody listens to.
  std::span<const ContactEvent> events() const;
  std::vector<ContactEvent> everyContact() const;  // of the last step, however weak; in the same order
  std::vector<ContactView> contacts() const;
  Energy energy() const;
  Vec3 momentum() const;         // of dynamic bodies
  Vec3 angularMomentum() const;  // about the origin

  // Pairs of bodies that overlap now by more than the slop, deepest first: for checking a scene before it
  // runs.
  struct Overlap {
    BodyIndex a, b;
    double depth = 0;
    Vec3 point = Vec3::Zero();
  };
  std::vector<Overlap> overlaps() const;

  // All that changes in a step and all that later steps depend on. load() needs the same bodies, shapes and
  // joints, added in the same order, and throws Error (Format) where the data do not fit them.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);
  uint64_t hash() const;  // of what save() writes

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sunder::rigid
