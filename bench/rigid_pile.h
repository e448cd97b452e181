// The pile both engines are given: boxes of many sizes, turned at random, dropped in loose layers between
// four walls, until they lie in a heap. The same numbers for everyone.
#pragma once

#include "sunder/rigid/shape/pose.h"

#include <cstddef>
#include <vector>

namespace sunder::bench {

struct PileScene {
  struct Body {
    Vec3 half;
    rigid::Pose pose;
  };
  std::vector<Body> boxes, walls;  // walls do not move; the first is the floor
  double friction = 0.5;
};

PileScene makePile(size_t boxes);

// What an engine is measured with.
class PileEngine {
 public:
  virtual ~PileEngine() = default;
  virtual void step() = 0;
  virtual std::vector<rigid::Pose> poses() const = 0;  // of the boxes
  virtual size_t contacts() const = 0;                 // of the last step
};

// nullptr where Bullet is not there. One thread, 10 iterations, no sleeping, dt = 1/60.
PileEngine* makeBulletPile(const PileScene& scene);

}  // namespace sunder::bench
