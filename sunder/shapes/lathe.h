// Solids of revolution about the y axis, and others whose cross-section is one outline that only changes its
// size.
//
// A profile is a closed polyline in (r, y), r >= 0, in either sense. Points with r = 0 become pole vertices
// and the stretch between two of them on the axis no surface at all; every other point becomes a ring. A
// profile may lie on the axis along several stretches (a hollow ball has two) but may not merely touch it in
// a point, which would pinch.
//
// Guarantee: the quads between rings are planar, so the volume is exactly  A sum (y1 - y0)(r0^2 + r0 r1 +
// r1^2) / 3 with A the area of the outline, n/2 sin(2 pi/n) for n segments. Cost: linear in the triangles,
// plus the square of the profile's length for the check that it does not cross itself.
#pragma once

#include "sunder/geometry/mesh.h"

#include <span>
#include <vector>

namespace sunder::shapes {

// What a body of revolution is made of: enough to draw its surface, and to fill it (tet/revolved_tets.h).
struct Loft {
  std::vector<Vec2> profile;  // counter-clockwise in (r, y), a simple polygon as above
  std::vector<Vec2> outline;  // for r = 1, counter-clockwise in (x, -z)
};

// Checks and turns both; throws what loft() below throws.
Loft makeLoft(std::span<const Vec2> profile, std::span<const Vec2> outline);
Loft makeLathe(std::span<const Vec2> profile, int segments);

// n segments around. Throws Error (Geometry) for a profile that crosses or touches itself, leaves r >= 0,
// repeats a point, pinches, or encloses nothing.
geometry::TriMesh lathe(std::span<const Vec2> profile, int segments);

// As above with any outline that is star-shaped around the origin, counter-clockwise in the plane (x, -z),
// for r = 1.
geometry::TriMesh loft(std::span<const Vec2> profile, std::span<const Vec2> outline);

struct UvSphereShape {
  double radius = 1;
  int segments = 32;  // around
  int rings = 16;     // from pole to pole
};
geometry::TriMesh makeUvSphere(const UvSphereShape& = {});
Loft loftOf(const UvSphereShape&);

struct CylinderShape {
  double radius = 0.5;
  double height = 1;
  int segments = 32;  // around
  int layers = 4;     // along the height
  int capRings = 2;   // from the rim to the middle of the caps
};
geometry::TriMesh makeCylinder(const CylinderShape& = {});
Loft loftOf(const CylinderShape&);

// A frustum where both radii are positive; one of them may be 0.
struct ConeShape {
  double radius = 0.5;  // at the bottom
  double topRadius = 0;
  double height = 1;
  int segments = 32;
  int layers = 8;
  int capRings = 2;
};
geometry::TriMesh makeCone(const ConeShape& = {});
Loft loftOf(const ConeShape&);

struct CapsuleShape {
  double radius = 0.25;
  double length = 0.5;  // between the centres of the two half balls
  int segments = 32;
  int rings = 8;   // of each half ball
  int layers = 4;  // of the straight part
};
geometry::TriMesh makeCapsule(const CapsuleShape& = {});
Loft loftOf(const CapsuleShape&);

struct TorusShape {
  double radius = 0.5;  // of the middle line
  double tube = 0.2;    // radius of the tube; less than `radius`
  int segments = 48;    // around the axis
  int sides = 24;       // around the tube
};
geometry::TriMesh makeTorus(const TorusShape& = {});
Loft loftOf(const TorusShape&);

// A thin slab that lies flat. corner = 0: a box; corner = width/2 = depth/2: a round disc; between: rounded
// corners.
struct PlateShape {
  double width = 1, depth = 1;  // along x and z
  double thickness = 0.02;      // along y
  double corner = 0;            // radius seen from above, at most half of width and depth
  int cornerSegments = 8;       // per rounded corner
  int edgeSegments = 8;         // per straight edge
  int rings = 6;                // from the rim to the middle
};
geometry::TriMesh makePlate(const PlateShape& = {});
Loft loftOf(const PlateShape&);

}  // namespace sunder::shapes
