#include "sunder/rigid/solver/continuous.h"

#include "sunder/base/parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sunder::rigid {

namespace {

constexpr double kFast = 0.5;  // of the inner radius: contacts of one step cannot be trusted beyond

Vec3 turnBetween(const Quat& from, const Quat& to) {
  Quat turn = to * from.conjugate();
  if (turn.w() < 0) turn.coeffs() = -turn.coeffs();
  const double sine = turn.vec().norm();
  return sine < 1e-9 ? Vec3(2 * turn.vec()) : Vec3(turn.vec() * (2 * std::atan2(sine, turn.w()) / sine));
}

}  // namespace

// From the time `from` on, as a motion of its own over [0, 1].
Motion Continuous::motionFrom(uint32_t body, double from) const {
  const double until = until_[body];
  if (from <= 0 && until >= 1) return motion_[body];
  Motion motion = motion_[body];
  motion.start = motion_[body].at(std::min(from, until));
  const double left = std::max(0.0, until - from);
  motion.displacement *= left;
  motion.turn *= left;
  return motion;
}

double Continuous::coreImpact(const BodySet& bodies, uint32_t body, const Motion& motion, uint32_t other,
                              const Motion& otherMotion) {
  if (travel_[body] <= 0 && travel_[other] <= 0) return 1;
  double first = 1;
  for (const Ball& core : bodies.constants[body].shape->cores()) {
    const double near = 0.1 * core.radius;
    const double time =
        timeOfImpact(core, motion, *bodies.constants[other].shape, otherMotion, near, 0.5 * near);
    if (time > 0) first = std::min(first, time);
  }
  return first;
}

double Continuous::impact(const BodySet& bodies, const SimulationSettings& settings, const Pair& pair,
                          double from) {
  const BodyConstants &ca = bodies.constants[pair.a], &cb = bodies.constants[pair.b];
  const Motion a = motionFrom(pair.a, from), b = motionFrom(pair.b, from);
  const double near = 2 * settings.slop * std::min(ca.outer, cb.outer);
  double time = pair.solved ? 0 : timeOfImpact(*ca.shape, a, *cb.shape, b, near, 0.5 * near, scratch_);
  if (time <= 0) {
    const double coreA = coreImpact(bodies, pair.a, a, pair.b, b);
    const double coreB = coreImpact(bodies, pair.b, b, pair.a, a);
    time = std::min(coreA, coreB);
  }
  return time < 1 ? from + time * (1 - from) : 1.0;
}

