// Planes as cutters: squares that reach through all of a mesh.
#pragma once

#include "sunder/geometry/mesh.h"

#include <string>

namespace sunder::cli {

struct Plane {
  Vec3 point, normal;
};

// "X,Y,Z,NX,NY,NZ", a point and a normal. Throws Error (Usage) that names the option.
Plane planeOf(const std::string& text, const char* option);

// How far a square around the plane's point must reach to pass through all of the mesh.
double reachOf(const Plane& plane, const geometry::PolygonSoup& mesh);

// A square of that half width, with the plane's normal.
geometry::PolygonSoup flatCutter(const Plane& plane, double reach);

}  // namespace sunder::cli
