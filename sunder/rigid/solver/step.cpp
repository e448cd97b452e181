#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/parallel_rounds.h"
#include "sunder/base/profiler.h"
#include "sunder/rigid/solver/rotation.h"
#include "sunder/rigid/solver/simulation_impl.h"

#include <algorithm>
#include <cmath>

namespace sunder::rigid {

namespace {

constexpr uint32_t kContactGrain = 8;  // blocks of four units: about two microseconds
constexpr uint32_t kBodyGrain = 64;
constexpr double kWedged = 0.5;  // of the impulses of a pair: what is left of them in sum

// Two bodies that are wedged into each other press against themselves, harder and harder as nothing moves.
// Where one of such contacts is gone in the next step, the impulses that the others start from would throw
// the bodies apart. So impulses that mostly cancel are forgotten for the most part; those of a body that lies
// in a groove are not.
void easeWedged(std::span<KeptContact> contacts) {
  if (contacts.empty()) return;
  Vec3 sum = Vec3::Zero();
  double pressed = 0;
  for (const KeptContact& kept : contacts) {
    sum += kept.contact.normal * double(kept.normalImpulse);
    pressed += kept.normalImpulse;
  }
  const double left = sum.norm();
  if (left >= kWedged * pressed) return;
  const auto scale = float(left / (kWedged * pressed));
  for (KeptContact& kept : contacts) {
    kept.normalImpulse *= scale;
    for (float& f : kept.friction) f *= scale;
  }
}

}  // namespace

void Simulation::Impl::step() {
  before_ = bodies.state;
  jointsBefore_ = joints;
  report = {};
  events.clear();
  if (!sitesGiven) sites.clear();
  sitesGiven = false;
  try {
    startStep();
    makeContacts();
    runSubsteps();
    endStep();
    checkFinite();
  } catch (...) {
    bodies.state = before_;
    joints = jointsBefore_;
    throw;
  }
  std::swap(table, next_);
  collectEvents();
  ++steps;
}

void Simulation::Impl::startStep() {
  const double dt = settings.timeStep;
  substep_ = dt / settings.substeps;
  const double rate = settings.contactRate / substep_;
  soft_ = makeSoftness(rate, settings.contactDamping, substep_);
  softOnStatic_ = makeSoftness(2 * rate, settings.contactDamping, substep_);
  softJoint_ = makeSoftness(std::min(2 * rate, 0.25 / substep_), 2, substep_);
  siteSettings_ = {substep_, settings.pushSpeed, soft_, softOnStatic_};
  constants_ = {1 / substep_, settings.pushSpeed,
                settings.bounceSpeed + 2 * substep_ * settings.gravity.norm()};

  BodyState& state = bodies.state;
  margin_.resize(bodies.count());
  parallelFor(
      bodies.count(),
      [&](size_t k) {
        const uint32_t i = uint32_t(k);
        const BodyConstants& c = bodies.constants[i];
        SolverBody& m = state.solverBody[i];
        if (!state.exists[i]) return;
        if (c.kind == BodyKind::Kinematic) {
          if (state.hasTarget[i] == 2) {  // arrived by the last step
            state.hasTarget[i] = 0;
            m.velocity().setZero();
            m.angularVelocity().setZero();
          } else if (state.hasTarget[i] == 1) {
            m.velocity() = (state.target[i].position - state.position[i]) / dt;
            Quat turn = state.target[i].rotation * state.rotation[i].conjugate();
            if (turn.w() < 0) turn.coeffs() = -turn.coeffs();
            const double sine = turn.vec().norm();
            const double angle = 2 * std::atan2(sine, turn.w());
            m.angularVelocity() = sine > 0 ? Vec3(turn.vec() * (angle / (sine * dt))) : Vec3::Zero();
          }
        }
        m.movedBy().setZero();
        m.turnedBy().setZero();
        bodies.refreshSolverBody(i);
        margin_[i] = marginOf(i, Vec3::Zero());
      },
      256);
}

// How far ahead of a body contacts are looked for, seen by somebody with that velocity.
double Simulation::Impl::marginOf(uint32_t body, const Vec3& seenFrom) const {
  const BodyConstants& c = bodies.constants[body];
  const SolverBody& m = bodies.state.solverBody[body];
  const double dt = settings.timeStep;
  // Bodies fall alike: how far one falls away from or towards another that does not is shared by the two.
  const double fall = 0.25 * (1 + 1.0 / settings.substeps) * settings.gravity.norm() * dt * dt;
  const double reach = c.plane ? 0 : c.outer;
  double motion = ((m.velocity() - seenFrom).norm() + m.angularVelocity().norm() * reach) * dt;
  motion += fall * (m.movable() ? std::max(1.0, 2 * std::abs(c.gravityScale) - 1) : 1.0);
  return c.plane ? motion : std::min(std::max(motion, 2 * settings.slop * c.outer), c.ahead());
}

void Simulation::Impl::makeContacts() {
  std::span<const uint64_t> keys;
  {
    const ProfileScope scope("broad phase");
    keys = broad_.find(bodies, margin_, unlinked);
    const std::span<const Vec3> along = movingGroups_.velocities(bodies, keys, joints, settings.timeStep);
    for (uint32_t i = 0; i < along.size(); ++i)
      if (!along[i].isZero(0)) margin_[i] = marginOf(i, along[i]);
  }
  {
    const ProfileScope scope("contacts");
    const DetectionReport found = detection_.run(bodies, keys, margin_, settings, table, next_);
    report.pairs = next_.pairs.size();
    report.touching = found.touching;
    report.contacts = next_.contacts.size();
    report.deepest = found.deepest;
    report.meanDepth = found.overlapping ? found.depthSum / double(found.overlapping) : 0;
    report.work = found.work;
  }
  const ProfileScope scope("contact graph");
  if (settings.sleep) islands_.wake(bodies, next_, joints, settings.timeStep);
  parallelFor(
      next_.pairs.size(),
      [&](size_t i) {
        const PairRecord& pair = next_.pairs[i];
        const std::span<KeptContact> contacts(next_.contacts.data() + pair.first, pair.count);
        for (KeptContact& kept : contacts) kept.total = kept.slide[0] = kept.slide[1] = kept.slide[2] = 0;
        easeWedged(contacts);
      },
      256);
  // Neither half can be cut into blocks, but they do not need each other.
  parallelFor(
      2,
      [&](size_t half) {
        if (half == 0) {
          graph_.build(bodies, next_);
        } else {
          gatherBodies();
          impacts_.collect(bodies, next_, settings);
          jointSolver_.collect(joints, bodies);
          sites.prepare(bodies);
        }
      },
      1);
  report.lightenedSites = sites.lightened();
  report.colours = graph_.colours().size();
  report.overflow = graph_.overflow().blocks;
  parallelBlocks(graph_.blockCount(), 64, [&](size_t begin, size_t end) {
    graph_.fill(bodies, next_, settings, soft_, softOnStatic_, begin, end);
    kernels::prepareContacts(graph_.blocks(begin, end), graph_.rows(), bodies.state.solverBody.data());
  });
}

void Simulation::Impl::gatherBodies() {
  constrained_.assign(bodies.count(), 0);
  for (const PairRecord& pair : next_.pairs)
    if (pair.count) constrained_[pair.a] = constrained_[pair.b] = 1;
  for (const SiteContact& contact : sites.contacts())
    if (contact.body.valid()) constrained_[contact.body.value] = 1;
  for (const Joint& joint : joints) {
    if (!joint.works()) continue;
    if (joint.settings.a.valid()) constrained_[joint.settings.a.value] = 1;
    constrained_[joint.settings.b.value] = 1;
  }
  solved_.clear();
  free_.clear();
  kinematic_.clear();
  for (uint32_t i = 0; i < bodies.count(); ++i) {
    if (!bodies.state.exists[i] || !bodies.active(i)) continue;
    if (!bodies.constants[i].dynamic()) kinematic_.push_back(i);
    // What moves by itself goes along in the substeps, so that contacts with it see it move.
    (bodies.constants[i].dynamic() && !constrained_[i] ? free_ : solved_).push_back(i);
  }
}

void Simulation::Impl::planRounds() {
  rounds_.clear();
  const auto bodiesOf = [&](Work work) {
    rounds_.push_back({work, 0, uint32_t(solved_.size()), kBodyGrain});
  };
  const auto once = [&](Work work) { rounds_.push_back({work, 0, 1, 1}); };
  const auto contacts = [&](Work work) {
    for (const ContactGraph::Colour& c : graph_.colours())
      rounds_.push_back({work, c.firstBlock, c.blocks, kContactGrain});
    const ContactGraph::Colour& rest = graph_.overflow();
    if (rest.blocks) rounds_.push_back({work, rest.firstBlock, rest.blocks, rest.blocks});
  };
  bodiesOf(Work::Accelerate);
  if (!impacts_.empty()) once(Work::Strike);
  if (!jointSolver_.empty()) once(Work::WarmJoints);
  if (!sites.empty()) once(Work::WarmSites);
  contacts(Work::Warm);
  if (!jointSolver_.empty()) once(Work::SolveJoints);
  if (!sites.empty()) once(Work::SolveSites);
  contacts(Work::Solve);
  bodiesOf(Work::Move);
  if (!sites.empty()) once(Work::MoveSites);
  if (!jointSolver_.empty()) once(Work::RelaxJoints);
  if (!sites.empty()) once(Work::RelaxSites);
  contacts(Work::Relax);
}

void Simulation::Impl::runSubsteps() {
  const ProfileScope scope("solve");
  planRounds();
  const uint32_t count = uint32_t(rounds_.size());
  if (!solved_.empty() || !sites.empty()) {
    parallelRounds(
        count * settings.substeps, [&](uint32_t round) { return rounds_[round % count].blocks(); },
        [&](uint32_t round, uint32_t block) { runBlock(rounds_[round % count], block); });
  }
  parallelFor(
      free_.size(), [&](size_t i) { flyFreely(free_[i]); }, 64);
  parallelBlocks(graph_.blockCount(), 128,
                 [&](size_t begin, size_t end) { graph_.store(next_, begin, end); });
}

void Simulation::Impl::runBlock(const Round& round, uint32_t block) {
  const uint32_t begin = round.first + block * round.grain;
  const uint32_t end = std::min(begin + round.grain, round.first + round.count);
  SolverBody* solverBodies = bodies.state.solverBody.data();
  switch (round.work) {
    case Work::Accelerate:
      for (uint32_t i = begin; i < end; ++i) accelerate(solved_[i]);
      break;
    case Work::Strike:
      if (!impacts_.run(bodies, next_, settings, substep_)) ++report.slowImpacts;
      break;
    case Work::WarmJoints:
      jointSolver_.prepare(joints, bodies, substep_);
      break;
    case Work::Warm:
      kernels::refreshContacts(graph_.blocks(begin, end), graph_.rows(), solverBodies);
      kernels::warmStartContacts(graph_.blocks(begin, end), graph_.rows(), solverBodies);
      break;
    case Work::WarmSites:
      sites.accelerate(substep_);
      sites.warmStart(solverBodies);
      break;
    case Work::SolveSites:
      sites.solve(solverBodies, siteSettings_, true);
      break;
    case Work::MoveSites:
      sites.move(substep_);
      break;
    case Work::RelaxSites:
      sites.solve(solverBodies, siteSettings_, false);
      sites.addUp();
      break;
    case Work::SolveJoints:
      jointSolver_.solve(joints, bodies, softJoint_, true, substep_);
      break;
    case Work::Solve:
      kernels::solveContacts(graph_.blocks(begin, end), graph_.rows(), solverBodies, constants_);
      break;
    case Work::Move:
      for (uint32_t i = begin; i < end; ++i) bodies.move(solved_[i], substep_);
      break;
    case Work::RelaxJoints:
      jointSolver_.solve(joints, bodies, softJoint_, false, substep_);
      jointSolver_.addUp(joints);
      break;
    case Work::Relax:
      kernels::relaxContacts(graph_.blocks(begin, end), graph_.rows(), solverBodies, constants_);
      graph_.addFriction(begin, end);
      break;
  }
}

void Simulation::Impl::accelerate(uint32_t body) {
  const BodyConstants& c = bodies.constants[body];
  BodyState& state = bodies.state;
  SolverBody& m = state.solverBody[body];
  if (!m.movable()) return;
  const double h = substep_;
  m.velocity() =
      (m.velocity() + h * (c.gravityScale * settings.gravity + c.inverseMass * state.force[body])) /
      (1 + h * c.linearDamping);
  m.angularVelocity() =
      (m.angularVelocity() + h * m.inverseInertiaTimes(state.torque[body])) / (1 + h * c.angularDamping);
}

// The parabola itself: no contact asks for small steps.
void Simulation::Impl::flyFreely(uint32_t body) {
  const BodyConstants& c = bodies.constants[body];
  BodyState& state = bodies.state;
  SolverBody& m = state.solverBody[body];
  const double dt = settings.timeStep;
  const Vec3 pull = c.gravityScale * settings.gravity + c.inverseMass * state.force[body];
  state.position[body] += dt * m.velocity() + (0.5 * dt * dt) * pull;
  m.velocity() = (m.velocity() + dt * pull) / (1 + dt * c.linearDamping);
  Vec3 angularVelocity =
      (m.angularVelocity() + dt * m.inverseInertiaTimes(state.torque[body])) / (1 + dt * c.angularDamping);
  turnFreely(state.rotation[body], angularVelocity, c.inertia, c.round, dt);
  m.angularVelocity() = angularVelocity;
}

void Simulation::Impl::endStep() {
  const ProfileScope scope("end of step");
  BodyState& state = bodies.state;
  const double dt = settings.timeStep;
  for (const uint32_t i : kinematic_) {
    if (state.hasTarget[i] == 1) {
      state.position[i] = state.target[i].position;
      state.rotation[i] = state.target[i].rotation;
      state.hasTarget[i] = 2;
    }
  }
  const auto place = [&](const std::vector<uint32_t>& list) {
    parallelFor(
        list.size(), [&](size_t k) { bodies.updateModelPose(list[k]); }, 256);
  };
  place(solved_);
  place(free_);
  checkFinite();
  if (settings.continuous) {
    report.stoppedBodies =
        continuous_.run(bodies, before_.position, before_.rotation, next_, settings, unlinked);
    if (report.stoppedBodies) {
      place(solved_);
      place(free_);
    }
  }
  report.brokenJoints = jointSolver_.finish(joints, bodies, dt);
  if (report.brokenJoints) updateUnlinked();
  if (settings.sleep) report.islands = islands_.sleep(bodies, next_, joints, settings);
  for (uint32_t i = 0; i < bodies.count(); ++i) {
    if (!state.exists[i]) continue;
    ++report.bodies;
    if (bodies.dynamicAwake(i)) ++report.awake;
    state.force[i].setZero();
    state.torque[i].setZero();
  }
}

void Simulation::Impl::checkFinite() const {
  const auto check = [&](const std::vector<uint32_t>& list) {
    const double sum = parallelReduce(
        list.size(), 0.0,
        [&](size_t begin, size_t end) {
          double part = 0;
          for (size_t k = begin; k < end; ++k) {
            const uint32_t i = list[k];
            const SolverBody& m = bodies.state.solverBody[i];
            part += m.v[0] * 0 + m.v[1] * 0 + m.v[2] * 0 + m.w[0] * 0 + m.w[1] * 0 + m.w[2] * 0 +
                    bodies.state.position[i].sum() * 0 + bodies.state.rotation[i].coeffs().sum() * 0;
          }
          return part;
        },
        [](double a, double b) { return a + b; }, 512);
    if (sum == 0) return;  // a number that is not finite makes it one that is not equal to anything
    for (const uint32_t i : list) {
      const SolverBody& m = bodies.state.solverBody[i];
      if (m.velocity().allFinite() && m.angularVelocity().allFinite() &&
          bodies.state.position[i].allFinite() && bodies.state.rotation[i].coeffs().allFinite())
        continue;
      throw Error(ErrorKind::Numerical, bodies.describe(i) +
                                            " has a position or velocity that is not finite after step " +
                                            std::to_string(steps + 1))
          .hint("look for extreme forces, speeds or sizes; a smaller time step may help");
    }
  };
  check(solved_);
  check(free_);
}

void Simulation::Impl::eventsOf(double least, bool onlyListened, std::vector<ContactEvent>& out) const {
  const auto heard = [&](uint32_t body) { return body < listened.size() && listened[body]; };
  for (const PairRecord& pair : table.pairs) {
    const bool all = !onlyListened || heard(pair.a) || heard(pair.b);
    if (!all && !(least > 0)) continue;
    for (uint32_t i = pair.first; i < pair.first + pair.count; ++i) {
      const KeptContact& kept = table.contacts[i];
      if (!(kept.total > 0) || (!all && kept.total < least)) continue;
      const SolverBody &a = before_.solverBody[pair.a], &b = before_.solverBody[pair.b];
      const Vec3 speed = b.velocityAt(kept.contact.point - before_.position[pair.b]) -
                         a.velocityAt(kept.contact.point - before_.position[pair.a]);
      out.push_back({BodyIndex(pair.a), BodyIndex(pair.b), kept.contact.point, kept.contact.normal,
                     double(kept.total), Vec3(kept.slide[0], kept.slide[1], kept.slide[2]),
                     -kept.contact.normal.dot(speed)});
    }
  }
}

void Simulation::Impl::collectEvents() { eventsOf(settings.eventImpulse, true, events); }

}  // namespace sunder::rigid
