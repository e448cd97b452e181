#include "sunder/rigid/solver/convoys.h"

#include <algorithm>
#include <numeric>

namespace sunder::rigid {

namespace {

constexpr double kWorthwhile = 0.02;  // of the outer radius, in a step: below, there is little to gain

}  // namespace

uint32_t Convoys::find(uint32_t body) {
  while (parent_[body] != body) body = parent_[body] = parent_[parent_[body]];
  return body;
}

std::span<const Vec3> Convoys::velocities(const BodySet& bodies, std::span<const uint64_t> keys,
                                          std::span<const Joint> joints, double timeStep) {
  const uint32_t count = bodies.count();
  const BodyState& state = bodies.state;
  const auto travels = [&](uint32_t i) { return state.exists[i] && bodies.dynamicAwake(i); };
  bool any = false;
  for (uint32_t i = 0; i < count && !any; ++i)
    any = travels(i) && state.mover[i].velocity().norm() * timeStep > kWorthwhile * bodies.constants[i].outer;
  if (!any) return {};

  parent_.resize(count);
  std::iota(parent_.begin(), parent_.end(), 0u);
  convoys_.assign(count, {});
  for (const uint64_t key : keys) {
    const auto a = uint32_t(key >> 32), b = uint32_t(key);
    if (travels(a) && travels(b)) {
      const uint32_t first = find(a), second = find(b);
      parent_[std::max(first, second)] = std::min(first, second);
    } else {
      convoys_[a].held = convoys_[b].held = true;
    }
  }
  for (const Joint& joint : joints) {
    if (!joint.works()) continue;
    if (joint.settings.a.valid()) convoys_[joint.settings.a.value].held = true;
    convoys_[joint.settings.b.value].held = true;
  }
  // Whoever is held holds its convoy. Sums go by the number of the body.
  for (uint32_t i = 0; i < count; ++i) {
    if (!travels(i)) continue;
    Convoy& convoy = convoys_[find(i)];
    convoy.held |= convoys_[i].held;
    convoy.mass += bodies.constants[i].mass;
    convoy.velocity += bodies.constants[i].mass * state.mover[i].velocity();
    convoy.motion += state.mover[i].velocity().norm();
  }
  for (uint32_t i = 0; i < count; ++i)
    if (travels(i) && parent_[i] == i) convoys_[i].velocity /= convoys_[i].mass;
  for (uint32_t i = 0; i < count; ++i) {
    if (!travels(i)) continue;
    Convoy& convoy = convoys_[find(i)];
    convoy.motion -= (state.mover[i].velocity() - convoy.velocity).norm();
  }
  velocities_.assign(count, Vec3::Zero());
  for (uint32_t i = 0; i < count; ++i) {
    if (!travels(i)) continue;
    const Convoy& convoy = convoys_[find(i)];
    if (!convoy.held && convoy.motion > 0) velocities_[i] = convoy.velocity;
  }
  return velocities_;
}

}  // namespace sunder::rigid
