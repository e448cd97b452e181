// The cubic spline kernel in one, two and three dimensions (Monaghan 1992), by its support radius r, beyond
// which it is zero:
//
//   W(q) = 2 sigma [(1-q)^3 - 4 (1/2-q)^3],  both brackets from zero up,  q = |x| / r
//
// with sigma such that the integral is one. Gradients are x times a factor that has a limit at q = 0.
#pragma once

#include "sunder/base/math.h"

#include <algorithm>
#include <cmath>

namespace sunder::fluid {

struct CubicKernel {
  double support = 1;
  double sigma = 8 / kPi;  // in three dimensions

  explicit CubicKernel(double r, int dimensions = 3)
      : support(r),
        sigma(dimensions == 3   ? 8 / (kPi * r * r * r)
              : dimensions == 2 ? 40 / (7 * kPi * r * r)
                                : 4 / (3 * r)) {}

  double value(double distance) const {
    const double q = distance / support, u = std::max(1 - q, 0.0), w = std::max(0.5 - q, 0.0);
    return 2 * sigma * (u * u * u - 4 * w * w * w);
  }
  // The gradient with respect to x is this times x.
  double gradientFactor(double distance) const {
    const double q = distance / support;
    if (q <= 0.5) return 6 * sigma * (3 * q - 2) / (support * support);
    const double u = std::max(1 - q, 0.0);
    return -6 * sigma * u * u / (support * support * q);
  }
};

}  // namespace sunder::fluid
