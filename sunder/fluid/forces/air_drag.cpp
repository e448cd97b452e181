#include "sunder/fluid/forces/air_drag.h"

#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"

#include <algorithm>
#include <cmath>

namespace sunder::fluid {

namespace {

// Cosine between the wind and the way to a neighbour that shelters all. In the middle of fluid there is
// always one so close to any direction: nothing is left of the drag.
constexpr float kSheltered = 0.8f;

}  // namespace

void applyAirDrag(const FluidModel& model, const FluidNeighbours& neighbours, std::span<const uint8_t> phases,
                  double dt, std::span<Vec4f> motion) {
  const double volume = model.volume;
  std::vector<float> strength;  // by phase: 1/m
  for (const FluidPhase& phase : model.phases) {
    const double radius = std::cbrt(0.75 * volume / kPi);
    strength.push_back(float(0.5 * model.settings.airDensity * phase.drag * kPi * radius * radius /
                             (phase.density * volume)));
  }
  if (std::all_of(strength.begin(), strength.end(), [](float s) { return s == 0; })) return;
  const ProfileScope scope("drag");
  const Vec3f wind = model.settings.wind.cast<float>();
  const std::span<const Vec4f> place = neighbours.place;
  parallelFor(motion.size(), [&](size_t i) {
    const Vec3f through = motion[i].head<3>() - wind;
    const float speed = through.norm();
    if (!(speed > 0) || strength[phases[i]] == 0) return;
    const Vec3f ahead = through / speed;
    float shelter = 0;
    for (const uint32_t j : neighbours.rows.row(i)) {
      const Vec3f way = (place[j] - place[i]).head<3>();
      const float distance = way.norm();
      if (distance > 0) shelter = std::max(shelter, ahead.dot(way) / distance);
    }
    const float exposed = std::max(1 - shelter / kSheltered, 0.0f);
    const float slowed = 1 / (1 + float(dt) * strength[phases[i]] * exposed * speed);
    motion[i].head<3>() = wind + slowed * through;
  });
}

}  // namespace sunder::fluid
