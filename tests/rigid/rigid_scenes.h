// Small worlds for tests of the simulation.
#pragma once

#include "sunder/rigid/solver/simulation.h"

#include <cmath>

namespace sunder::rigid {

inline SimulationSettings restless() {
  SimulationSettings settings;
  settings.sleep = false;
  return settings;
}

inline BodyIndex addGround(Simulation& world, const Surface& surface = {}) {
  BodySettings ground;
  ground.kind = BodyKind::Static;
  ground.shape = makePlane();
  ground.surface = surface;
  return world.addBody(ground);
}

inline BodyIndex addBall(Simulation& world, double radius, const Vec3& at, const Surface& surface = {}) {
  BodySettings ball;
  ball.shape = makeSphere(radius);
  ball.pose.position = at;
  ball.surface = surface;
  return world.addBody(ball);
}

inline BodyIndex addBox(Simulation& world, const Vec3& half, const Vec3& at, const Surface& surface = {},
                        const Quat& rotation = Quat::Identity()) {
  BodySettings box;
  box.shape = makeBox(half);
  box.pose = {at, rotation};
  box.surface = surface;
  return world.addBody(box);
}

inline void run(Simulation& world, double seconds) {
  const auto steps = std::lround(seconds / world.settings().timeStep);
  for (long i = 0; i < steps; ++i) world.step();
}

// A heap of boxes that falls on the ground and against each other.
inline void addHeap(Simulation& world, int side, int height) {
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < side; ++x) {
      for (int z = 0; z < side; ++z) {
        const double shift = 0.13 * ((x * 7 + y * 3 + z * 5) % 4);
        const Vec3 at(1.15 * x + shift, 0.7 + 1.2 * y, 1.15 * z - shift);
        const Quat turn(Eigen::AngleAxisd(0.3 * ((x + 2 * y + 3 * z) % 5), Vec3(1, 2, 3).normalized()));
        addBox(world, Vec3(0.5, 0.4 + 0.02 * (x % 3), 0.5), at, {}, turn);
      }
    }
  }
}

}  // namespace sunder::rigid
