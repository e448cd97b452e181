// How a rigid body turns. The angular momentum in the world is kept to rounding by every step; the
// orientation is advanced by the symmetric composition of turns about the principal axes (McLachlan 1993,
// Reich 1993), which keeps the energy within a bound that does not grow with time. Turns are made by the
// tangent of half the angle as a series: a unit quaternion by construction and the same bits with every
// mathematics library.
#pragma once

#include "sunder/base/math.h"

namespace sunder::rigid {

// R diag(d) R^T
Mat3 turnedDiagonal(const Quat& rotation, const Vec3& diagonal);

// Turns the body for `time`, which may be negative, at constant angular velocity.
void turnSteadily(Quat& rotation, const Vec3& angularVelocity, double time);

// A body without torque for `time`, which may be negative; `inertia` along its principal axes, `round` where
// all three are equal. Exact where two are: then the energy too is kept to rounding.
void turnFreely(Quat& rotation, Vec3& angularVelocity, const Vec3& inertia, bool round, double time);

}  // namespace sunder::rigid
