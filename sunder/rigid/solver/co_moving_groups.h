// Bodies that travel together. A co-moving group is a set of bodies that in this step can meet nobody but one
// another: what happens in it is the same for whoever flies along, so contacts need to be looked for only as
// far as its bodies move against their common velocity. Shards that fly side by side are the case in point.
//
// Bodies that may meet something that does not give way, and those on joints, are in none. The same for any
// number of threads. Cost: some nanoseconds a pair, nothing where nobody is fast.
#pragma once

#include "sunder/base/disjoint_sets.h"
#include "sunder/rigid/solver/body_set.h"
#include "sunder/rigid/solver/joint_solver.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::rigid {

class CoMovingGroups {
 public:
  // `keys`: all pairs that may meet in the step. By body, the velocity of its co-moving group, zero where it
  // is in none; empty where nobody is in one.
  std::span<const Vec3> velocities(const BodySet& bodies, std::span<const uint64_t> keys,
                                   std::span<const Joint> joints, double timeStep);

 private:
  struct CoMovingGroup {
    bool held = false;
    double mass = 0, motion = 0;  // motion: sums of the speeds of its bodies, then less those along with it
    Vec3 velocity = Vec3::Zero();
  };

  DisjointSets sets_;
  std::vector<CoMovingGroup> movingGroups_;  // by root
  std::vector<Vec3> velocities_;
};

}  // namespace sunder::rigid
