#include "sunder/rigid/solver/co_moving_groups.h"

#include <algorithm>

namespace sunder::rigid {

namespace {

constexpr double kWorthwhile = 0.02;  // of the outer radius, in a step: below, there is little to gain

}  // namespace

std::span<const Vec3> CoMovingGroups::velocities(const BodySet& bodies, std::span<const uint64_t> keys,
                                                 std::span<const Joint> joints, double timeStep) {
  const uint32_t count = bodies.count();
  const BodyState& state = bodies.state;
  const auto travels = [&](uint32_t i) { return state.exists[i] && bodies.dynamicAwake(i); };
  bool any = false;
  for (uint32_t i = 0; i < count && !any; ++i)
    any = travels(i) &&
          state.solverBody[i].velocity().norm() * timeStep > kWorthwhile * bodies.constants[i].outer;
  if (!any) return {};

  sets_.reset(count);
  movingGroups_.assign(count, {});
  for (const uint64_t key : keys) {
    const auto a = uint32_t(key >> 32), b = uint32_t(key);
    if (travels(a) && travels(b)) {
      sets_.unite(a, b);
    } else {
      movingGroups_[a].held = movingGroups_[b].held = true;
    }
  }
  for (const Joint& joint : joints) {
    if (!joint.works()) continue;
    if (joint.settings.a.valid()) movingGroups_[joint.settings.a.value].held = true;
    movingGroups_[joint.settings.b.value].held = true;
  }
  // Whoever is held holds its co-moving group. Sums go by the number of the body.
  for (uint32_t i = 0; i < count; ++i) {
    if (!travels(i)) continue;
    CoMovingGroup& movingGroup = movingGroups_[sets_.find(i)];
    movingGroup.held |= movingGroups_[i].held;
    movingGroup.mass += bodies.constants[i].mass;
    movingGroup.velocity += bodies.constants[i].mass * state.solverBody[i].velocity();
    movingGroup.motion += state.solverBody[i].velocity().norm();
  }
  for (uint32_t i = 0; i < count; ++i)
    if (travels(i) && sets_.isRoot(i)) movingGroups_[i].velocity /= movingGroups_[i].mass;
  for (uint32_t i = 0; i < count; ++i) {
    if (!travels(i)) continue;
    CoMovingGroup& movingGroup = movingGroups_[sets_.find(i)];
    movingGroup.motion -= (state.solverBody[i].velocity() - movingGroup.velocity).norm();
  }
  velocities_.assign(count, Vec3::Zero());
  for (uint32_t i = 0; i < count; ++i) {
    if (!travels(i)) continue;
    const CoMovingGroup& movingGroup = movingGroups_[sets_.find(i)];
    if (!movingGroup.held && movingGroup.motion > 0) velocities_[i] = movingGroup.velocity;
  }
  return velocities_;
}

}  // namespace sunder::rigid
