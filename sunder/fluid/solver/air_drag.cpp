// Drag of the air: a particle is a ball of its volume, as much of it in the wind as no neighbour shelters
// (after Gissler, Band, Peer, Ihmsen and Teschner 2017, without the flattening of drops), with drag by the
// square of the speed, implicitly, so that no step reverses it.
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/fluid/solver/fluid.h"

#include <algorithm>
#include <cmath>

namespace sunder::fluid {

namespace {

// Cosine between the wind and the way to a neighbour that shelters all. In the middle of fluid there is
// always one so close to any direction: nothing is left of the drag.
constexpr float kSheltered = 0.8f;

}  // namespace

void Fluid::applyDrag(double dt) {
  std::vector<float> strength;  // by phase: 1/m
  for (const FluidPhase& phase : phases_) {
    const double radius = std::cbrt(0.75 * volume_ / kPi);
    strength.push_back(
        float(0.5 * settings_.airDensity * phase.drag * kPi * radius * radius / (phase.density * volume_)));
  }
  if (std::all_of(strength.begin(), strength.end(), [](float s) { return s == 0; })) return;
  const ProfileScope scope("drag");
  const Vec3f wind = settings_.wind.cast<float>();
  parallelFor(size(), [&](size_t i) {
    const Vec3f through = motion_[i].head<3>() - wind;
    const float speed = through.norm();
    if (!(speed > 0) || strength[phase_[i]] == 0) return;
    const Vec3f ahead = through / speed;
    float shelter = 0;
    for (const uint32_t j : rows_.row(i)) {
      const Vec3f way = (place_[j] - place_[i]).head<3>();
      const float distance = way.norm();
      if (distance > 0) shelter = std::max(shelter, ahead.dot(way) / distance);
    }
    const float exposed = std::max(1 - shelter / kSheltered, 0.0f);
    const float slowed = 1 / (1 + float(dt) * strength[phase_[i]] * exposed * speed);
    motion_[i].head<3>() = wind + slowed * through;
  });
}

}  // namespace sunder::fluid
