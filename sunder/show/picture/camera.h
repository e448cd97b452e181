// A pinhole camera, and one that shows a box of things without being asked.
#pragma once

#include "sunder/base/box.h"
#include "sunder/base/math.h"

#include <string_view>

namespace sunder::show {

struct Camera {
  Vec3 eye{4, 3, 6};
  Vec3 target = Vec3::Zero();
  Vec3 up = Vec3::UnitY();
  double fieldOfView = 35;  // degrees, vertical
};

// Looks along `direction` at the box so that all eight corners are in the picture with a margin of a tenth.
// `aspect` is width over height. An empty box is taken for a unit cube about the origin.
Camera frameBox(const Box3& box, double aspect, const Vec3& direction = Vec3(-0.55, -0.38, -1),
                double fieldOfView = 35);

// "eye 4 3 6 target 0 1 0 fov 40", parts in any order, what is not said stays as in `start`. Throws Error
// (Usage) naming the word.
Camera parseCamera(std::string_view text, const Camera& start);

// Unit vectors of the picture's right, up and forward, scaled so that right and up reach to its borders at
// distance 1.
struct CameraFrame {
  Vec3 right, up, forward;
};
CameraFrame cameraFrame(const Camera& camera, double aspect);

}  // namespace sunder::show
