// Boxes, and walls built of them.
#pragma once

#include "sunder/geometry/mesh.h"

namespace sunder::shapes {

// Centred on the origin; each face is a grid.
struct BoxShape {
  Vec3 size = Vec3::Ones();
  int nx = 1, ny = 1, nz = 1;  // cells along each axis
};
geometry::TriMesh makeBox(const BoxShape& = {});

// A running bond: every other row is shifted by half a brick and ends in half bricks. Bricks are separate
// closed pieces, row by row from the bottom, left to right, 12 triangles each or 44 with bevel. Base on y =
// 0, centred in x and z.
struct BrickWallShape {
  int columns = 8;  // whole bricks in an unshifted row
  int rows = 10;
  double length = 0.24;   // of a brick, along x
  double height = 0.071;  // y
  double depth = 0.115;   // z
  double gap = 0.01;      // the mortar's place, between bricks and between rows; 0 lets bricks touch
  double bevel = 0.004;   // cut off every edge at 45 degrees; 0 for none
};
geometry::TriMesh makeBrickWall(const BrickWallShape& = {});

}  // namespace sunder::shapes
