// Geometric predicates whose sign is never wrong: orientation of three points in the plane and four in space,
// and the in-circle and in-sphere tests, for ALL finite doubles (denormals, 1e300 and mixtures included). The
// magnitude is the determinant's, approximately; zero means exactly zero. Changing the order of the points
// changes the sign exactly as in the determinant.
//
//   orient2d(a, b, c)          > 0  when a, b, c turn counter-clockwise
//   orient3d(a, b, c, d)       > 0  when (b-a) x (c-a) . (d-a) > 0: d is on the side that the normal of the
//                                   counter-clockwise triangle abc points to; same as a positive tetrahedron
//                                   in mesh.h
//   incircle(a, b, c, d)       > 0  when d is inside the circle of the counter-clockwise triangle abc
//   insphere(a, b, c, d, e)    > 0  when e is inside the sphere of the positive tetrahedron abcd
//
// Cost: a few nanoseconds where the points are in general position, some tens of nanoseconds nearby, a few
// hundred where the answer is zero. Stages, in the spirit of Shewchuk 1997 ("Adaptive precision
// floating-point arithmetic and fast robust geometric predicates"): (1) inline, plain doubles with an error
// bound from the largest differences (Devillers and Pion 2003, "Efficient exact geometric predicates for
// Delaunay triangulations"); (2) two-component expansions of the exact differences, again with a bound; (3)
// exact. We deviate in the last stage: instead of long expansions, whose components over- and underflow,
// integers on a common power of two.
#pragma once

#include "sunder/base/math.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sunder::geometry {

namespace detail {
double orient2dExact(const Vec2& a, const Vec2& b, const Vec2& c);
double orient3dExact(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);
double incircleExact(const Vec2& a, const Vec2& b, const Vec2& c, const Vec2& d);
double insphereExact(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d, const Vec3& e);

// First-stage bounds: half an ulp (u = 2^-53) times the longest chain of roundings times the number of terms,
// and one percent for the rounding of the bound itself. Terms: 2 of 4 roundings for orient2d (there relative
// to the terms, 3 u), 6 of 8 for orient3d, 6 of 11 for incircle, 24 of 17 for insphere.
inline constexpr double kOrient2dBound = 3.4e-16;
inline constexpr double kOrient3dBound = 5.4e-15;
inline constexpr double kIncircleBound = 7.5e-15;
inline constexpr double kInsphereBound = 4.6e-14;

// Outside these limits a product may have lost bits to underflow. Overflow anywhere ends in an infinite or
// undefined determinant, there is no division to bring it back.
inline constexpr double kSmallestProduct = 1e-290;
inline constexpr double kSmallestFactor = 1e-57;  // its fifth power times any bound is still a normal number
inline constexpr double kLargestFinite = std::numeric_limits<double>::max();

inline double largest(double a, double b, double c) {
  return std::max(std::max(std::abs(a), std::abs(b)), std::abs(c));
}
}  // namespace detail

inline double orient2d(const Vec2& a, const Vec2& b, const Vec2& c) {
  const double left = (b.x() - a.x()) * (c.y() - a.y());
  const double right = (b.y() - a.y()) * (c.x() - a.x());
  const double det = left - right;
  const double bound = detail::kOrient2dBound * (std::abs(left) + std::abs(right));
  if (std::abs(det) > bound && bound > detail::kSmallestProduct && std::abs(det) <= detail::kLargestFinite)
    return det;
  return detail::orient2dExact(a, b, c);
}

inline double orient3d(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const double bx = b.x() - a.x(), by = b.y() - a.y(), bz = b.z() - a.z();
  const double cx = c.x() - a.x(), cy = c.y() - a.y(), cz = c.z() - a.z();
  const double dx = d.x() - a.x(), dy = d.y() - a.y(), dz = d.z() - a.z();
  const double det = bx * (cy * dz - cz * dy) + cx * (dy * bz - dz * by) + dx * (by * cz - bz * cy);
  const double mx = detail::largest(bx, cx, dx);
  const double my = detail::largest(by, cy, dy);
  const double mz = detail::largest(bz, cz, dz);
  const double bound = mx * my * mz * detail::kOrient3dBound;
  if (std::abs(det) > bound && std::min(std::min(mx, my), mz) > detail::kSmallestFactor &&
      std::abs(det) <= detail::kLargestFinite) {
    return det;
  }
  return detail::orient3dExact(a, b, c, d);
}

