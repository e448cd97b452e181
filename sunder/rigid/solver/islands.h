// Bodies that hang together by touching or joints: islands. An island whose bodies all were slow for a while
// falls asleep as a whole: its bodies stop, keep their pairs, contacts and impulses, and cost nothing until
// something wakes them. O(pairs) a step.
#pragma once

#include "sunder/base/disjoint_sets.h"
#include "sunder/rigid/solver/joint_solver.h"
#include "sunder/rigid/solver/pair_table.h"

#include <vector>

namespace sunder::rigid {

class Islands {
 public:
  // Wakes the islands that a contact closing in this step, a joint or a body that woke reaches, with all
  // their members. Call between detection and the solve.
  void wake(BodySet& bodies, const PairTable& table, const std::vector<Joint>& joints, double timeStep);
  // Puts quiet islands to sleep; returns the number of awake islands. After the solve.
  uint64_t sleep(BodySet& bodies, const PairTable& table, const std::vector<Joint>& joints,
                 const SimulationSettings& settings);

 private:
  DisjointSets sets_;
  std::vector<uint8_t> flag_;
  std::vector<double> quiet_;
};

}  // namespace sunder::rigid
