// The inside of a Simulation: its parts and the step (step.cpp), its state as bytes (state.cpp).
#pragma once

#include "sunder/rigid/solver/co_moving_groups.h"
#include "sunder/rigid/solver/continuous.h"
#include "sunder/rigid/solver/impacts.h"
#include "sunder/rigid/solver/islands.h"
#include "sunder/rigid/solver/joint_solver.h"
#include "sunder/rigid/solver/simulation.h"
#include "sunder/rigid/solver/site_contacts.h"

#include <vector>

namespace sunder::rigid {

struct Simulation::Impl {
  explicit Impl(const SimulationSettings& given) : settings(given) {}

  SimulationSettings settings;
  BodySet bodies;
  std::vector<Joint> joints;
  std::vector<uint64_t> unlinked;  // sorted keys of pairs that joints keep from touching
  PairTable table;                 // of the last step
  uint64_t steps = 0;

  StepReport report;
  std::vector<ContactEvent> events;
  std::vector<uint8_t> listened;  // by body, as far as there is one
  SiteContacts sites;
  bool sitesGiven = false;  // for the next step

  void step();
  void eventsOf(double least, bool onlyListened, std::vector<ContactEvent>& out) const;
  void updateUnlinked();
  void wakeIsland(uint32_t body);
  uint32_t checked(BodyIndex body) const;  // throws Error (Usage) where there is no such body
  uint32_t checked(JointIndex joint) const;

 private:
  // A loop over blocks of contacts or bodies, or one thing done in order.
  enum class Work : uint8_t {
    Accelerate,
    Strike,
    WarmJoints,
    Warm,
    WarmSites,
    Solve,
    SolveSites,
    SolveJoints,
    Move,
    MoveSites,
    RelaxJoints,
    RelaxSites,
    Relax
  };
  struct Round {
    Work work;
    uint32_t first, count, grain;  // elements; one block where grain >= count
    uint32_t blocks() const { return (count + grain - 1) / grain; }
  };

  void startStep();
  double marginOf(uint32_t body, const Vec3& seenFrom) const;
  void gatherBodies();
  void makeContacts();
  void planRounds();
  void runSubsteps();
  void runBlock(const Round& round, uint32_t block);
  void accelerate(uint32_t body);
  void flyFreely(uint32_t body);
  void endStep();
  void checkFinite() const;
  void collectEvents();

  // Working memory of a step.
  BodyState before_;
  std::vector<Joint> jointsBefore_;
  PairTable next_;
  std::vector<double> margin_;
  std::vector<uint8_t> constrained_;
  std::vector<uint32_t> solved_, free_, kinematic_;
  std::vector<Round> rounds_;
  BroadPhase broad_;
  CoMovingGroups movingGroups_;
  PairDetection detection_;
  Islands islands_;
  ContactGraph graph_;
  Impacts impacts_;
  JointSolver jointSolver_;
  Continuous continuous_;
  Softness soft_, softOnStatic_, softJoint_;
  SolveConstants constants_;
  SiteSolveSettings siteSettings_;
  double substep_ = 0;
};

}  // namespace sunder::rigid
