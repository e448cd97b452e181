// Contact of soft bodies with obstacles, with each other and with themselves, inside the minimisation of a
// step: spheres that tetrahedra carry must not enter obstacles, nor each other.
//
// Each contact has a gap g, linear in the unknowns around the state where it was last looked at, and a force
// multiplier p. Its energy is that of an augmented Lagrangian, (max(0, p - k g)^2 - p^2) / 2k, so a contact
// is compliant while Newton runs and exact when the rounds end: then p is the force and g p = 0 up to the
// tolerance. Friction is Coulomb's, isotropic, with a multiplier of its own across the normal: the energy is
// the Moreau envelope of mu p |u| (Huber's function, smooth), so that what sticks does not creep; mu p is
// lagged by one round. Multipliers are kept from step to step: a body at rest needs one round.
//
// Continuous: a gap is taken along the whole way from the start of the step, by conservative advancement on
// the distance in the obstacle's frame, in closed form between spheres. A pair whose way leads through the
// other one keeps the plane where it first touched, so nothing tunnels, however thin the obstacle and fast
// the body. Obstacles must be thicker than nothing only where the distance is negative.
//
// Spheres of one body meet where their tetrahedra share no vertex and they did not overlap at rest; pieces
// that a tear separated meet although they did, at nine tenths of the distance that they had at rest.
//
// Restitution acts on velocities when the step is over, on contacts that closed in this step faster than
// `bounceSpeed`; all impulses of a step are scaled down where they would give back more energy than contacts
// took.
//
// State: multipliers. Same bits for any number of threads. Cost: what the broad phase takes (a tree of boxes
// over spheres each round, distances of spheres near obstacles), and 10 blocks of the matrix a contact.
#pragma once

#include "sunder/fem/motion/step_term.h"
#include "sunder/geometry/mesh.h"
#include "sunder/soft/contact/contact_sphere.h"
#include "sunder/soft/contact/linear_gap.h"
#include "sunder/soft/contact/obstacle_bodies.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder {
class ByteReader;
class ByteWriter;
class Hasher;
}  // namespace sunder

namespace sunder::soft {

struct ContactSettings {
  double tolerance = 1e-3;  // of the smaller radius: how deep, and how much slip in a step where things stick
  uint32_t mostRounds = 20;   // in a step; what is not met then is counted
  double stiffness = 10;      // of a contact against what its vertices offer
  double bounceSpeed = 0.05;  // m/s: slower approaches have no restitution
};

// One contact, as it stands.
struct Contact {
  uint32_t sphere = 0;
  uint32_t other = 0;     // sphere, or number of the obstacle
  bool obstacle = false;  // what `other` is
  double radius = 0;      // least distance: of the centre from the obstacle, or of both centres
  double friction = 0;
  double stiffness = 0;               // N/m
  Vec3 normal = Vec3::UnitY();        // towards `sphere`
  double normalForce = 0;             // p, N
  Vec3 frictionForce = Vec3::Zero();  // on `sphere`, across the normal
  double bound = 0;                   // of the friction force: mu times the normal force of the last round
  LinearGap gap;                      // relative place of the centre; constant is such that normal . it = g
  Vec3 slipStart = Vec3::Zero();      // relative place at which nothing has slipped yet
  double approach = 0;                // m/s before the step, positive where closing
  bool fresh = false;                 // carried no force when the step began
};

struct ContactReport {
  uint32_t contacts = 0;  // with a force when the step ended
  uint32_t pairs = 0;     // that were looked at
  uint32_t rounds = 0;    // of the step
  double deepest = 0;     // m, of the true distances when the step ended
  double deepestOfRadius = 0;
  uint32_t notMet = 0;     // contacts deeper than the tolerance, or whose force was still changing
  uint32_t stopped = 0;    // pairs that continuous detection held at their first touch
  uint32_t bounced = 0;    // contacts with restitution
  double bounceScale = 1;  // what all of these were scaled by
};

class SphereContacts final : public fem::StepTerm {
 public:
  // `obstacles` must outlive it, and its begin() and end() must be called before these.
  explicit SphereContacts(ObstacleBodies& obstacles, const ContactSettings& settings = {});

  // All soft bodies of a Motion in one mesh at rest, with vertices as the Motion numbers them. Forgets all
  // contacts. Throws Error (Usage) that names the first sphere with a tetrahedron or body that is not there,
  // weights that do not add up to 1, or a radius that is not positive and finite.
  void set(const geometry::TetMesh& rest, std::span<const ContactSphere> spheres,
           std::span<const ContactBody> bodies);
  // After a tear: who the corners are now. `masses` by vertex. Must follow set() once.
  void setCorners(std::span<const geometry::Tetrahedron> tets, std::span<const double> masses);

