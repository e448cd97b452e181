// Tubes along curves: knots and ropes.
//
// The cross-section is carried along without rotation about the curve (rotation minimising frames by double
// reflection: Wang, Juettler, Zheng, Liu, ACM Trans. Graph. 27-1, 2008). On a closed curve the angle that is
// left over at the seam is spread evenly over the length. Open tubes end in half balls.
//
// A radius at which the smooth tube would meet itself is refused (Error, Usage): it may not exceed the
// curve's thickness, the smallest radius of the circles that touch the curve in one point and pass through
// another (Gonzalez and Maddocks, PNAS 96, 1999), estimated on the samples; so it is a check for mistakes,
// not a proof. Cost: linear, plus that check on at most 1024 samples.
#pragma once

#include "sunder/geometry/mesh.h"

#include <span>

namespace sunder::shapes {

// `path` without a repeated last point: at least 3 points when closed, else 2. `sides` >= 3.
geometry::TriMesh tube(std::span<const Vec3> path, bool closed, double radius, int sides);

// The estimate above, without the check's limit on samples: O(points^2).
double curveThickness(std::span<const Vec3> path, bool closed);

// On a torus around the y axis, p times around the axis and q times around the tube. p and q have no common
// divisor.
struct TorusKnotShape {
  int p = 2, q = 3;
  double radius = 0.5;  // of the torus
  double minor = 0.22;  // of its tube; less than radius
  double tube = 0.09;   // of the knot's own tube
  int steps = 40;       // per winding: the knot has steps * (p + q) rings
  int sides = 16;
};
geometry::TriMesh makeTorusKnot(const TorusKnotShape& = {});

// Closed curves in their usual form, flat in the plane (x, z): trefoil (sin t + 2 sin 2t, cos t - 2 cos 2t,
// -sin 3t) and figure-eight ((2 + cos 2t) cos 3t, (2 + cos 2t) sin 3t, sin 4t).
struct KnotShape {
  double radius = 0.5;  // the middle line's largest distance from the axis
  double tube = 0.06;
  int steps = 240;  // rings in all
  int sides = 16;
};
geometry::TriMesh makeTrefoil(const KnotShape& = {});
geometry::TriMesh makeFigureEightKnot(const KnotShape& = {});

// Strands wound around the x axis, each a closed piece with round ends. One strand makes a coil spring.
struct RopeShape {
  int strands = 3;
  double length = 1;
  double radius = 0.06;   // from the axis to the middle of a strand
  double strand = 0.039;  // radius of a strand
  double turns = 3;
  int steps = 32;  // per turn
  int sides = 16;
};
geometry::TriMesh makeRope(const RopeShape& = {});

}  // namespace sunder::shapes
