// The impact of two rigid bodies at one or several contacts, with Coulomb friction and restitution.
//
// One contact: Routh's differential impulses (1860) with Stronge's energetic restitution (1990). The normal
// impulse p grows from 0; friction is mu dp against the sliding velocity, or what keeps the contact from
// sliding where less than mu dp is enough. Compression ends when the normal velocity is 0, the impact when
// the normal force has given back the part e^2 of the work that it took in compression. The path is exact
// where the direction of sliding does not turn (motion in a plane, balls); else it consists of straight
// pieces (Runge and Kutta of fourth order) in which that direction turns by no more than 0.2 rad.
//
// Several contacts: first the impact without restitution, P, with friction at each contact within the cone of
// its normal impulse and against its sliding; then normal impulses (1 + e) P_n (Poisson) and those
// tangential impulses within mu (1 + e) P_n that leave the least kinetic energy. Without friction that is
// Newton's law at each contact that carries. Contacts slower than some speed do not bounce: e is 0 there.
// Contacts that still approach get the impact without restitution and friction.
//
// Guarantees: kinetic energy does not grow. For one contact the work is 1 - e^2 times that of compression,
// below 0, and friction only takes. For several, with velocities u before and u' after P: (1 + e) P does the
// work (1 + e)/2 ((1 - e) u.P + (1 + e) u'.P), where u'.P <= 0 by the law of friction and u.P = u'.P - P.K P
// < 0; choosing the tangential impulses of least energy lowers it. What is lost on the way because iterations
// end, or because some contacts do not bounce, is made good at the end by scaling all impulses. No contact
// approaches afterwards by more than 1e-4 of the fastest approach before, provided the iterations suffice.
// Friction is within the cone of the normal impulse. Momentum and angular momentum are kept to rounding.
//
// Cost: some microseconds in a tumbling pile of boxes, 2.4 contacts each.
#pragma once

#include "sunder/rigid/solver/solver_body.h"

#include <span>
#include <vector>

namespace sunder::rigid {

struct ImpactPoint {
  Vec3 normal = Vec3::UnitY();                    // unit, from a towards b
  Vec3 armA = Vec3::Zero(), armB = Vec3::Zero();  // from the centres of mass; both end in the contact
  Vec3 impulse = Vec3::Zero();                    // result: on b, N s
};

class ImpactLaw {
 public:
  // Changes the velocities of the bodies that the solver may move. Friction >= 0, restitution in 0..1, of
  // contacts that approach at `slow` or faster.
  void strike(SolverBody& a, SolverBody& b, std::span<ImpactPoint> points, double friction,
              double restitution, double slow = 0);

 private:
  struct Row {
    Vec3 coupled;  // velocity at the contact by a normal impulse of one
    double perNormal,
        perTangent;       // its normal part; the most along the surface by a tangential impulse of one
    Vec3 before;          // relative velocity before the impact
    double normal, more;  // impulse on b; part of it by separate()
    Vec3 tangent;
  };
  void prepare(const SolverBody& a, const SolverBody& b, std::span<const ImpactPoint> points);
  void begin(SolverBody& a, SolverBody& b, std::span<const ImpactPoint> points);
  void compress(SolverBody& first, SolverBody& second, std::span<const ImpactPoint> points, double friction,
                double tolerance);
  void restitute(SolverBody& first, SolverBody& second, std::span<const ImpactPoint> points, double friction,
                 double restitution, double slow, double tolerance);
  void bound(SolverBody& a, SolverBody& b, const SolverBody& oldA, const SolverBody& oldB,
             std::span<const ImpactPoint> points);
  void separate(SolverBody& a, SolverBody& b, std::span<const ImpactPoint> points, double tolerance);
  std::vector<Row> rows_;
};

// The impulse at a single contact. In the frame (normal, tangent, tangent): `response` is the velocity by an
// impulse (symmetric, positive definite), `velocity` that of b against a. Zero where they do not approach.
Vec3 energeticImpulse(const Mat3& response, const Vec3& velocity, double friction, double restitution);

}  // namespace sunder::rigid
