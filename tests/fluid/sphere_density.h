// Boundary density of a ball, up to an integral in one dimension (specification 10, E.2).
#pragma once

#include "sunder/fluid/kernel.h"

#include <algorithm>
#include <cmath>

namespace sunder::fluid {

// `distance` from the centre, positive.
inline double sphereDensity(double radius, double support, double offset, double distance) {
  const CubicKernel kernel(support);
  const double end = radius + (1 - offset) * support;  // where the profile is zero
  const auto inner = [&](double u) {
    return (1 - offset + radius / support) * u * u / 2 - u * u * u / (3 * support);
  };
  double sum = 0;
  constexpr int kSteps = 2000;  // midpoint rule; an even number respects the kernel's knot
  for (int i = 0; i < kSteps; ++i) {
    const double s = (i + 0.5) * support / kSteps;
    const double near = std::abs(distance - s);
    if (near >= end) continue;
    const double shell = inner(std::min(distance + s, end)) - inner(near);
    sum += 4 * kPi * s * s * kernel.value(s) * shell / (2 * distance * s) * support / kSteps;
  }
  return sum;
}

}  // namespace sunder::fluid
