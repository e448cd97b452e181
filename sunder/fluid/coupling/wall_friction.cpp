#include "sunder/fluid/coupling/wall_friction.h"

#include <algorithm>
#include <cmath>

namespace sunder::fluid {

void applyWallFriction(const FluidModel& model, double dt, FluidState& state, BodyCoupling& coupling) {
  const BoundaryEntries& entries = coupling.entries;
  for (size_t b = 0; b < coupling.bodies.size(); ++b) {
    const double friction = coupling.bodies[b].friction;
    if (!(friction > 0)) continue;
    const std::vector<double> along =
        rubbedAlong(coupling, b, [&](uint32_t i) { return model.mass(state.phases[i]); });
    for (uint32_t e = entries.bodyStart[b]; e < entries.bodyStart[b + 1]; ++e) {
      const uint32_t i = entries.particle[e];
      const Vec3 gradient = entries.sample[e].head<3>().cast<double>();
      const double steep = gradient.norm();
      if (!(steep > 0)) continue;
      const Vec3 normal = gradient / steep;
      const Vec3 slip = state.velocity(i) - coupling.velocityNextTo(b, e, state.positions[i]);
      const Vec3 tangent = slip - slip.dot(normal) * normal;
      const double speed = tangent.norm();
      if (!(speed > 0)) continue;
      const double pressed = dt * double(state.motion[i].w()) * pressureOf(model, state, i) /
                             model.settings.referenceDensity * steep;
      const double most = along.empty() ? speed : speed / (1 + along[e - entries.bodyStart[b]]);
      const Vec3 change = -std::min(friction * pressed, most) / speed * tangent;
      state.motion[i].head<3>() += change.cast<float>();
      coupling.rub(b, e, state.positions[i], -model.mass(state.phases[i]) * change);
    }
    coupling.respond(b);
  }
}

}  // namespace sunder::fluid
