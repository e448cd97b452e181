#include "sunder/fluid/coupling/body_coupling.h"

#include <algorithm>
#include <cmath>

namespace sunder::fluid {

namespace {

// Squared, how fast a body turns by a unit of pressure at one place.
double angularMobility(const BoundaryBody& body, const Vec3& arm) {
  return arm.dot(body.inverseInertia * arm);
}

}  // namespace

float DensityNorm::term(float value) const { return value > 0 ? std::pow(value / largest, power) : 0; }
float DensityNorm::value(float terms) const { return largest * std::pow(terms, 1 / power); }

bool BodyCoupling::touchesMovable() const {
  for (size_t b = 0; b < bodies.size(); ++b)
    if (movable(b) && touches(b)) return true;
  return false;
}

Vec3 BodyCoupling::velocityAt(size_t b, const Vec3& point) const {
  const BoundaryBody& body = bodies[b];
  Vec3 velocity = body.velocityAt(point);
  if (movable(b))
    velocity += body.inverseMass * impulses[b].linear +
                (body.inverseInertia * impulses[b].angular).cross(point - body.centre);
  return velocity;
}

void BodyCoupling::addImpulse(size_t body, const Vec3& point, const Vec3& impulse) {
  impulses[body].linear += impulse;
  impulses[body].angular += (point - bodies[body].centre).cross(impulse);
}

size_t BodyCoupling::bytes() const {
  return density.size() * (sizeof(Vec4f) + sizeof(uint32_t)) +
         entries.particle.size() * (sizeof(uint32_t) + sizeof(Vec4f));
}

void addPressureImpulses(double scale, std::span<const Vec3> positions, std::span<const float> stiffness,
                         bool ofMovable, BodyCoupling& coupling) {
  const BoundaryEntries& entries = coupling.entries;
  for (size_t b = 0; b < coupling.bodies.size(); ++b) {
    if (coupling.movable(b) != ofMovable) continue;
    for (uint32_t e = entries.bodyStart[b]; e < entries.bodyStart[b + 1]; ++e) {
      const uint32_t i = entries.particle[e];
      const Vec3 impulse = scale * double(stiffness[i]) * entries.sample[e].head<3>().cast<double>();
      coupling.addImpulse(b, positions[i], impulse);
    }
  }
}

// All particles around a body press at a time, so each takes the sum over all for its own: then they do not
// overshoot together. (With a third of it, shards of a bottle fly.)
void addMobility(const BodyCoupling& coupling, double scale, std::span<const Vec3> positions,
                 std::span<float> factor) {
  const BoundaryEntries& entries = coupling.entries;
  for (size_t b = 0; b < coupling.bodies.size(); ++b) {
    if (!coupling.movable(b)) continue;
    const BoundaryBody& body = coupling.bodies[b];
    const auto each = [&](const auto& act) {
      for (uint32_t e = entries.bodyStart[b]; e < entries.bodyStart[b + 1]; ++e) {
        const uint32_t i = entries.particle[e];
        const Vec3 g = entries.sample[e].head<3>().cast<double>();
        act(i, g.norm(), std::sqrt(angularMobility(body, (positions[i] - body.centre).cross(g))));
      }
    };
    double pushAll = 0, turnAll = 0;
    each([&](uint32_t, double push, double turn) {
      pushAll += push;
      turnAll += turn;
    });
    each([&](uint32_t i, double push, double turn) {
      if (factor[i] >= 0) factor[i] += float(scale * (body.inverseMass * push * pushAll + turn * turnAll));
    });
  }
}

double meanErrorAtBodies(const BodyCoupling& coupling, std::span<const float> errors) {
  const BoundaryEntries& entries = coupling.entries;
  double worst = 0;
  for (size_t b = 0; b < coupling.bodies.size(); ++b) {
    const uint32_t first = entries.bodyStart[b], count = entries.bodyStart[b + 1] - first;
    if (!coupling.movable(b) || count == 0) continue;
    double sum = 0;
    for (uint32_t e = first; e < first + count; ++e)
      sum += double(std::max(errors[entries.particle[e]], 0.0f));
    worst = std::max(worst, sum / count);
  }
  return worst;
}

}  // namespace sunder::fluid
