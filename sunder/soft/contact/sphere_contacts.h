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
// Spheres of one body meet where their tetrahedra share no vertex and they did not overlap at rest. Spheres
// of tetrahedra that were neighbours at rest meet where a tear has made two pieces of them, of several
// tetrahedra each, from when they have been apart: at nine tenths of the sum of their radii. Until then they
// overlap as they did in the whole body.
//
// Restitution acts on velocities when the step is over, on contacts that closed in this step faster than
// `bounceSpeed`; all impulses of a step are scaled down where they would give back more energy than contacts
// took.
//
// State: multipliers. Same bits for any number of threads. Cost: what the broad phase takes (a tree of boxes
// over spheres each round, distances of spheres near obstacles; where spheres move far against their size, a
// tree for each state that is looked at), and 10 blocks of the matrix a contact.
#pragma once

#include "sunder/fem/motion/step_term.h"
#include "sunder/geometry/mesh.h"
#include "sunder/soft/contact/contact_sphere.h"
#include "sunder/soft/contact/linear_gap.h"
#include "sunder/soft/contact/obstacle_bodies.h"

#include <compare>
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
  double tolerance = 1e-3;    // of the radius, or half of the largest one of the body: how deep, and how much
                              // slip in a step where things stick
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
  double stiffness = 0;               // k, N/m
  Vec3 normal = Vec3::UnitY();        // towards `sphere`
  double normalForce = 0;             // p, N
  Vec3 frictionForce = Vec3::Zero();  // on `sphere`, across the normal
  double bound = 0;                   // of the friction force: mu times the normal force
  LinearGap place;                    // of the centre, relative to the other one
  LinearGap touch;                    // of the material where both touch: where friction acts
  double constant = 0;                // g = normal . place + constant
  Vec3 slipStart = Vec3::Zero();      // of `touch`, where nothing has slipped in this step
  double approach = 0;                // m/s before the step, positive where closing
  double allowance = 0;  // m that it may be deep: bodies that begin deep in each other part slowly
  bool fresh = false;    // carried no force when the step began

  // What the search for a state has done to it so far.
  double leastStiffness = 0;  // that it began with
  double lastChange = 0;      // of the multipliers in the last round, m
  double boundMiss = 0;       // N: what the last round changed of the bound of friction, where it mattered
  double lastForce = 0;       // N, of the last round
  double depth = 0;           // m where the last minimum was found; negative: apart

  // Where the last minimum was found: forces on `sphere` as they were in it, and where friction acted.
  Vec3 push = Vec3::Zero(), drag = Vec3::Zero(), dragAt = Vec3::Zero();

  double gap(std::span<const Vec3> x) const { return normal.dot(place.place(x)) + constant; }
  // Since the step began, across the normal.
  Vec3 slip(std::span<const Vec3> x) const {
    const Vec3 way = touch.place(x) - slipStart;
    return way - normal.dot(way) * normal;
  }
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
  // Two that never touch, whatever is between them: a soft body and the obstacle with that key, or two soft
  // bodies (or one, with itself). set() forgets them.
  void keepApart(uint32_t body, uint64_t obstacle);
  void keepBodiesApart(uint32_t body, uint32_t other);

  // Nothing touches a body that is not there, and what its contacts remember is forgotten.
  void setPresent(uint32_t body, bool present);

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
  void took(double energy) override { took_ = energy; }
  void end(std::span<const Vec3> x, std::span<Vec3> velocities) override;

  void save(ByteWriter& out) const;
  // For the same spheres. Throws Error (Format) for what cannot be a state of these.
  void load(ByteReader& in);
  void hash(Hasher& hasher) const;

 private:
  // Two that may meet.
  struct Pair {
    uint32_t sphere = 0;
    bool obstacle = false;
    uint32_t other = 0;
    double radius = 0;
    auto operator<=>(const Pair&) const = default;
  };
  // How a pair stands at some x, seen along its way from the start of the step.
  struct Way {
    double gap = 0;         // at the end of the way
    double linearised = 0;  // gap where `normal` and `at` were taken
    Vec3 normal = Vec3::UnitY();
    Vec3 at = Vec3::Zero();  // centre relative to the other one there, with the other one where it ends
    double touch = 1;        // part of the way at which the gap is first used up, where it is held
    bool held = false;       // the way leads through the other one
  };
  struct Kept {
    uint32_t sphere = 0;
    bool obstacle = false;
    uint64_t other = 0;  // the sphere, or the obstacle's key
    double force = 0;
    Vec3 friction = Vec3::Zero();
  };
  // How far the spheres of a body may go from what they have in common before pairs are looked for again.
  struct Reach {
    Vec3 common = Vec3::Zero();
    double own = 0;
  };

  // contact_pairs.cpp: which spheres may meet what.
  void foresee(std::span<const Vec3> x) const;
  bool foreseen(std::span<const Vec3> x) const;
  double withinReach(std::span<const Vec3> x, std::span<const Vec3> end) const;
  void findPairs() const;
  void addObstaclePairs(uint32_t obstacle) const;
  bool addSpherePairs() const;
  double commonReach(uint32_t a, uint32_t b) const;
  std::vector<double> commonMargins() const;
  bool mayMeet(uint32_t a, uint32_t b, double& radius) const;
  bool apart(uint32_t body, bool obstacle, uint64_t other) const;
  double obstacleReach(uint32_t obstacle) const;
  // contact_sweeps.cpp, of spheres where they are now
  bool comeNear(const Pair& pair, double level, std::span<const Vec3> starts) const;
  void addSweptPairs(std::span<const Vec3> starts, std::vector<Pair>& near) const;
  void gatherNear(std::span<const Vec3> starts, std::span<const Vec3> x, std::vector<Pair>& near) const;
  // contact_ways.cpp
  // Of spheres where they are now (placeCentres()).
  Way wayToObstacle(const Pair& pair, const ObstaclePose& pose) const;
  Way wayToSphere(const Pair& pair) const;
  Way touchOfObstacle(const Pair& pair, const ObstaclePose& here, const ObstaclePose& there) const;
  Way touchOfSphere(const Pair& pair) const;
  void placeCentres(std::span<const Vec3> x) const;
  // Valid until the next call.
  std::span<const Way> waysOf(std::span<const Pair> pairs, std::span<const Vec3> x) const;
  std::span<const Way> touches(std::span<const Pair> pairs, std::span<const Vec3> x,
                               std::span<const Vec3> end) const;
  // sphere_contacts.cpp
  double tolerated(const Contact& contact) const;  // m
  double inverseMassOf(uint32_t sphere) const;
  double leastStiffness(const Pair& pair, const Vec3& normal) const;
  const Kept* keptOf(const Pair& pair) const;
  void remember();
  // contact_search.cpp
  void addContact(const Pair& pair, const Way& way, std::span<const Vec3> x) const;
  void linearise(Contact& contact, const Way& way, std::span<const Vec3> x) const;
  void addTouch(LinearGap& gap, uint32_t sphere, const Vec3& point, double sign,
                std::span<const Vec3> x) const;
  size_t activate(std::span<const Vec3> x) const;
  size_t stopAt(std::span<const Vec3> x, std::span<const Vec3> end) const;
  void addKeptSpheres(std::vector<Pair>& pairs) const;
  void extend(std::span<const Vec3> x) const;
  // contact_bounce.cpp
  void bounce(std::span<const Vec3> x, std::span<Vec3> velocities);
  double closing(const Contact& contact, std::span<const Vec3> x, std::span<const Vec3> velocities) const;
  double inverseMassOf(const Contact& contact, std::span<const Vec3> x) const;
  void pushApart(const Contact& contact, double impulse, std::span<const Vec3> x, std::span<Vec3> velocities);

  ObstacleBodies& obstacles_;
  ContactSettings settings_;
  std::vector<ContactSphere> spheres_;
  std::vector<ContactBody> bodies_;
  std::vector<uint8_t> present_;  // by body
  std::vector<geometry::Tetrahedron> tets_, restTets_;
  // By tetrahedron: equal in what still hangs together, and how many tetrahedra that has.
  std::vector<uint32_t> pieceOf_, pieceSizes_;
  std::vector<Vec3> restCentres_;
  std::vector<double> largestRadii_;   // by body
  std::vector<double> sizes_;          // of each tetrahedron, cube root of its volume
  std::vector<double> inverseMasses_;  // by vertex
  std::vector<Kept> kept_;             // by sphere, kind and other
  struct Apart {
    uint32_t body = 0;
    bool obstacle = false;
    uint64_t other = 0;  // key of the obstacle, or the body with the larger number
    auto operator<=>(const Apart&) const = default;
  };
  std::vector<Apart> apart_;  // ascending

  double h_ = 0;
  double took_ = 0;                                   // J, that the step took from the mesh
  std::vector<Vec3> start_;                           // positions of the vertices
  std::vector<Vec3> startCentres_, startVelocities_;  // of the spheres
  // Pairs and contacts may become more while the search for a minimum runs, where the unknowns go further
  // than foreseen or a way turns out to lead through something.
  mutable std::vector<Reach> reaches_;          // by body; its own: the largest of its spheres
  mutable std::vector<double> sphereReaches_;   // how far from what its body has in common
  mutable std::vector<double> firstReaches_;    // the same when the step began
  mutable std::vector<Reach> obstacleReaches_;  // by obstacle
  mutable std::vector<Pair> pairs_;             // ascending; those that are contacts too
  mutable bool listed_ = true;                  // whether all pairs of spheres are among them
  mutable std::vector<Contact> contacts_;
  mutable std::vector<Pair> contactPairs_;   // ascending
  mutable std::vector<Pair> others_, near_;  // memory that is kept
  mutable std::vector<Vec3> centres_;        // of the spheres, where they were looked at last
  mutable std::vector<Vec3> fromCentres_;    // and where a move of the search begins
  mutable std::vector<Way> ways_;
  mutable uint32_t held_ = 0;
  ContactReport report_;
};

// Friction against what Coulomb allows, in [0, 1]: 1 where the contact slips, less where it sticks.
double frictionUse(const Contact& contact);
// A force of at most that size.
Vec3 clippedForce(const Vec3& force, double bound);

}  // namespace sunder::soft
