// What bodies and the fluid do to each other in a step. Bodies that can move do so while pressures are found:
// each iteration sees them as fast as the impulses so far have made them. With their velocity held until the
// next step, light bodies would be thrown to and fro.
#include "sunder/base/parallel.h"
#include "sunder/fluid/solver/fluid.h"

#include <algorithm>
#include <cmath>

namespace sunder::fluid {

namespace {

// Squared, how fast a body turns by a unit of pressure at one place.
double turning(const BoundaryBody& body, const Vec3& arm) { return arm.dot(body.inverseInertia * arm); }

}  // namespace

// Relative to the largest: powers of next to nothing would be nothing.
float Fluid::Joint::raise(float value) const { return value > 0 ? std::pow(value / largest, power) : 0; }
float Fluid::Joint::root(float sum) const { return largest * std::pow(sum, 1 / power); }

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

// Next to several bodies densities are joined by a norm. Bodies on the same side count as the nearest does,
// as if they were one: if they were added, a particle at the crack between two pieces would have twice the
// density that it had at the whole. Bodies on opposite sides do add up, or particles would find room between
// two that touch, where there is none. Samples are weighted so that their gradients add up to that of the
// norm.
void Fluid::joinBodies() {
  std::fill(joint_.begin(), joint_.end(), 0u);
  std::fill(predicted_.begin(), predicted_.end(), 0.0f);
  joints_.clear();
  // Particles on surfaces add up: each body has a layer of them.
  const auto each = [&](bool exact, const auto& act) {
    for (size_t b = 0; b < bodies_.size(); ++b) {
      if (!bodies_[b].map || bodies_[b].map->exact() != exact) continue;
      for (uint32_t e = entries_.bodyStart[b]; e < entries_.bodyStart[b + 1]; ++e)
        act(entries_.particle[e], entries_.sample[e]);
    }
  };
  each(true, [&](uint32_t i, const Vec4f& sample) {
    if (predicted_[i] > 0 && joint_[i] == 0) {
      joints_.push_back({});
      joint_[i] = uint32_t(joints_.size());
    }
    predicted_[i] = 1;
    boundary_[i] = sample;
  });
  const auto eachJoint = [&](const auto& act) {
    if (joints_.empty()) return;
    each(true, [&](uint32_t i, Vec4f& sample) {
      if (joint_[i] != 0) act(joints_[joint_[i] - 1], i, sample);
    });
  };
  eachJoint([](Joint& joint, uint32_t, const Vec4f& sample) {
    joint.largest = std::max(joint.largest, sample.w());
    const float steep = sample.head<3>().norm();
    if (!(steep > 0)) return;
    joint.direction += sample.head<3>() / steep;
    joint.count += 1;
  });
  for (Joint& joint : joints_)
    if (joint.count > 0) joint.power = 1 + 3 * joint.direction.squaredNorm() / (joint.count * joint.count);
  eachJoint([](Joint& joint, uint32_t, const Vec4f& sample) { joint.sum += joint.raise(sample.w()); });
  eachJoint([&](Joint& joint, uint32_t i, Vec4f& sample) {
    const float value = joint.root(joint.sum);
    sample.head<3>() *= std::pow(sample.w() / value, joint.power - 1);
    joint.slope += sample.head<3>();
    boundary_[i] = withFourth(joint.slope, value);
  });
  each(false, [&](uint32_t i, const Vec4f& sample) { boundary_[i] += sample; });
}

// Means of the errors next to each body that moves: few particles carry it, and hide among all others.
double Fluid::errorAtBodies() const {
  double worst = 0;
  for (size_t b = 0; b < bodies_.size(); ++b) {
    const uint32_t first = entries_.bodyStart[b], count = entries_.bodyStart[b + 1] - first;
    if (!movable(b) || count == 0) continue;
    double sum = 0;
    for (uint32_t e = first; e < first + count; ++e)
      sum += double(std::max(rate_[entries_.particle[e]], 0.0f));
    worst = std::max(worst, sum / count);
  }
  return worst;
}

// What a particle presses away moves the body too. All particles around it press at a time, so each takes the
// sum over all for its own: then they do not overshoot together. (With a third of it, shards of a bottle
// fly.)
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
  std::fill(predicted_.begin(), predicted_.end(), 0.0f);  // powers, by joint
  for (size_t b = 0; b < bodies_.size(); ++b) {
    const BoundaryBody& body = bodies_[b];
    const uint32_t first = entries_.bodyStart[b], count = entries_.bodyStart[b + 1] - first;
    if (count > 0 && !body.map->exact()) {
      parallelFor(count, [&](size_t e) {
        const uint32_t i = entries_.particle[first + e];
        const Vec4f& sample = entries_.sample[first + e];
        const Vec3f slip = motion_[i].head<3>() - bodyVelocity(b, positions_[i]).cast<float>();
        rate_[i] += sample.w() + float(dt) * sample.head<3>().dot(slip);
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
        if (joint_[i] != 0)
          predicted_[i] += joints_[joint_[i] - 1].raise(values[e - begin]);
        else
          rate_[i] += values[e - begin];
      }
    });
  }
  parallelFor(size(), [&](size_t k) {
    if (joint_[k] != 0) rate_[k] += joints_[joint_[k] - 1].root(predicted_[k]);
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
