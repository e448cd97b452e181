// Bounces as a sequence of impacts. At the start of a substep every pair with restitution whose contacts
// close within it at more than the bouncing speed gets its impact, with friction and restitution, at all its
// closing and touching contacts together (ImpactLaw); then the pairs this set in motion, in order, until none
// approaches. So a bounce travels through a row of touching bodies (Newton's cradle), which a simultaneous
// solution would spread over all. A pair bounces again in the substep only where it approaches faster than
// 1/2, then 0.9 of its fastest approach; else it is struck without restitution, three times at most. So the
// sequence ends soon in a dense pile.
//
// Bodies that were pressed together at the end of the last step bounce only where the pressure would not
// close the bounce within the substep: see restingSpeed().
//
// An impact acts at its time within the substep: bodies are moved there with their old velocities and back
// with the new ones, so that they end where they would have. Heights of bounces then do not depend on where
// the substeps fall. Momentum is conserved to rounding, and no impact adds kinetic energy.
#pragma once

#include "sunder/rigid/solver/contact_graph.h"
#include "sunder/rigid/solver/impact_law.h"

#include <vector>

namespace sunder::rigid {

class Impacts {
 public:
  // Pairs with restitution that have contacts and a body that moves.
  void collect(const BodySet& bodies, const PairTable& table, const SimulationSettings& settings);
  bool empty() const { return pairs_.empty(); }
  // After gravity was added for the substep. Adds to the contacts' totals. False when the limit of rounds was
  // reached.
  bool run(BodySet& bodies, PairTable& table, const SimulationSettings& settings, double substep);

 private:
  struct Pair {
    uint32_t record;
    double friction, restitution;
    double least;       // m/s: slower approaches do not bounce
    uint64_t seen = 0;  // strikes there had been when it was last looked at
    // In this substep:
    uint32_t strikes = 0;
    double time = 0, fastest = 0;  // of the last strike; approach
  };
  bool strike(BodySet& bodies, PairTable& table, const SimulationSettings& settings, double substep,
              Pair& pair);
  // The approach above which a pair bounces.
  static double leastApproach(const Pair& pair);
  std::vector<Pair> pairs_;
  std::vector<uint64_t> struck_;  // by body: number of the strike that it last took part in
  std::vector<ImpactPoint> points_;
  std::vector<uint32_t> contacts_;  // of the table, by point
  ImpactLaw law_;
};

}  // namespace sunder::rigid