  std::span<const ContactSphere> spheres() const { return spheres_; }
  Vec3 centre(size_t sphere, std::span<const Vec3> x) const;
  std::span<const Contact> contacts() const { return contacts_; }
  const ContactReport& report() const { return report_; }  // of the last step

  void begin(const fem::StepStart& start, std::span<Vec3> own) override;
  double energy(std::span<const Vec3> x) const override;
  void addGradient(std::span<const Vec3> x, std::span<Vec3> gradient) const override;
  void addCurvature(std::span<const Vec3> x, fem::BlockMatrix& matrix, std::span<Mat3> diagonal,
                    fem::OuterTerms& outer) const override;
  double longestStep(std::span<const Vec3> x, std::span<const Vec3> dx) const override;
  bool update(std::span<const Vec3> x, uint32_t round) override;
  void end(std::span<const Vec3> x, std::span<Vec3> velocities) override;

  void save(ByteWriter& out) const;
  // For the same spheres. Throws Error (Format) for what cannot be a state of these.
  void load(ByteReader& in);
  void hash(Hasher& hasher) const;

 private:
  // Two that may meet within the reach of their spheres.
  struct Pair {
    uint32_t sphere = 0, other = 0;
    bool obstacle = false;
    bool isContact = false;
    double radius = 0;
  };
  // How a pair stands at some x, seen along its way from the start of the step.
  struct Way {
    double gap = 0;         // at the end of the way, true
    double linearised = 0;  // gap where `normal` and `at` were taken
    Vec3 normal = Vec3::UnitY();
    Vec3 at = Vec3::Zero();  // relative place there, in the frame of the end of the step
    double touch = 1;        // the part of the way at which the gap is first used up; 1: not at all
    bool held = false;       // the way leads through
  };
  struct Kept {
    uint32_t sphere = 0;
    bool obstacle = false;
    uint64_t other = 0;  // the sphere, or the obstacle's key
    double force = 0, stiffness = 0;
    Vec3 friction = Vec3::Zero();
  };

  void findPairs(double reachScale) const;
  void addObstaclePairs() const;
  void addSpherePairs() const;
  bool mayMeet(uint32_t a, uint32_t b, double& radius) const;
  Way wayOf(const Pair& pair, std::span<const Vec3> x) const;
  Way wayToObstacle(const Pair& pair, std::span<const Vec3> x) const;
  Way wayToSphere(const Pair& pair, std::span<const Vec3> x) const;
  double baseStiffness(const Pair& pair, const Vec3& normal) const;
  double inverseMassOf(uint32_t sphere) const;
  void addContact(uint32_t pair, const Way& way, std::span<const Vec3> x) const;
  void linearise(Contact& contact, const Way& way, std::span<const Vec3> x) const;
  uint32_t activate(std::span<const Vec3> x) const;
  const Kept* kept(const Pair& pair) const;
  void measure(std::span<const Vec3> x);
  void bounce(std::span<Vec3> velocities);
  Vec3 sphereVelocity(uint32_t sphere, std::span<const Vec3> velocities) const;
  double relativeSpeed(const Contact& contact, std::span<const Vec3> velocities) const;
  void pushApart(const Contact& contact, double impulse, std::span<Vec3> velocities, bool kick);

  ObstacleBodies& obstacles_;
  ContactSettings settings_;
  std::vector<ContactSphere> spheres_;
  std::vector<ContactBody> bodies_;
  std::vector<geometry::Tetrahedron> tets_, restTets_;
  std::vector<Vec3> restCentres_;
  std::vector<double> sizes_;          // of each tetrahedron, cube root of its volume
  std::vector<double> inverseMasses_;  // by vertex
  std::vector<Kept> kept_;             // by sphere, kind and other

  double h_ = 0;
  std::vector<Vec3> startCentres_, startVelocities_;  // of the spheres
  // What the search looks at may grow while it runs, where the unknowns go further than foreseen; that
  // changes no energy at states that were within reach before.
  mutable std::vector<double> reach_;
  mutable std::vector<Pair> pairs_;
  mutable std::vector<Contact> contacts_;
  mutable std::vector<uint32_t> pairOf_;     // of each contact
  mutable std::vector<double> lastChanges_;  // of each contact, in the last round
  mutable std::vector<double> allowances_;  // how deep each contact may be: what it started with, less a part
  ContactReport report_;
};

// Friction against what Coulomb allows, in [0, 1]: 1 where the contact slips, less where it sticks.
double frictionUse(const Contact& contact);

}  // namespace sunder::soft