uint64_t Continuous::run(BodySet& bodies, std::span<const Vec3> startPosition,
                         std::span<const Quat> startRotation, const PairTable& table,
                         const SimulationSettings& settings, std::span<const uint64_t> unlinked) {
  const uint32_t count = bodies.count();
  BodyState& state = bodies.state;
  // How far each moved; whether anybody is fast against the smallest.
  travel_.resize(count);
  parallelFor(
      count,
      [&](size_t k) {
        const uint32_t i = uint32_t(k);
        travel_[i] = 0;
        if (!state.exists[i] || !bodies.active(i) || bodies.constants[i].plane) return;
        const Quat turn = state.rotation[i] * startRotation[i].conjugate();
        // The chord of the turn times the reach bounds how far its points went; pi/2 makes an arc of a chord.
        const double angle = std::min(2 * kPi, kPi * turn.vec().norm());
        const double ball = bodies.constants[i].ball ? 0.0 : bodies.constants[i].outer;
        travel_[i] = (state.position[i] - startPosition[i]).norm() + angle * ball;
      },
      256);
  double smallest = std::numeric_limits<double>::infinity(), farthest = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (!state.exists[i]) continue;
    smallest = std::min(smallest, bodies.constants[i].inner);
    farthest = std::max(farthest, travel_[i]);
  }
  if (!(farthest > kFast * smallest)) return 0;

  motion_.resize(count);
  swept_.resize(count);
  until_.assign(count, 1.0);
  parallelFor(
      count,
      [&](size_t k) {
        const uint32_t i = uint32_t(k);
        if (!state.exists[i]) return;
        const BodyConstants& c = bodies.constants[i];
        Motion& motion = motion_[i];
        motion.start = Pose{startPosition[i], startRotation[i]} * c.fromMassFrame;
        motion.centre = c.massFrame.position;
        motion.displacement = state.position[i] - startPosition[i];
        motion.turn = turnBetween(startRotation[i], state.rotation[i]);
        motion.reach = c.outer;
        if (c.plane) return;
        Box3 box = bodies.heads[i].bounds(motion.start);
        box.grow(bodies.bounds(i));
        const double bulge = motion.turn.norm() * std::min(1.0, motion.turn.norm()) * c.outer;
        box.lower.array() -= bulge + 2 * settings.slop * c.outer;
        box.upper.array() += bulge + 2 * settings.slop * c.outer;
        swept_[i] = outwards(box);
      },
      256);
  bodies_.clear();
  fast_.clear();
  planes_.clear();
  boxes_.clear();
  fastBoxes_.clear();
  pairs_.clear();
  for (uint32_t i = 0; i < count; ++i) {
    if (!state.exists[i]) continue;
    if (bodies.constants[i].plane) {
      planes_.push_back(i);
      continue;
    }
    bodies_.push_back(i);
    boxes_.push_back(swept_[i]);
    if (travel_[i] > kFast * smallest) {
      fast_.push_back(i);
      fastBoxes_.push_back(swept_[i]);
    }
  }
  const auto consider = [&](uint32_t a, uint32_t b) {
    if (a == b || !BroadPhase::meet(bodies, a, b, unlinked)) return;
    // A pair of two fast bodies is found from both.
    const double inner = std::min(bodies.constants[a].inner, bodies.constants[b].inner);
    if (std::max(travel_[a], travel_[b]) <= kFast * inner) return;
    if (a > b) std::swap(a, b);
    const auto known = std::lower_bound(table.pairs.begin(), table.pairs.end(), std::pair(a, b),
                                        [](const PairRecord& p, const std::pair<uint32_t, uint32_t>& key) {
                                          return std::pair(p.a, p.b) < key;
                                        });
    const bool solved = known != table.pairs.end() && known->a == a && known->b == b && known->count > 0;
    pairs_.push_back({a, b, solved});
  };
  builder_.build(tree_, std::span<const Box3f>(boxes_));
  builder_.build(fastTree_, std::span<const Box3f>(fastBoxes_));
  spatial::overlapPairs(fastTree_, tree_, list_);
  for (const spatial::PrimitivePair& pair : list_.pairs()) consider(fast_[pair.a], bodies_[pair.b]);
  for (const uint32_t plane : planes_) {
    for (const uint32_t body : fast_) consider(plane, body);
  }
  const auto less = [](const Pair& x, const Pair& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; };
  std::sort(pairs_.begin(), pairs_.end(), less);
  pairs_.erase(std::unique(pairs_.begin(), pairs_.end(),
                           [](const Pair& x, const Pair& y) { return x.a == y.a && x.b == y.b; }),
               pairs_.end());
  if (pairs_.empty()) return 0;

  // Pairs of each body, to look at again when it was stopped.
  std::vector<std::vector<uint32_t>> pairsOf(count);
  std::vector<Event> events;  // a heap, earliest on top
  const auto later = [](const Event& x, const Event& y) {
    return x.time != y.time ? x.time > y.time : x.pair > y.pair;
  };
  const auto schedule = [&](uint32_t p, double from) {
    const double time = impact(bodies, settings, pairs_[p], from);
    if (time >= 1) return;
    events.push_back({time, p, pairs_[p].version});
    std::push_heap(events.begin(), events.end(), later);
  };
  for (uint32_t p = 0; p < pairs_.size(); ++p) {
    pairsOf[pairs_[p].a].push_back(p);
    pairsOf[pairs_[p].b].push_back(p);
    schedule(p, 0);
  }
  uint64_t stopped = 0;
  while (!events.empty()) {
    std::pop_heap(events.begin(), events.end(), later);
    const Event event = events.back();
    events.pop_back();
    if (event.version != pairs_[event.pair].version) continue;
    const Pair pair = pairs_[event.pair];
    for (const uint32_t body : {pair.a, pair.b}) {
      if (!bodies.dynamicAwake(body) || until_[body] < 1) continue;
      until_[body] = event.time;
      ++stopped;
      for (const uint32_t p : pairsOf[body]) {
        ++pairs_[p].version;
        if (p != event.pair) schedule(p, event.time);
      }
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    const double until = until_[i];
    if (!state.exists[i] || until >= 1) continue;
    const Pose pose = motion_[i].at(until);
    state.position[i] = startPosition[i] + motion_[i].displacement * until;
    // The angular velocity stays as the body sees it, and with it the energy: a slender body that kept it in
    // the world would have it about another of its axes, with thousands of times the inertia.
    const Vec3 angularVelocity = state.rotation[i].conjugate() * Vec3(state.solverBody[i].angularVelocity());
    state.rotation[i] = (pose.rotation * bodies.constants[i].massFrame.rotation).normalized();
    state.solverBody[i].angularVelocity() = state.rotation[i] * angularVelocity;
    // Gravity of the time that is lost has not worked: else the body would gain energy by being stopped.
    const Vec3 lost = settings.gravity * (bodies.constants[i].gravityScale * (1 - until) * settings.timeStep);
    state.solverBody[i].velocity() -= lost;
  }
  return stopped;
}

}  // namespace sunder::rigid
