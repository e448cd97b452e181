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

Vec3 BodyCoupling::velocityNextTo(size_t b, uint32_t e, const Vec3& place) const {
  const BoundaryBody& body = bodies[b];
  if (!body.points) return velocityAt(b, place);
  const std::vector<Vec3>& changes = sampleMotions[b].changes;
  Vec3 sum = Vec3::Zero();
  double weights = 0;
  for (const SampleLink& link : entries.links[b].of(e - entries.bodyStart[b])) {
    sum += double(link.weight) * (body.points->velocities[link.sample] + changes[link.sample]);
    weights += double(link.weight);
  }
  return weights > 0 ? Vec3(sum / weights) : Vec3::Zero();
}

double BodyCoupling::rateAt(size_t b, uint32_t e, const Vec3& place) const {
  const BoundaryBody& body = bodies[b];
  if (!body.points) return double(entries.sample[e].head<3>().dot(velocityAt(b, place).cast<float>()));
  const std::vector<Vec3>& changes = sampleMotions[b].changes;
  double sum = 0;
  for (const SampleLink& link : entries.links[b].of(e - entries.bodyStart[b]))
    sum += link.gradient.cast<double>().dot(body.points->velocities[link.sample] + changes[link.sample]);
  return sum;
}

void BodyCoupling::clearImpulses() {
  impulses.assign(bodies.size(), {});
  sampleMotions.resize(bodies.size());
  for (size_t b = 0; b < bodies.size(); ++b) {
    const size_t count = bodies[b].points ? bodies[b].points->size() : 0;
    sampleMotions[b].impulses.assign(count, Vec3::Zero());
    sampleMotions[b].changes.assign(count, Vec3::Zero());
  }
}

void BodyCoupling::rub(size_t b, uint32_t e, const Vec3& place, const Vec3& impulse) {
  if (!bodies[b].points) return addImpulse(b, place, impulse);
  double weights = 0;
  const std::span<const SampleLink> links = entries.links[b].of(e - entries.bodyStart[b]);
  for (const SampleLink& link : links) weights += double(link.weight);
  if (!(weights > 0)) return;
  for (const SampleLink& link : links)
    sampleMotions[b].impulses[link.sample] += double(link.weight) / weights * impulse;
}

void BodyCoupling::respond(size_t b) {
  if (!bodies[b].points || !movable(b) || !touches(b)) return;
  bodies[b].points->response->respond(sampleMotions[b].impulses, sampleMotions[b].changes);
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
    if (coupling.bodies[b].points) {
      std::vector<Vec3>& impulses = coupling.sampleMotions[b].impulses;
      for (uint32_t e = entries.bodyStart[b]; e < entries.bodyStart[b + 1]; ++e) {
        const double pressed = scale * double(stiffness[entries.particle[e]]);
        if (pressed == 0) continue;
        for (const SampleLink& link : entries.links[b].of(e - entries.bodyStart[b]))
          impulses[link.sample] += pressed * link.gradient.cast<double>();
      }
      coupling.respond(b);
      continue;
    }
    for (uint32_t e = entries.bodyStart[b]; e < entries.bodyStart[b + 1]; ++e) {
      const uint32_t i = entries.particle[e];
      const Vec3 impulse = scale * double(stiffness[i]) * entries.sample[e].head<3>().cast<double>();
      coupling.addImpulse(b, positions[i], impulse);
    }
  }
}

namespace {

// As below, for a body of points: with the bound of its mobility, Jacobi iterations never overshoot.
void addPointMobility(const BodyCoupling& coupling, size_t b, double scale, std::span<float> factor) {
  const BoundaryEntries& entries = coupling.entries;
  const BoundarySamples& points = *coupling.bodies[b].points;
  if (!coupling.touches(b)) return;
  std::vector<double> pushes(points.size(), 0), changes(points.size());
  for (const SampleLink& link : entries.links[b].links) pushes[link.sample] += double(link.gradient.norm());
  points.response->bound(pushes, changes);
  for (uint32_t e = entries.bodyStart[b]; e < entries.bodyStart[b + 1]; ++e) {
    const uint32_t i = entries.particle[e];
    if (!(factor[i] >= 0)) continue;
    double sum = 0;
    for (const SampleLink& link : entries.links[b].of(e - entries.bodyStart[b]))
      sum += double(link.gradient.norm()) * changes[link.sample];
    factor[i] += float(scale * sum);
  }
}

}  // namespace

// All particles around a body press at a time, so each takes the sum over all for its own: then they do not
// overshoot together. (With a third of it, shards of a bottle fly.)
void addMobility(const BodyCoupling& coupling, double scale, std::span<const Vec3> positions,
                 std::span<float> factor) {
  const BoundaryEntries& entries = coupling.entries;
  for (size_t b = 0; b < coupling.bodies.size(); ++b) {
    if (!coupling.movable(b)) continue;
    const BoundaryBody& body = coupling.bodies[b];
    if (body.points) {
      addPointMobility(coupling, b, scale, factor);
      continue;
    }
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

std::vector<double> rubbedAlong(const BodyCoupling& coupling, size_t b,
                                const std::function<double(uint32_t particle)>& mass) {
  const BoundaryEntries& entries = coupling.entries;
  if (!coupling.bodies[b].points || !coupling.movable(b) || !coupling.touches(b)) return {};
  const BoundarySamples& points = *coupling.bodies[b].points;
  const uint32_t first = entries.bodyStart[b], count = entries.bodyStart[b + 1] - first;
  std::vector<double> pushes(points.size(), 0), changes(points.size()), along(count, 0);
  for (uint32_t n = 0; n < count; ++n) {
    const double weights = double(entries.sample[first + n].w());
    if (!(weights > 0)) continue;
    for (const SampleLink& link : entries.links[b].of(n))
      pushes[link.sample] += double(link.weight) / weights * mass(entries.particle[first + n]);
  }
  points.response->bound(pushes, changes);
  for (uint32_t n = 0; n < count; ++n) {
    const double weights = double(entries.sample[first + n].w());
    if (!(weights > 0)) continue;
    for (const SampleLink& link : entries.links[b].of(n))
      along[n] += double(link.weight) / weights * changes[link.sample];
  }
  return along;
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
