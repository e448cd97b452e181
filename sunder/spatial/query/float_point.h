// Doubles next to floats: for whoever asks a tree of floats (oi_tree.h) about points in doubles.
//
// None of these compares a double with its own rounding to float: GCC 12 (seen with 12.2, -O2 and -O3), when
// it vectorises such code, takes (double)(float)x for x.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace sunder::spatial {

// x without the bits that a float has no room for: towards zero, exact as a float for |x| in float's range
// above 1.2e-38.
inline double floatPart(double x) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(x) & ~uint64_t(0x1fffffff));
}

// Floats not above and not below x, |x| < 1e38, at most two steps away.
inline float floatBelow(double x) {
  const float f = static_cast<float>(x);
  return f - (std::abs(f) * 0x1p-23f + std::numeric_limits<float>::denorm_min());
}
inline float floatAbove(double x) {
  const float f = static_cast<float>(x);
  return f + (std::abs(f) * 0x1p-23f + std::numeric_limits<float>::denorm_min());
}

// Overflow gives infinity.
inline float saturated(double x) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  return x < double(kLargest) ? x > -double(kLargest) ? static_cast<float>(x) : -kInfinite : kInfinite;
}

}  // namespace sunder::spatial
