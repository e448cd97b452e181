// Nothing passes through anything: after the solve, bodies that moved far against their size are followed
// from where the step started to where it ended, and stopped where they first touch what their contacts did
// not know of. Impacts are taken in the order of their times; a body that was stopped is an obstacle to the
// others from then on. The rest of its step is lost, its velocity is not: the next step has the contact.
//
// Cost: nothing while all bodies are slow.
#pragma once

#include "sunder/rigid/solver/broad_phase.h"
#include "sunder/rigid/solver/pair_table.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::rigid {

class Continuous {
 public:
  // start*: poses of the principal axes before the step; `table`: the pairs of the step with their contacts.
  // Moves bodies back and returns how many.
  uint64_t run(BodySet& bodies, std::span<const Vec3> startPosition, std::span<const Quat> startRotation,
               const PairTable& table, const SimulationSettings& settings,
               std::span<const uint64_t> unlinked);

 private:
  struct Event {
    double time;
    uint32_t pair;
    uint32_t version;  // of the pair; older events are void
  };
  struct Pair {
    uint32_t a, b;
    bool solved;  // has contacts in this step: the solver kept them apart, only the cores are watched
    uint32_t version = 0;
  };
  // The time in [from, 1] at which the pair first touches, 1 if it does not.
  double impact(const BodySet& bodies, const SimulationSettings& settings, const Pair& pair, double from);
  Motion motionFrom(uint32_t body, double from) const;
  // When a core of one body reaches the other, 1 if none does; cores that are there already do not count. For
  // pairs with contacts, which the contact solver may have failed to keep apart.
  double coreImpact(const BodySet& bodies, uint32_t body, const Motion& motion, uint32_t other,
                    const Motion& otherMotion);

  std::vector<Motion> motion_;  // by body
  std::vector<double> until_;   // where in the step it stands still, 1: never
  std::vector<Pair> pairs_;
  std::vector<uint32_t> bodies_, fast_, planes_;
  std::vector<Box3f> swept_, boxes_, fastBoxes_;
  std::vector<double> travel_;
  spatial::OiTree tree_, fastTree_;
  spatial::OiTreeBuilder builder_;
  spatial::PairList list_;
  ContactScratch scratch_;
};

}  // namespace sunder::rigid
