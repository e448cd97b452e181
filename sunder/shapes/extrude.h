// Flat outlines with holes given a depth. The outline lies in the plane (x, y), the solid reaches from z =
// -depth/2 to depth/2. The caps are triangulated without adding vertices (triangulate.h), so every cap corner
// is an outline corner.
#pragma once

#include "sunder/geometry/mesh.h"

#include <string>
#include <vector>

namespace sunder::shapes {

// Simple closed polygons, in either sense; holes lie inside `outer` and touch neither it nor each other.
struct Outline {
  std::vector<Vec2> outer;
  std::vector<std::vector<Vec2>> holes;
};

// Volume = area * depth, genus = number of holes. `layers` divide the depth. Throws Error (Geometry) for
// outlines that are not as said above, (Usage) for a depth that is not positive.
geometry::TriMesh extrude(const Outline& outline, double depth, int layers = 1);

// Named outlines: polygon (regular), star, gear (trapezoid teeth), l (an angle), arrow. Centred on the
// origin.
struct ExtrusionShape {
  std::string outline = "gear";
  int points = 12;      // corners, tips or teeth; l and arrow do not ask
  double radius = 0.5;  // of the circle around it; half the larger side for l and arrow
  double inner = 0.75;  // star: dents, gear: tooth roots, l and arrow: how slender; a fraction of radius
  double hole = 0.3;    // radius of a round hole, a fraction of radius, 0 for none; l and arrow have none
  double depth = 0.2;
  int layers = 1;
};
geometry::TriMesh makeExtrusion(const ExtrusionShape& = {});
Outline namedOutline(const ExtrusionShape& shape);

}  // namespace sunder::shapes
