// Loops of a wall to polygons with holes, and to triangles. Used by walls.h.
#pragma once

#include "sunder/geometry/mesh.h"

#include <span>
#include <vector>

namespace sunder::soft {

// Points of loops one after the other: outer loops, each followed by its holes.
struct FacePolygons {
  std::vector<Vec3> points;  // weights of the corners of the face
  std::vector<uint32_t> loopSizes;
  std::vector<geometry::Triangle> triangles;  // of points; every edge of a loop is in one, in its direction
  bool clean = true;                          // no triangle is turned over
};

// The loops are apart, up to rounding; outer ones counter-clockwise, holes clockwise.
FacePolygons facePolygons(std::span<const std::vector<Vec3>> loops);

}  // namespace sunder::soft
