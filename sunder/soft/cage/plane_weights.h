// What clipping and weights share: corners by ascending number, and weights in the plane of a triangle.
#pragma once

#include "sunder/base/math.h"

#include <array>
#include <cstdint>
#include <utility>

namespace sunder::soft {

// Sorts three numbers; returns 1 for an even and -1 for an odd number of exchanges.
inline int sortCorners(std::array<uint32_t, 3>& v) {
  int parity = 1;
  const auto exchange = [&](int a, int b) {
    if (v[a] <= v[b]) return;
    std::swap(v[a], v[b]);
    parity = -parity;
  };
  exchange(0, 1);
  exchange(1, 2);
  exchange(0, 1);
  return parity;
}

// Barycentric coordinates of a point in the plane of a triangle.
inline Vec3 weightsInPlane(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& p) {
  const Vec3 normal = (b - a).cross(c - a);
  const double squared = normal.squaredNorm();
  if (!(squared > 0)) return {1, 0, 0};
  const double wb = (p - a).cross(c - a).dot(normal) / squared;
  const double wc = (b - a).cross(p - a).dot(normal) / squared;
  return {1 - wb - wc, wb, wc};
}

}  // namespace sunder::soft
