// What bodies and the fluid do to each other in a step. Bodies that can move do so while pressures are found:
// each iteration sees them as fast as the impulses so far have made them. With their velocity held until the
// next step, light bodies would be thrown to and fro.
#include "sunder/base/parallel.h"
#include "sunder/fluid/fluid.h"

#include <algorithm>
#include <cmath>

namespace sunder::fluid {

namespace {

// Squared, how fast a body turns by a unit of pressure at one place.
double turning(const BoundaryBody& body, const Vec3& arm) { return arm.dot(body.inverseInertia * arm); }

float fourth(float x) { return x > 0 ? x * x * x * x : 0; }

}  // namespace

bool Fluid::movable(size_t body) const { return !held_ && bodies_[body].inverseMass > 0; }

bool Fluid::anyMovable() const {
  for (size_t b = 0; b < bodies_.size(); ++b)
    if (movable(b) && entries_.bodyStart[b + 1] > entries_.bodyStart[b]) return true;
  return false;
}

Vec3 Fluid::bodyVelocity(size_t b, const Vec3& point) const {
  const BoundaryBody& body = bodies_[b];
  Vec3 velocity = body.velocityAt(point);
  if (movable(b))
    velocity += body.inverseMass * impulses_[b].linear +
                (body.inverseInertia * impulses_[b].angular).cross(point - body.centre);
  return velocity;
}

// Next to several bodies the nearest counts, as it would if they were one: densities are joined by a norm of
// fourth powers, near to the largest. If they were added, a particle at the crack between two pieces would
// have twice the density that it had at the whole. Samples are weighted so that their gradients add up to
// that of the norm.
void Fluid::joinBodies() {
  std::fill(several_.begin(), several_.end(), uint8_t(0));
  std::fill(predicted_.begin(), predicted_.end(), 0.0f);
  for (size_t e = 0; e < entries_.particle.size(); ++e) {
    const uint32_t i = entries_.particle[e];
    const float value = entries_.sample[e].w();
    several_[i] = predicted_[i] > 0 ? 1 : several_[i];
    predicted_[i] += fourth(value);
    boundary_[i] = entries_.sample[e];
  }
  if (std::find(several_.begin(), several_.end(), uint8_t(1)) == several_.end()) return;
  for (size_t i = 0; i < size(); ++i)
    if (several_[i] != 0) boundary_[i] = withFourth(Vec3f::Zero(), std::sqrt(std::sqrt(predicted_[i])));
  for (size_t e = 0; e < entries_.particle.size(); ++e) {
    const uint32_t i = entries_.particle[e];
    if (several_[i] == 0) continue;
    const float part = entries_.sample[e].w() / boundary_[i].w();
    entries_.sample[e].head<3>() *= part * part * part;
    boundary_[i].head<3>() += entries_.sample[e].head<3>();
  }
}

// What a particle presses away moves the body too. All particles around it press at a time, so each takes the
// sum over all for its own: then they do not overshoot together.
void Fluid::addMobility() {
  const double scale = settings_.referenceDensity * volume_;
  for (size_t b = 0; b < bodies_.size(); ++b) {
    if (!movable(b)) continue;
    const BoundaryBody& body = bodies_[b];
    const auto each = [&](const auto& act) {
      for (uint32_t e = entries_.bodyStart[b]; e < entries_.bodyStart[b + 1]; ++e) {
        const uint32_t i = entries_.particle[e];
        const Vec3 g = entries_.sample[e].head<3>().cast<double>();
        act(i, g.norm(), std::sqrt(turning(body, (positions_[i] - body.centre).cross(g))));
      }
    };
    double pushAll = 0, turnAll = 0;
    each([&](uint32_t, double push, double turn) {
      pushAll += push;
      turnAll += turn;
    });
    each([&](uint32_t i, double push, double turn) {
      if (factor_[i] >= 0) factor_[i] += float(scale * (body.inverseMass * push * pushAll + turn * turnAll));
    });
  }
}

// Where the particles will be; exactly, where the map is exact.
void Fluid::addBoundary(double dt) {
  std::fill(predicted_.begin(), predicted_.end(), 0.0f);  // fourth powers
  const auto join = [&](uint32_t i, float value) { return several_[i] != 0 ? fourth(value) : value; };
  for (size_t b = 0; b < bodies_.size(); ++b) {
    const BoundaryBody& body = bodies_[b];
    const uint32_t first = entries_.bodyStart[b], count = entries_.bodyStart[b + 1] - first;
    if (count > 0 && !body.map->exact()) {
      parallelFor(count, [&](size_t e) {
        const uint32_t i = entries_.particle[first + e];
        const Vec4f& sample = entries_.sample[first + e];
        const Vec3f slip = motion_[i].head<3>() - bodyVelocity(b, positions_[i]).cast<float>();
        (several_[i] != 0 ? predicted_[i] : rate_[i]) +=
            join(i, sample.w() + float(dt) * sample.head<3>().dot(slip));
      });
      continue;
    }
    const Mat3 turn = body.rotation.transpose();
    const bool moves = movable(b);
    parallelBlocks(count, 512, [&](size_t begin, size_t end) {
      std::vector<Vec4f> points(end - begin);
      std::vector<float> values(end - begin);
      for (size_t e = begin; e < end; ++e) {
        const uint32_t i = entries_.particle[first + e];
        Vec3 next = positions_[i] + dt * motion_[i].head<3>().cast<double>();
        if (moves) next -= dt * (bodyVelocity(b, next) - body.velocityAt(next));
        points[e - begin] = withFourth((turn * (next - body.position)).cast<float>(), 0);
      }
      body.map->values(points, values);
      for (size_t e = begin; e < end; ++e) {
        const uint32_t i = entries_.particle[first + e];
        (several_[i] != 0 ? predicted_[i] : rate_[i]) += join(i, values[e - begin]);
      }
    });
  }
  parallelFor(size(), [&](size_t k) {
    if (several_[k] != 0) rate_[k] += std::sqrt(std::sqrt(predicted_[k]));
  });
}

void Fluid::boundaryRates() {
  std::fill(predicted_.begin(), predicted_.end(), 0.0f);
  for (size_t b = 0; b < bodies_.size(); ++b)
    for (uint32_t e = entries_.bodyStart[b]; e < entries_.bodyStart[b + 1]; ++e) {
      const uint32_t i = entries_.particle[e];
      predicted_[i] += entries_.sample[e].head<3>().dot(bodyVelocity(b, positions_[i]).cast<float>());
    }
}

void Fluid::addImpulses(double dt, std::span<const float> stiffness, bool ofMovable) {
  const double scale = settings_.referenceDensity * volume_ * dt;
  for (size_t b = 0; b < bodies_.size(); ++b) {
    if (movable(b) != ofMovable) continue;
    BoundaryImpulse& sum = impulses_[b];
    for (uint32_t e = entries_.bodyStart[b]; e < entries_.bodyStart[b + 1]; ++e) {
      const uint32_t i = entries_.particle[e];
      const Vec3 impulse = scale * double(stiffness[i]) * entries_.sample[e].head<3>().cast<double>();
      sum.linear += impulse;
      sum.angular += (positions_[i] - bodies_[b].centre).cross(impulse);
    }
  }
}

}  // namespace sunder::fluid
