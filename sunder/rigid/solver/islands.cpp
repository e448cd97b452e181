#include "sunder/rigid/solver/islands.h"

#include <algorithm>
#include <limits>

namespace sunder::rigid {

namespace {

// Whether a contact of the pair touches or would within the step.
bool closes(const BodySet& bodies, const PairTable& table, const PairRecord& pair, double timeStep) {
  const SolverBody &a = bodies.state.solverBody[pair.a], &b = bodies.state.solverBody[pair.b];
  for (uint32_t i = pair.first; i < pair.first + pair.count; ++i) {
    const Contact& c = table.contacts[i].contact;
    if (c.separation <= 0 || table.contacts[i].normalImpulse > 0) return true;
    const double speed = c.normal.dot(b.velocityAt(c.point - bodies.state.position[pair.b]) -
                                      a.velocityAt(c.point - bodies.state.position[pair.a]));
    if (c.separation + timeStep * speed < 0) return true;
  }
  return false;
}

}  // namespace

void Islands::wake(BodySet& bodies, const PairTable& table, const std::vector<Joint>& joints,
                   double timeStep) {
  BodyState& state = bodies.state;
  const uint32_t count = bodies.count();
  const auto asleep = [&](uint32_t body) { return bodies.constants[body].dynamic() && !state.awake[body]; };
  bool anyAsleep = false;
  for (uint32_t i = 0; i < count && !anyAsleep; ++i) anyAsleep = state.exists[i] && asleep(i);
  if (!anyAsleep) return;
  // Repeated, because an island that wakes may touch another that sleeps.
  while (true) {
    flag_.assign(count, 0);  // by the island's name
    bool any = false;
    const auto mark = [&](uint32_t body) {
      if (!asleep(body)) return;
      flag_[state.island[body]] = 1;
      any = true;
    };
    for (const PairRecord& pair : table.pairs) {
      if (!pair.count || asleep(pair.a) == asleep(pair.b)) continue;
      const uint32_t other = asleep(pair.a) ? pair.b : pair.a;
      if (bodies.active(other) && closes(bodies, table, pair, timeStep)) {
        mark(pair.a);
        mark(pair.b);
      }
    }
    for (const Joint& joint : joints) {
      if (!joint.works() || !joint.settings.a.valid()) continue;
      const uint32_t a = joint.settings.a.value, b = joint.settings.b.value;
      if (asleep(a) != asleep(b) && bodies.active(asleep(a) ? b : a)) {
        mark(a);
        mark(b);
      }
    }
    if (!any) return;
    for (uint32_t i = 0; i < count; ++i) {
      if (state.exists[i] && asleep(i) && flag_[state.island[i]]) bodies.wake(i);
    }
  }
}

uint64_t Islands::sleep(BodySet& bodies, const PairTable& table, const std::vector<Joint>& joints,
                        const SimulationSettings& settings) {
  BodyState& state = bodies.state;
  const uint32_t count = bodies.count();
  sets_.reset(count);
  quiet_.assign(count, std::numeric_limits<double>::infinity());
  flag_.assign(count, 0);  // carried by something on its way
  const auto link = [&](uint32_t a, uint32_t b) {
    const bool dynamicA = bodies.dynamicAwake(a), dynamicB = bodies.dynamicAwake(b);
    if (dynamicA && dynamicB) sets_.unite(a, b);
    if (dynamicA && !dynamicB && bodies.active(b)) flag_[a] = 1;
    if (dynamicB && !dynamicA && bodies.active(a)) flag_[b] = 1;
  };
  for (const PairRecord& pair : table.pairs) {
    for (uint32_t i = pair.first; i < pair.first + pair.count; ++i) {
      const KeptContact& kept = table.contacts[i];
      if (kept.contact.separation > 0 && !(kept.total > 0)) continue;
      link(pair.a, pair.b);
      break;
    }
  }
  for (const Joint& joint : joints) {
    if (joint.works() && joint.settings.a.valid()) link(joint.settings.a.value, joint.settings.b.value);
  }
  uint64_t islands = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (!state.exists[i] || !bodies.dynamicAwake(i)) continue;
    const SolverBody& m = state.solverBody[i];
    const double speed = m.velocity().norm() + m.angularVelocity().norm() * bodies.constants[i].outer;
    const bool slow = speed < settings.sleepSpeed && bodies.constants[i].canSleep && !flag_[i];
    state.quiet[i] = slow ? state.quiet[i] + settings.timeStep : 0;
    const uint32_t root = sets_.find(i);
    if (root == i) ++islands;
    quiet_[root] = std::min(quiet_[root], state.quiet[i]);
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (!state.exists[i] || !bodies.dynamicAwake(i)) continue;
    const uint32_t root = sets_.find(i);
    if (quiet_[root] < settings.sleepTime) continue;
    if (root == i) --islands;
    state.awake[i] = 0;
    state.island[i] = root;
    state.solverBody[i] = SolverBody();
  }
  return islands;
}

}  // namespace sunder::rigid
