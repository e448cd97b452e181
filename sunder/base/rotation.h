// Rotations that Eigen finds by heavy templates, compiled once.
#pragma once

#include "sunder/base/math.h"

namespace sunder {

// The rotation that turns the direction `from` into the direction `to` by the smallest angle; about any axis
// across them where they are opposite. Eigen's, which brings a singular value decomposition along: two to
// five seconds of compile time wherever it is called.
Quat rotationBetween(const Vec3& from, const Vec3& to);

}  // namespace sunder
