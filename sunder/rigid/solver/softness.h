// A constraint as a damped spring whose stiffness does not depend on the mass behind it, integrated
// implicitly so that any rate is stable (Catto, "Soft constraints", GDC 2011; Box2D v3).
#pragma once

#include "sunder/base/math.h"

namespace sunder::rigid {

struct Softness {
  double biasRate = 0;      // 1/s: speed of correction per error
  double massScale = 1;     // of the rigid impulse
  double impulseScale = 0;  // part of the accumulated impulse that is given back
};

inline Softness makeSoftness(double hertz, double dampingRatio, double timeStep) {
  const double omega = 2 * kPi * hertz;
  const double a1 = 2 * dampingRatio + timeStep * omega;
  const double a2 = timeStep * omega * a1;
  const double a3 = 1 / (1 + a2);
  return {omega / a1, a2 * a3, a3};
}

}  // namespace sunder::rigid
