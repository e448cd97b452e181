// Dihedral angles of a tetrahedron.
#pragma once

#include "sunder/base/math.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace sunder::tet {

// Edge e joins kTetEdges[e][0] and [1]; its faces are the two that hold both.
inline constexpr std::array<std::array<uint8_t, 2>, 6> kTetEdges{
    {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};

// Cosines of the angles at the six edges, in the order of kTetEdges; a flat or repeated corner gives values
// that are not a number. The tetrahedron may be inverted.
inline std::array<double, 6> dihedralCosines(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const Vec3 u = b - a, v = c - a, w = d - a;
  const std::array<Vec3, 4> normals{(c - b).cross(d - b), w.cross(v), u.cross(w), v.cross(u)};
  std::array<double, 4> length;
  for (size_t i = 0; i < 4; ++i) length[i] = normals[i].norm();
  std::array<double, 6> cosines;
  for (size_t e = 0; e < 6; ++e) {
    // The two faces at an edge are opposite to the other two corners.
    const auto& other = kTetEdges[5 - e];
    cosines[e] = -normals[other[0]].dot(normals[other[1]]) / (length[other[0]] * length[other[1]]);
  }
  return cosines;
}

inline double degreesOf(double cosine) { return std::acos(std::clamp(cosine, -1.0, 1.0)) * (180 / kPi); }

// Smallest and largest cosine: the largest and the smallest angle.
inline std::pair<double, double> cosineRange(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const std::array<double, 6> cosines = dihedralCosines(a, b, c, d);
  return {*std::min_element(cosines.begin(), cosines.end()),
          *std::max_element(cosines.begin(), cosines.end())};
}

}  // namespace sunder::tet
