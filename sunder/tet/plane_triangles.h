// A simple polygon filled with triangles for simulation: those of Delaunay with all edges of the polygon kept
// and no point added to them. Inside, points are added half-way through walls, so that two layers of
// triangles share the bending, and at the middles of circles of triangles that are too large (Chew 1989,
// Ruppert 1995; unlike theirs the boundary is never split, so angles next to it are as good as its points
// allow).
//
// Guarantee: triangles are counter-clockwise by exact predicates and fill the polygon; every edge of the
// polygon is in one of them. Cost: about the square of the points.
#pragma once

#include "sunder/geometry/mesh.h"

#include <span>
#include <vector>

namespace sunder::tet {

struct PlaneTriangles {
  std::vector<Vec2> points;                   // the polygon's first, in its order, then those inside
  std::vector<geometry::Triangle> triangles;  // counter-clockwise
};

struct PlaneFillSettings {
  double edge = 0;                     // of triangles where there is room for it
  bool halfWay = true;                 // points in the middle of walls
  std::vector<uint8_t> notWalls = {};  // per corner of the polygon: its chords are no walls; empty: none
  size_t mostTriangles = 1'000'000;
};

// `polygon`: simple, counter-clockwise. Throws Error (Geometry) where it is not, Error (Usage) for an edge
// that is not positive, Error (Limit) for more triangles than allowed.
PlaneTriangles fillPolygon(std::span<const Vec2> polygon, const PlaneFillSettings& settings);

}  // namespace sunder::tet
