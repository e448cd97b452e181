// Points that need more than a double has: where edges meet planes, and where three planes meet, as four
// exact integers x, y, z, w with the point at (x, y, z) / w on a grid that all input coordinates are on.
// Every test is decided by rounded positions where their error allows, and by the integers where not.
//
// Cost: some tens of nanoseconds where rounding decides, some microseconds where not; 5 kB a point.
#pragma once

#include "sunder/base/math.h"
#include "sunder/geometry/big_integer.h"

#include <span>

namespace sunder::cut {

struct ExactPoint {
  geometry::BigInteger x[3], w;  // w > 0
  Vec3 at;                       // rounded, to a few units of the last place
};

// The points p with n . p = d.
struct ExactPlane3 {
  geometry::BigInteger n[3], d;
};

class ExactGrid {
 public:
  // Throws Error (Limit) where coordinates span more digits than the tests can hold.
  ExactGrid(std::span<const Vec3> positions, const std::string& name);

  ExactPoint point(const Vec3& p) const;  // one of those given
  ExactPlane3 plane(const Vec3& a, const Vec3& b, const Vec3& c) const;
  // Through a and b, along an axis.
  ExactPlane3 wall(const Vec3& a, const Vec3& b, int axis) const;

  // Where the line through two points on different sides of a plane meets it.
  ExactPoint meet(const ExactPoint& p, const ExactPoint& q, const ExactPlane3& plane) const;
  // The centroid of three points.
  ExactPoint middle(const ExactPoint& a, const ExactPoint& b, const ExactPoint& c) const;

  int side(const ExactPlane3& plane, const ExactPoint& p) const;
  // Lexicographic: -1, 0, 1. In order along any line.
  int compare(const ExactPoint& p, const ExactPoint& q) const;
  int compare(const ExactPoint& p, const ExactPoint& q, int axis) const;
  // The turn of a, b, c seen against an axis.
  int turn(const ExactPoint& a, const ExactPoint& b, const ExactPoint& c, int axis) const;

 private:
  void round(ExactPoint& p) const;

  geometry::FixedPoint fixed_;
  double largest_ = 0;  // coordinate
};

}  // namespace sunder::cut
