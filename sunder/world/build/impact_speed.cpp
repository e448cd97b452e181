#include "sunder/world/build/impact_speed.h"

#include <algorithm>

namespace sunder::world {

namespace {

constexpr double kSlowestImpact = 0.05;  // m/s, whatever the step

}  // namespace

double slowestImpact(const rigid::SimulationSettings& settings) {
  return std::max(kSlowestImpact, settings.gravity.norm() * settings.timeStep);
}

}  // namespace sunder::world