inline double incircle(const Vec2& a, const Vec2& b, const Vec2& c, const Vec2& d) {
  const double ax = a.x() - d.x(), ay = a.y() - d.y();
  const double bx = b.x() - d.x(), by = b.y() - d.y();
  const double cx = c.x() - d.x(), cy = c.y() - d.y();
  const double det = (ax * ax + ay * ay) * (bx * cy - by * cx) + (bx * bx + by * by) * (cx * ay - cy * ax) +
                     (cx * cx + cy * cy) * (ax * by - ay * bx);
  const double mx = detail::largest(ax, bx, cx);
  const double my = detail::largest(ay, by, cy);
  const double bound = mx * my * (mx * mx + my * my) * detail::kIncircleBound;
  if (std::abs(det) > bound && std::min(mx, my) > detail::kSmallestFactor &&
      std::abs(det) <= detail::kLargestFinite) {
    return det;
  }
  return detail::incircleExact(a, b, c, d);
}

inline double insphere(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d, const Vec3& e) {
  const double ax = a.x() - e.x(), ay = a.y() - e.y(), az = a.z() - e.z();
  const double bx = b.x() - e.x(), by = b.y() - e.y(), bz = b.z() - e.z();
  const double cx = c.x() - e.x(), cy = c.y() - e.y(), cz = c.z() - e.z();
  const double dx = d.x() - e.x(), dy = d.y() - e.y(), dz = d.z() - e.z();
  const double ab = ax * by - bx * ay, bc = bx * cy - cx * by, cd = cx * dy - dx * cy;
  const double da = dx * ay - ax * dy, ac = ax * cy - cx * ay, bd = bx * dy - dx * by;
  const double abc = az * bc - bz * ac + cz * ab;
  const double bcd = bz * cd - cz * bd + dz * bc;
  const double cda = cz * da + dz * ac + az * cd;
  const double dab = dz * ab + az * bd + bz * da;
  const double det = ((ax * ax + ay * ay + az * az) * bcd - (dx * dx + dy * dy + dz * dz) * abc) +
                     ((cx * cx + cy * cy + cz * cz) * dab - (bx * bx + by * by + bz * bz) * cda);
  const double mx = std::max(detail::largest(ax, bx, cx), std::abs(dx));
  const double my = std::max(detail::largest(ay, by, cy), std::abs(dy));
  const double mz = std::max(detail::largest(az, bz, cz), std::abs(dz));
  const double bound = mx * my * mz * (mx * mx + my * my + mz * mz) * detail::kInsphereBound;
  if (std::abs(det) > bound && std::min(std::min(mx, my), mz) > detail::kSmallestFactor &&
      std::abs(det) <= detail::kLargestFinite) {
    return det;
  }
  return detail::insphereExact(a, b, c, d, e);
}

// -1, 0 or 1.
inline int sign(double value) { return (value > 0) - (value < 0); }

// The two coordinates that are left without `axis`, in the order that keeps triangles whose normal has a
// positive component along `axis` counter-clockwise.
inline Vec2 withoutAxis(const Vec3& p, int axis) { return {p[(axis + 1) % 3], p[(axis + 2) % 3]}; }

// orient2d after leaving out one axis: the exact sign of that component of (b-a) x (c-a).
inline double orient2d(const Vec3& a, const Vec3& b, const Vec3& c, int axis) {
  return orient2d(withoutAxis(a, axis), withoutAxis(b, axis), withoutAxis(c, axis));
}

// The axis along which the normal of abc has its largest component, as far as doubles tell; its component is
// nonzero for sure. -1 when the points are on one line.
int normalAxis(const Vec3& a, const Vec3& b, const Vec3& c);

// Exactly on one line (or fewer than three different points).
inline bool collinear(const Vec3& a, const Vec3& b, const Vec3& c) { return normalAxis(a, b, c) < 0; }

}  // namespace sunder::geometry
